/* SPDX-License-Identifier: MIT */
/* text.c - write untrusted strings as JSON and HTML text */
#include "text.h"

#include <string.h>

static void put_byte(FILE *out, unsigned char c, const char *backslash)
{
	if (c >= ' ' && c <= '~')
		fputc(c, out);
	else
		fprintf(out, "%sx%02x", backslash, c);
}

void text_put_json(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		if (strchr("<>&'", *text))
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			put_byte(out, (unsigned char)*text, "\\\\");
	fputc('"', out);
}

void text_put_html(FILE *out, const char *text)
{
	for (; *text; text++)
		if (strchr("<>&'\"", *text))
			fprintf(out, "&#%d;", *text);
		else
			put_byte(out, (unsigned char)*text, "\\");
}
