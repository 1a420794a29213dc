/* SPDX-License-Identifier: MIT */
/* hello.h - a session without libquoit, which serves only clients of root's or their own quoitd */
#ifndef TESTS_HELLO_H
#define TESTS_HELLO_H

#include <stdint.h>

/* Open one whose client says this of its CPU (ctl.h).  Its socket, which is the session; -errno. */
int hello_say(const char *socket, uint32_t cpu_hint);

#endif
