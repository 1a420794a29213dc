/* SPDX-License-Identifier: MIT */
/* extent.c - runs of bytes that repeat at fixed steps */
#include "extent.h"

#include <stdlib.h>

#include "ops/ops.h"

/* The dims that lead to other bytes, sorted by the length of their steps. */
static unsigned sort_dims(const struct view *v, unsigned order[QUOIT_MAX_DIMS])
{
	unsigned n = 0;

	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
		unsigned i;

		if (v->dim[d] <= 1 || !v->stride[d])
			continue;
		for (i = n++; i > 0 && labs(v->stride[order[i - 1]]) > labs(v->stride[d]); i--)
			order[i] = order[i - 1];
		order[i] = d;
	}
	return n;
}

/* Add a dim with a step at least as long as those before; merge it if there is no gap. */
static void add_level(struct extent *e, int64_t step, int64_t count)
{
	unsigned last = e->levels - 1;

	if (!e->levels && step <= (int64_t)e->run) {
		e->run += (uint64_t)(step * (count - 1));
	} else if (e->levels && step % e->level[last].step == 0 &&
		   step / e->level[last].step <= e->level[last].count) {
		e->level[last].count += step / e->level[last].step * (count - 1);
	} else {
		e->level[e->levels].step = step;
		e->level[e->levels++].count = count;
	}
}

struct extent extent_of(const struct view *v)
{
	int64_t element = op_dtype_size(v->dtype);
	struct extent e = {.lo = v->lo, .hi = v->hi, .run = (uint64_t)element};
	unsigned order[QUOIT_MAX_DIMS], n = sort_dims(v, order);

	for (unsigned i = 0; i < n; i++)
		add_level(&e, labs(v->stride[order[i]]) * element, v->dim[order[i]]);
	return e;
}

/* The steps of both extents, each once.  chain_of returns false if one does not divide the next. */
struct chain {
	unsigned levels;
	int64_t step[2 * QUOIT_MAX_DIMS];
	int64_t most[2][2 * QUOIT_MAX_DIMS]; /* how often a and b take each step, at most */
};

static bool chain_of(const struct extent *a, const struct extent *b, struct chain *ret)
{
	unsigned i = 0, j = 0;

	ret->levels = 0;
	while (i < a->levels || j < b->levels) {
		unsigned n = ret->levels;
		bool of_a =
			i < a->levels && (j == b->levels || a->level[i].step <= b->level[j].step);
		bool of_b =
			j < b->levels && (i == a->levels || b->level[j].step <= a->level[i].step);

		ret->step[n] = of_a ? a->level[i].step : b->level[j].step;
		ret->most[0][n] = of_a ? a->level[i++].count - 1 : 0;
		ret->most[1][n] = of_b ? b->level[j++].count - 1 : 0;
		if (n && ret->step[n] % ret->step[n - 1])
			return false;
		ret->levels++;
	}
	return true;
}

static int64_t divide_down(int64_t x, int64_t by)
{
	return x / by - (x % by < 0);
}

static int64_t divide_up(int64_t x, int64_t by)
{
	return x / by + (x % by > 0);
}

/*
 * A run of a and one of b share a byte if the sum of m[i] step[i] is within [least, most].  m[i] is
 * the difference between how often a and b take step i: any number from -most[1][i] to most[0][i].
 * Divided by step[0], the rest of the sum is a multiple of step[1] / step[0] and m[0] any number of
 * an interval.  So the rest must fall into [least, most] widened by that interval, and so on for
 * each step.
 */
bool extent_overlap(const struct extent *a, const struct extent *b)
{
	int64_t between = (int64_t)b->lo - (int64_t)a->lo, unit = 1;
	int64_t least = between - (int64_t)a->run + 1, most = between + (int64_t)b->run - 1;
	struct chain c;

	if (a->lo >= b->hi || b->lo >= a->hi)
		return false;
	if ((!a->levels && !b->levels) || !chain_of(a, b, &c))
		return true;
	for (unsigned i = 0; i < c.levels; i++) {
		int64_t by = c.step[i] / unit;

		least = divide_up(least, by);
		most = divide_down(most, by);
		if (least > most)
			return false;
		least -= c.most[0][i];
		most += c.most[1][i];
		unit = c.step[i];
	}
	return least <= 0 && most >= 0;
}

bool extent_same(const struct extent *a, const struct extent *b)
{
	if (a->lo != b->lo || a->run != b->run || a->levels != b->levels)
		return false;
	for (unsigned i = 0; i < a->levels; i++)
		if (a->level[i].step != b->level[i].step || a->level[i].count != b->level[i].count)
			return false;
	return true;
}

bool extent_views_overlap(const struct view *a, const struct view *b)
{
	struct extent of_a, of_b;

	if (a->lo >= b->hi || b->lo >= a->hi)
		return false;
	if (a->covers && b->covers)
		return true;
	of_a = extent_of(a);
	of_b = extent_of(b);
	return extent_overlap(&of_a, &of_b);
}
