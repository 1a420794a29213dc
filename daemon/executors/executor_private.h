/* SPDX-License-Identifier: MIT */
/*
 * executor_private.h - what the files behind executor.h share: executor.c (its lives),
 * executor_end.c, executor_hello.c and executor_text.c.
 */
#ifndef QUOITD_EXECUTOR_PRIVATE_H
#define QUOITD_EXECUTOR_PRIVATE_H

#include "executor.h"
#include "host/log.h"

#define EXECUTOR_LOST_NS UINT64_C(10000000000) /* a lost one is tried again so often */

/* Its ports pass to the reactors, or do not any more. */
void executor_set_ports(struct executor *x, uint32_t state);
void executor_close_ports(struct executor *x);

/* Kill it before anybody else does; its end will be seen. */
void executor_kill(struct executor *x, enum exec_kill why);

/* It could not be started. */
void executor_start_failed(struct executor *x, int err);

/* Has it ended, or should it have? */
void executor_look_for_end(struct executor *x);

/* The reactors have let go of it. */
void executor_bury(struct executor *x);

/* Take over what a new process says of itself; -errno, with the reason: it cannot be used. */
int executor_accept_hello(struct executor *x, const struct quoit_exec_hello *hello);

/* Make its name for the log. */
void executor_make_name(struct executor *x);

/* Say something of it; of a user's own, as often as lines about that user may be. */
void executor_log(const struct executor *x, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* How its process ended, and why if that was our doing. */
void executor_say_end(const struct executor *x, char *text, size_t size);

/* For executor_reason. */
void executor_keep_reason(struct executor *x, const char *why);

/* This process cannot be used: keep the reason, and say so where no other is tried. */
void executor_say_refused(struct executor *x, const char *why);

#endif
