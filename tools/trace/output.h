/* SPDX-License-Identifier: MIT */
/* output.h - make something else of a recording, in a file or on standard output */
#ifndef QUOIT_TOOLS_TRACE_OUTPUT_H
#define QUOIT_TOOLS_TRACE_OUTPUT_H

#include <stdio.h>

#include "trace/recording.h"

typedef int output_fn(struct trace_reader *r, struct recording *rec, FILE *out);

/*
 * Read the recording at `from`, say on stderr what is missing in it, and have `write` make of it
 * what is to be at `to` (NULL, "-": standard output): a file that is there only when it is whole.
 * The exit status of "quoit <command>".
 */
int output_write(const char *command, const char *from, const char *to, output_fn *write);

#endif
