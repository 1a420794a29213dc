/* SPDX-License-Identifier: MIT */
/* output.h - convert a recording into a file or to standard output */
#ifndef QUOIT_TOOLS_TRACE_OUTPUT_H
#define QUOIT_TOOLS_TRACE_OUTPUT_H

#include <stdio.h>

#include "recording.h"

typedef int output_fn(struct trace_reader *r, struct recording *rec, FILE *out);

/*
 * Read the recording at `from`, say on stderr what is missing in it, and let `write` convert it.
 * `to`: the output file, which appears only when it is whole; NULL or "-": standard output.
 * Returns the exit status of "quoit <command>".
 */
int output_write(const char *command, const char *from, const char *to, output_fn *write);

#endif
