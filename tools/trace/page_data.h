/* SPDX-License-Identifier: MIT */
/* page_data.h - write the data of a recording's page */
#ifndef QUOIT_TOOLS_TRACE_PAGE_DATA_H
#define QUOIT_TOOLS_TRACE_PAGE_DATA_H

#include <stdio.h>

#include "summary.h"

/*
 * Write the data as one JSON object.  s: the summary of `rec`.  0, -ENOMEM or the reader's error:
 * the object is whole also then, but jobs or waits are missing.
 */
int page_data_write(struct trace_reader *r, struct recording *rec, const struct summary *s,
		    FILE *out);

#endif
