/* SPDX-License-Identifier: MIT */
/* tool.h - the quoit command, run as a user runs it */
#ifndef TESTS_TOOL_H
#define TESTS_TOOL_H

#include <stddef.h>

/* Where it lies: $QUOIT_BUILD, "build" by default. */
const char *tool_folder(void);

/*
 * Run `quoit` with these arguments by the shell.  Its exit status (-1: a signal ended it), and
 * what it says, on stdout and stderr, in `ret_said`.
 */
int tool_run(char *ret_said, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Run `quoit` with these words (ended by NULL, the first is "quoit"), with something done in the
 * new process before it becomes that.  As tool_run; it and what it leaves behind are ended after a
 * minute, which is -1.
 */
typedef void tool_prepare_fn(void);
int tool_run_prepared(char *ret_said, size_t size, tool_prepare_fn *prepare,
		      const char *const *words);

#endif
