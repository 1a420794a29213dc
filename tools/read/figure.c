/* SPDX-License-Identifier: MIT */
/* figure.c - a figure of a table: its kind, its text and its value in JSON */
#include "figure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

bool figure_is_real(enum column_kind kind)
{
	switch (kind) {
	case COLUMN_PERCENT:
	case COLUMN_SHARE:
	case COLUMN_MEAN:
	case COLUMN_RATE:
	case COLUMN_FLOW:
	case COLUMN_SPAN:
		return true;
	default:
		return false;
	}
}

int figure_compare(const struct figure *a, const struct figure *b, enum column_kind kind)
{
	if (!a->known || !b->known)
		return a->known - b->known;
	if (kind == COLUMN_TEXT)
		return strcmp(a->text, b->text);
	if (figure_is_real(kind))
		return (a->real > b->real) - (a->real < b->real);
	return (a->count > b->count) - (a->count < b->count);
}

/* ---- text ---- */

/* The time as ps shows it: the hour if it was today, else the day. */
static void clock_text(uint64_t boot_ns, uint64_t now_ns, char *ret, size_t size)
{
	time_t now = time(NULL), then = now - (time_t)((now_ns - boot_ns) / 1000000000u);
	struct tm today, day;

	localtime_r(&now, &today);
	localtime_r(&then, &day);
	if (today.tm_yday == day.tm_yday && today.tm_year == day.tm_year)
		strftime(ret, size, "%H:%M", &day);
	else
		strftime(ret, size, today.tm_year == day.tm_year ? "%b%d" : "%Y", &day);
}

void figure_text(const struct figure *f, enum column_kind kind, uint64_t now_ns, char *ret,
		 size_t size)
{
	if (!f->known) {
		snprintf(ret, size, "-");
		return;
	}
	switch (kind) {
	case COLUMN_TEXT:
		snprintf(ret, size, "%s", f->text);
		break;
	case COLUMN_COUNT:
		snprintf(ret, size, "%" PRIu64, f->count);
		break;
	case COLUMN_BYTES:
		format_bytes(f->count, ret, size);
		break;
	case COLUMN_FLOW:
		format_flow(f->real, ret, size);
		break;
	case COLUMN_PERCENT:
	case COLUMN_SHARE:
		snprintf(ret, size, "%.1f", f->real);
		break;
	case COLUMN_MEAN:
	case COLUMN_RATE:
		snprintf(ret, size, f->real < 99.95 ? "%.1f" : "%.0f", f->real);
		break;
	case COLUMN_TICKS:
	case COLUMN_TIME:
		format_time(f->count, ret, size);
		break;
	case COLUMN_SPAN:
		format_span(f->real, ret, size);
		break;
	case COLUMN_CLOCK:
		clock_text(f->count, now_ns, ret, size);
		break;
	}
}

/* ---- JSON ---- */

json_t *figure_json(const struct figure *f, enum column_kind kind)
{
	if (!f->known)
		return json_null();
	switch (kind) {
	case COLUMN_TEXT:
		return json_string(f->text);
	case COLUMN_TICKS:
	case COLUMN_TIME:
		return json_real((double)f->count / 1e9);
	case COLUMN_CLOCK:
		return format_json_time(f->count);
	default:
		return figure_is_real(kind) ? json_real(f->real)
					    : json_integer((json_int_t)f->count);
	}
}

/* A short unit in the key, a '%' before it or a '/s' behind it, is replaced by the full one. */
void figure_json_key(const char *key, enum column_kind kind, char *ret, size_t size)
{
	static const char *const units[] = {
		[COLUMN_BYTES] = "_bytes",    [COLUMN_PERCENT] = "_percent",
		[COLUMN_SHARE] = "_percent",  [COLUMN_RATE] = "_per_second",
		[COLUMN_TICKS] = "_seconds",  [COLUMN_TIME] = "_seconds",
		[COLUMN_SPAN] = "_seconds",   [COLUMN_CLOCK] = "_time_seconds",
		[COLUMN_FLOW] = "_per_second"};
	const char *unit = kind < sizeof units / sizeof units[0] ? units[kind] : NULL;

	key += *key == '%';
	snprintf(ret, size, "%.*s%s", (int)strcspn(key, "/"), key, unit ? unit : "");
	for (; *ret; ret++)
		if (*ret == '-')
			*ret = '_';
}
