/* SPDX-License-Identifier: MIT */
/* tool.h - run the quoit command as a user does */
#ifndef TESTS_TOOL_H
#define TESTS_TOOL_H

#include <stddef.h>

/* Its folder: $QUOIT_BUILD, "build" by default. */
const char *tool_folder(void);

/*
 * Run `quoit` with these arguments by the shell.  Returns its exit status (-1: a signal ended it),
 * and its output on stdout and stderr in `ret_said`.
 */
int tool_run(char *ret_said, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Run `quoit` with these words (ended by NULL, the first is "quoit"), and call a function in the
 * new process before.  Like tool_run; after a minute the process and its children are killed, and
 * the result is -1.
 */
typedef void tool_prepare_fn(void);
int tool_run_prepared(char *ret_said, size_t size, tool_prepare_fn *prepare,
		      const char *const *words);

#endif
