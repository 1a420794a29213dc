/* SPDX-License-Identifier: MIT */
/* chrome.h - a recording as JSON of Chrome's trace event format, which Perfetto reads */
#ifndef QUOIT_TOOLS_TRACE_CHROME_H
#define QUOIT_TOOLS_TRACE_CHROME_H

#include <stdio.h>

#include "trace/recording.h"

/*
 * Write it, event by event.  0, -ENOMEM or the reader's error; whether `out` took it all, the
 * caller finds out.
 */
int chrome_write(struct trace_reader *r, struct recording *rec, FILE *out);

#endif
