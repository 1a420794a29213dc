/* SPDX-License-Identifier: MIT */
/* peer_python.h - time NumPy and PyTorch, if they are installed */
#ifndef PEER_PYTHON_H
#define PEER_PYTHON_H

/*
 * Let a library do one kind of work on one CPU, in one thread, and print the figures as JSON: "add"
 * {"ns"} for y = x + 1 on a 1x2 float32; "normal" {"mrate"}, millions of standard normal float32
 * per second.  0; -EINVAL: another kind; -ENOTSUP: the library is not installed; -errno.
 */
int peer_python_run(const char *library, const char *work, int cpu);

#endif
