/* SPDX-License-Identifier: MIT */
/* view_order.c - choose and sort the sessions that are shown, and make their lines */
#include <stdlib.h>

#include "view_private.h"

/* ---- users ---- */

/* Adjacent rows of one user. */
struct group {
	uint32_t uid;
	size_t first, count;
	struct figure figure; /* users are sorted by this */
};

struct order {
	const struct view_options *o;
	struct group *list;
	size_t count;
};

static int by_uid(const void *a, const void *b)
{
	const struct session_row *x = a, *y = b;

	if (x->s.uid != y->s.uid)
		return x->s.uid < y->s.uid ? -1 : 1;
	return 0;
}

static int by_figure(const void *a, const void *b, void *arg)
{
	const struct group *x = a, *y = b;
	const struct view_options *o = arg;
	int order = columns_compare(&x->figure, &y->figure, o->sorted_by);

	order = o->ascending ? order : -order;
	return order ? order : (x->uid > y->uid) - (x->uid < y->uid);
}

/* Sort the rows by user, and note where each user's rows are; false: out of memory. */
static bool find_groups(const struct view_options *o, struct follow *f, struct order *ret)
{
	*ret = (struct order){.o = o, .list = calloc(f->shown ? f->shown : 1, sizeof *ret->list)};
	if (!ret->list)
		return false;
	qsort(f->rows, f->shown, sizeof *f->rows, by_uid);
	for (size_t i = 0; i < f->shown; i++) {
		if (!i || f->rows[i].s.uid != f->rows[i - 1].s.uid)
			ret->list[ret->count++] =
				(struct group){.uid = f->rows[i].s.uid, .first = i};
		ret->list[ret->count - 1].count++;
	}
	for (size_t i = 0; i < ret->count; i++)
		columns_sum(&f->rows[ret->list[i].first], ret->list[i].count, o->sorted_by,
			    &ret->list[i].figure);
	qsort_r(ret->list, ret->count, sizeof *ret->list, by_figure, (void *)(size_t)o);
	return true;
}

/* ---- lines ---- */

static bool make_room(struct follow *f, size_t lines)
{
	void *list;

	if (lines <= f->line_room)
		return true;
	list = realloc(f->lines, lines * sizeof *f->lines);
	if (!list)
		return false;
	f->lines = list;
	f->line_room = lines;
	return true;
}

static void add_sessions(struct follow *f, size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++)
		f->lines[f->line_count++] =
			(struct table_line){f->rows[i].s.session, i, 1, i + 1 == first + count};
}

static void add_groups(const struct view_options *o, struct follow *f,
		       const struct column_choices *by)
{
	struct order order;

	if (!find_groups(o, f, &order))
		return;
	for (size_t i = 0; i < order.count; i++) {
		const struct group *g = &order.list[i];

		f->lines[f->line_count++] =
			(struct table_line){FOLLOW_USER | g->uid, g->first, g->count, false};
		columns_sort(by, &f->rows[g->first], g->count);
		if (o->groups == VIEW_TREE)
			add_sessions(f, g->first, g->count);
	}
	free(order.list);
}

void view_sort(const struct view_options *o, struct follow *f)
{
	struct column_choices by = {.count = 1};
	size_t kept = 0;

	by.list[0] = (struct column_choice){.column = o->sorted_by, .descending = !o->ascending};
	for (size_t i = 0; i < f->row_count; i++)
		if (!o->only_uid || f->rows[i].s.uid == o->uid) {
			struct session_row wanted = f->rows[i];

			f->rows[i] = f->rows[kept];
			f->rows[kept++] = wanted;
		}
	f->shown = kept;
	f->line_count = 0;
	if (!make_room(f, 2 * kept))
		return;
	if (o->groups) {
		add_groups(o, f, &by);
	} else {
		columns_sort(&by, f->rows, kept);
		add_sessions(f, 0, kept);
	}
}
