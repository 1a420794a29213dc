/* SPDX-License-Identifier: MIT */
/* columns_sum.c - the figure of a column in several sessions together */
#include <stdio.h>
#include <string.h>

#include "columns.h"

enum together { SUM, LARGEST, SAME, OF_PROCESSES };

static enum together kind_of(enum column column)
{
	switch (column) {
	case COLUMN_OF_SQ_MOST:
	case COLUMN_OF_CQ_MOST:
	case COLUMN_OF_BUSY: /* of the time: all together were busy for at least this part */
	case COLUMN_OF_STALLED:
		return LARGEST;
	case COLUMN_OF_PEAK: /* the sessions had their peaks at different times */
		return SAME;
	case COLUMN_OF_RSS:
	case COLUMN_OF_PSS:
	case COLUMN_OF_MINOR:
	case COLUMN_OF_MAJOR:
		return OF_PROCESSES;
	default:
		return columns_counter(column) < QUOIT_SESSION_NR ? SUM : SAME;
	}
}

/* Is this row the first of its process among these? */
static bool is_first(const struct session_row *rows, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (rows[k].s.pid == rows[i].s.pid)
			return false;
	return true;
}

static void add(struct figure *sum, const struct figure *one)
{
	sum->known |= one->known;
	sum->count += one->known ? one->count : 0;
	sum->real += one->known ? one->real : 0;
}

static bool is_same(const struct figure *a, const struct figure *b)
{
	return a->known && b->known && a->count == b->count && !(a->real < b->real) &&
	       !(a->real > b->real) && !strcmp(a->text, b->text);
}

/* The state of the busiest session. */
static void set_state(const struct session_row *rows, size_t count, struct figure *ret)
{
	static const char *const states[] = {"running", "serving", "queued", "idle", "closed"};
	size_t least = sizeof states / sizeof states[0];
	struct figure f;

	for (size_t i = 0; i < count; i++) {
		columns_figure(&rows[i], COLUMN_OF_STATE, &f);
		for (size_t k = 0; f.known && k < least; k++)
			if (!strcmp(f.text, states[k]))
				least = k;
	}
	ret->known = least < sizeof states / sizeof states[0];
	if (ret->known)
		snprintf(ret->text, sizeof ret->text, "%s", states[least]);
}

void columns_sum(const struct session_row *rows, size_t count, enum column column,
		 struct figure *ret)
{
	enum together kind = kind_of(column);
	struct figure f;

	*ret = (struct figure){0};
	if (column == COLUMN_OF_STATE) {
		set_state(rows, count, ret);
		return;
	}
	if (column == COLUMN_OF_COMMAND && count > 1) {
		ret->known = true;
		snprintf(ret->text, sizeof ret->text, "%zu sessions", count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		columns_figure(&rows[i], column, &f);
		if (kind == SUM || (kind == OF_PROCESSES && is_first(rows, i)))
			add(ret, &f);
		else if (kind == LARGEST && columns_compare(&f, ret, column) > 0)
			*ret = f;
		else if (kind == SAME && !i)
			*ret = f;
		else if (kind == SAME && !is_same(&f, ret))
			ret->known = false;
	}
}
