/* SPDX-License-Identifier: MIT */
/* messages.h - messages from one process to another one by a pipe or by a POSIX message queue */
#ifndef BENCH_MESSAGES_H
#define BENCH_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

/* The time of a message.  Machines and kernels differ in which of the two is shorter. */
struct messages_times {
	double together_ns; /* both processes on the second CPU */
	double apart_ns;    /* the sender on the first one */
};

/* A process sends so many messages of `size` bytes to another one, through a pipe.  0 or -errno. */
int messages_by_pipe(const int cpu[2], size_t size, uint64_t count, struct messages_times *ret);

/* The same by mq_send.  -ENOTSUP: the kernel has no message queues, or none with such messages. */
int messages_by_mq(const int cpu[2], size_t size, uint64_t count, struct messages_times *ret);

#endif
