/* SPDX-License-Identifier: MIT */
/* chrome.h - write a recording as JSON in Chrome's trace event format, which Perfetto reads */
#ifndef QUOIT_TOOLS_TRACE_CHROME_H
#define QUOIT_TOOLS_TRACE_CHROME_H

#include <stdio.h>

#include "recording.h"

/*
 * Write it, event by event.  0, -ENOMEM or the reader's error; the caller checks `out` for errors.
 */
int chrome_write(struct trace_reader *r, struct recording *rec, FILE *out);

#endif
