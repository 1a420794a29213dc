/* SPDX-License-Identifier: MIT */
/* page.h - write a recording as one page that needs no other file */
#ifndef QUOIT_TOOLS_TRACE_PAGE_H
#define QUOIT_TOOLS_TRACE_PAGE_H

#include <stdio.h>

#include "recording.h"

/* 0, -ENOMEM or the reader's error; the caller checks `out` for errors. */
int page_write(struct trace_reader *r, struct recording *rec, FILE *out);

#endif
