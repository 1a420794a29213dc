/* SPDX-License-Identifier: MIT */
/*
 * executor_private.h - what the files behind executor.h share: executor.c, executor_end.c,
 * executor_hello.c and executor_text.c.
 */
#ifndef QUOITD_EXECUTOR_PRIVATE_H
#define QUOITD_EXECUTOR_PRIVATE_H

#include "base/log.h"
#include "executor.h"

#define EXECUTOR_LOST_NS UINT64_C(10000000000) /* how often a lost executor is tried again */

/* Set the state of all its ports, and ring the reactors; close its ports' sockets. */
void executor_set_ports(struct executor *x, uint32_t state);
void executor_close_ports(struct executor *x);

/* Kill its process for this reason; executor_look_for_end sees the end. */
void executor_kill(struct executor *x, enum exec_kill why);

/* Its process could not be started, for this -errno. */
void executor_start_failed(struct executor *x, int err);

/* See whether its process has ended, or should have. */
void executor_look_for_end(struct executor *x);

/* The reactors have let go of its process: free it, or give it up. */
void executor_reap(struct executor *x);

/* Take a new process's hello; -errno: the process cannot be used, and the reason is kept. */
int executor_accept_hello(struct executor *x, const struct quoit_exec_hello *hello);

/* Make its name for the log. */
void executor_make_name(struct executor *x);

/* Log a line about it; about a users' own, within the limit for lines about its user. */
void executor_log(const struct executor *x, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Write how its process ended, and why if quoitd killed it. */
void executor_say_end(const struct executor *x, char *text, size_t size);

/* Keep this reason for executor_reason. */
void executor_keep_reason(struct executor *x, const char *why);

/* Its process cannot be used: keep the reason, and log it if no other process is tried. */
void executor_say_refused(struct executor *x, const char *why);

#endif
