/* SPDX-License-Identifier: MIT */
/*
 * page.c - write a recording as one page that needs no other file.
 *
 * tools/report/page.html has the places: {{title}}, {{style}}, {{data}}, {{script}}.  The data are
 * JSON in an element that is not a script; report.js draws them.  Text of the recording never
 * becomes HTML: text.h escapes it, and the script uses it only as text.
 */
#include "page.h"

#include <string.h>

#include "page_data.h"
#include "parts.h"
#include "text.h"

struct page {
	FILE *out;
	struct trace_reader *reader;
	struct recording *rec;
	const struct summary *summary;
	int err;
};

static void put_title(struct page *p)
{
	text_put_html(p->out, *p->rec->header.command ? p->rec->header.command : "recording");
}

static void put_part(struct page *p, const char *name, size_t length)
{
	if (!strncmp(name, "title", length))
		put_title(p);
	else if (!strncmp(name, "style", length))
		fputs(report_part_style, p->out);
	else if (!strncmp(name, "data", length))
		p->err = page_data_write(p->reader, p->rec, p->summary, p->out);
	else if (!strncmp(name, "script", length))
		fputs(report_part_script, p->out);
}

static void put_page(struct page *p)
{
	const char *at = report_part_page, *begin, *end;

	while ((begin = strstr(at, "{{")) && (end = strstr(begin, "}}"))) {
		fwrite(at, 1, (size_t)(begin - at), p->out);
		put_part(p, begin + 2, (size_t)(end - begin - 2));
		at = end + 2;
	}
	fputs(at, p->out);
}

int page_write(struct trace_reader *r, struct recording *rec, FILE *out)
{
	struct summary summary;
	struct page p = {.out = out, .reader = r, .rec = rec, .summary = &summary};

	p.err = summary_make(&summary, r, rec);
	if (!p.err)
		put_page(&p);
	summary_free(&summary);
	return p.err;
}
