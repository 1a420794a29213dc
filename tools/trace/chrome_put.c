/* SPDX-License-Identifier: MIT */
/* chrome_put.c - write an event of Chrome's trace event format, and names of tracks */
#include <inttypes.h>

#include "chrome_private.h"
#include "text.h"

/* ---- an event's head ---- */

void chrome_put_time(FILE *out, const char *key, int64_t ns)
{
	ns = ns < 0 ? 0 : ns;
	fprintf(out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

void chrome_begin(struct chrome *c, char ph, unsigned process, unsigned track)
{
	fprintf(c->out, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u", c->first ? "" : ",", ph,
		process, track);
	c->first = false;
}

void chrome_put_name(struct chrome *c, const char *name)
{
	fputs(",\"name\":", c->out);
	text_put_json(c->out, name);
}

void chrome_end(struct chrome *c)
{
	fputc('}', c->out);
}

/* ---- names of tracks ---- */

void chrome_name_one(struct chrome *c, const char *what, unsigned process, unsigned track,
		     const char *name)
{
	chrome_begin(c, 'M', process, track);
	chrome_put_name(c, what);
	fputs(",\"args\":{\"name\":", c->out);
	text_put_json(c->out, name);
	fputc('}', c->out);
	chrome_end(c);
}

void chrome_order_one(struct chrome *c, const char *what, unsigned process, unsigned track,
		      unsigned index)
{
	chrome_begin(c, 'M', process, track);
	chrome_put_name(c, what);
	fprintf(c->out, ",\"args\":{\"sort_index\":%u}", index);
	chrome_end(c);
}

void chrome_name_track(struct chrome *c, bool *named, unsigned process, unsigned track,
		       unsigned index, const char *name)
{
	if (*named)
		return;
	*named = true;
	chrome_name_one(c, "thread_name", process, track, name);
	chrome_order_one(c, "thread_sort_index", process, track, index);
}

/* ---- slices ---- */

void chrome_begin_slice(struct chrome *c, unsigned process, unsigned track, int64_t from,
			int64_t to, const char *name)
{
	from = from < 0 ? 0 : from;
	chrome_begin(c, 'X', process, track);
	chrome_put_time(c->out, "ts", from);
	chrome_put_time(c->out, "dur", to > from ? to - from : 1);
	chrome_put_name(c, name);
}
