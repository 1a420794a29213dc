/* SPDX-License-Identifier: MIT */
/* text.h - write untrusted strings as JSON and HTML text */
#ifndef QUOIT_TOOLS_TRACE_TEXT_H
#define QUOIT_TOOLS_TRACE_TEXT_H

#include <stdio.h>

/*
 * Write any bytes as a JSON string in ASCII; unprintable ones appear as \xNN, as in all tools.  `<`
 * and `&` are escaped, so that the string cannot end an HTML element that contains it.
 */
void text_put_json(FILE *out, const char *text);

/* Write the same for the text of an HTML element. */
void text_put_html(FILE *out, const char *text);

#endif
