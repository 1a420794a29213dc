/* SPDX-License-Identifier: MIT */
/* page.h - a recording as one page that needs nothing else */
#ifndef QUOIT_TOOLS_TRACE_PAGE_H
#define QUOIT_TOOLS_TRACE_PAGE_H

#include <stdio.h>

#include "trace/recording.h"

/* 0, -ENOMEM or the reader's error; whether `out` took it all, the caller finds out. */
int page_write(struct trace_reader *r, struct recording *rec, FILE *out);

#endif
