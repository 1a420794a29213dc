/* SPDX-License-Identifier: MIT */
/*
 * executor_private.h - what the files behind executor.h share: executor.c (its lives),
 * executor_hello.c and executor_text.c.
 */
#ifndef QUOITD_EXECUTOR_PRIVATE_H
#define QUOITD_EXECUTOR_PRIVATE_H

#include "executor.h"

/* Take over what a new process says of itself; -errno, after a line: it cannot be used. */
int executor_accept_hello(struct executor *x, const struct quoit_exec_hello *hello);

/* "module", "device" and the like. */
const char *executor_kind(const struct executor *x);

/* How its process ended, and why if that was our doing. */
void executor_say_end(const struct executor *x, char *text, size_t size);

/* It is left out: say so, and keep the reason. */
void executor_say_refused(struct executor *x, const char *why);

#endif
