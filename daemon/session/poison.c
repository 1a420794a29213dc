/* SPDX-License-Identifier: MIT */
/* poison.c - which bytes of a buffer are poisoned, as a hull that may have gaps of one kind */
#include "poison.h"

#include "extent.h"

/*
 * A job that has failed to write bytes with gaps of one kind, such as a column panel, does not fail
 * jobs that read between them; those did not wait for it, either.  If several such writes failed,
 * or the gaps have gaps, the hull counts.
 */
static struct extent poison_extent(const struct buffer *b)
{
	struct extent e = extent_whole(b->poison_lo, b->poison_hi);

	if (b->poison_step) {
		e.run = b->poison_run;
		e.levels = 1;
		e.level[0].step = (int64_t)b->poison_step;
		e.level[0].count =
			(int64_t)((b->poison_hi - b->poison_lo - e.run) / b->poison_step) + 1;
	}
	return e;
}

static bool shares_poison(const struct buffer *b, const struct view *v)
{
	struct extent poison, of_view;

	if (v->covers && !b->poison_step)
		return true;
	poison = poison_extent(b);
	of_view = extent_of(v);
	return extent_overlap(&poison, &of_view);
}

static void poison_whole(struct buffer *b, uint64_t lo, uint64_t hi)
{
	b->poison_lo = lo;
	b->poison_hi = hi;
	b->poison_run = b->poison_step = 0;
}

static void poison_view(struct buffer *b, const struct view *v)
{
	struct extent e;

	poison_whole(b, v->lo, v->hi);
	if (v->covers)
		return;
	e = extent_of(v);
	if (e.levels == 1) {
		b->poison_run = e.run;
		b->poison_step = (uint64_t)e.level[0].step;
	}
}

bool view_is_poisoned(const struct session *s, const struct view *v, struct quoit_error *ret)
{
	const struct buffer *b = &s->buffers[v->buffer];

	if (!b->poisoned || v->lo >= b->poison_hi || b->poison_lo >= v->hi || !shares_poison(b, v))
		return false;
	*ret = b->cause;
	return true;
}

bool job_is_poisoned(const struct session *s, struct job *job)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (job->reads & 1u << i &&
		    view_is_poisoned(s, &s->views[job->view[i]], &job->error))
			return true;
	return false;
}

/* Does a write of this view replace all that others failed to write? */
static bool replaces_poison(const struct buffer *b, const struct view *v, bool was_read)
{
	struct extent poison, of_view;

	if (was_read || v->lo > b->poison_lo || v->hi < b->poison_hi)
		return false;
	if (v->covers || !b->poison_step)
		return v->covers;
	poison = poison_extent(b);
	of_view = extent_of(v);
	return extent_same(&poison, &of_view);
}

void view_written(struct session *s, const struct view *v, bool was_read, int32_t res,
		  const struct quoit_error *cause)
{
	struct buffer *b = &s->buffers[v->buffer];

	if (res >= 0) {
		if (b->poisoned && replaces_poison(b, v, was_read))
			b->poisoned = false;
		return;
	}
	if (v->lo == v->hi)
		return;
	s->any_poison = true;
	/* A write that replaces the poison replaces its cause, which no longer matters. */
	if (!b->poisoned || replaces_poison(b, v, was_read)) {
		b->poisoned = true;
		poison_view(b, v);
		b->cause = *cause;
		return;
	}
	poison_whole(b, v->lo < b->poison_lo ? v->lo : b->poison_lo,
		     v->hi > b->poison_hi ? v->hi : b->poison_hi);
}
