/* SPDX-License-Identifier: MIT */
/* text.h - strings of strangers in JSON, also where it stands in a page */
#ifndef QUOIT_TOOLS_TRACE_TEXT_H
#define QUOIT_TOOLS_TRACE_TEXT_H

#include <stdio.h>

/*
 * A JSON string of any bytes, in ASCII: what is not printable as \xNN, as all tools show it.  `<`
 * and `&` are escaped, so that nothing in it can end the element that it stands in.
 */
void text_put_json(FILE *out, const char *text);

/* The same for the text of an HTML element. */
void text_put_html(FILE *out, const char *text);

#endif
