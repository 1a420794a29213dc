/* SPDX-License-Identifier: MIT */
/* notes.c - look up when a client submitted and reaped, by its own notes */
#include "notes.h"

#include <errno.h>
#include <stdlib.h>

#include "read/list.h"

enum { SUBMITS, REAPS };

/* A reap may seem this much later than its post, since two CPUs read two clocks. */
#define REAP_SLACK 2000

/* ---- reading ---- */

static bool grow(struct note_list *l)
{
	void *more = list_grow(l->note, &l->room, sizeof *l->note);

	if (!more)
		return false;
	l->note = more;
	return true;
}

struct loading {
	struct notes *notes;
	const struct recording *rec;
};

/* Take notes in the order of time; others are left out, since a client may write anything. */
static void take(const struct recording_event *e, void *arg)
{
	const struct loading *g = arg;
	struct note_list *l;

	if (e->kind != QUOIT_EVENT_SUBMIT && e->kind != QUOIT_EVENT_REAP)
		return;
	l = &g->notes->list[e->session - g->rec->session][e->ring]
			   [e->kind == QUOIT_EVENT_SUBMIT ? SUBMITS : REAPS];
	if (l->count && e->at < l->note[l->count - 1].at)
		return;
	if (l->count == l->room && !grow(l))
		g->notes->failed = true;
	else
		l->note[l->count++] = (struct note){e->at, e->index};
}

int notes_load(struct notes *n, struct trace_reader *r, struct recording *rec)
{
	struct loading g = {n, rec};
	const struct recording_visitor v = {.event = take, .arg = &g};
	int err;

	*n = (struct notes){.sessions = rec->sessions};
	n->list = calloc(rec->sessions ? rec->sessions : 1, sizeof *n->list);
	if (!n->list)
		return -ENOMEM;
	err = recording_visit(r, rec, &v);
	return n->failed ? -ENOMEM : err;
}

void notes_free(struct notes *n)
{
	for (unsigned i = 0; n->list && i < n->sessions; i++)
		for (unsigned ring = 0; ring < QUOIT_MAX_RINGS; ring++) {
			free(n->list[i][ring][SUBMITS].note);
			free(n->list[i][ring][REAPS].note);
		}
	free(n->list);
	*n = (struct notes){0};
}

/* ---- looking up ---- */

static bool covers(const struct note *note, uint32_t index)
{
	return (int32_t)(note->index - index) > 0;
}

/* How many notes are not later than `at`. */
static size_t count_until(const struct note_list *l, int64_t at)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->note[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first note of [low, high) that covers the index; notes behind one that does cover it, too. */
static size_t first_covering(const struct note_list *l, size_t low, size_t high, uint32_t index)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (covers(&l->note[middle], index))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static const struct note_list *list_of(const struct notes *n, const struct recording *rec,
				       const struct recording_job *job, unsigned which)
{
	return &n->list[job->session - rec->session][job->ring][which];
}

/*
 * Indices wrap, so only near ones can be compared: start at the job's own time, and search
 * backwards in growing steps.
 */
bool notes_submit(const struct notes *n, const struct recording *rec,
		  const struct recording_job *job, int64_t *ret)
{
	const struct note_list *l = list_of(n, rec, job, SUBMITS);
	size_t end = count_until(l, job->fetch), low = end, far = 1, found;

	if (!end || !covers(&l->note[end - 1], job->sq_index))
		return false;
	while (low && covers(&l->note[low - 1], job->sq_index)) {
		low = low > far ? low - far : 0;
		far *= 2;
	}
	found = first_covering(l, low, end, job->sq_index);
	if (found == end)
		return false;
	*ret = l->note[found].at;
	return true;
}

bool notes_reap(const struct notes *n, const struct recording *rec, const struct recording_job *job,
		int64_t *ret)
{
	const struct note_list *l = list_of(n, rec, job, REAPS);
	size_t begin = count_until(l, job->post - REAP_SLACK), high = begin, far = 1, found;

	if (job->quiet)
		return false;
	while (high < l->count && !covers(&l->note[high], job->cq_index)) {
		high = l->count - high > far ? high + far : l->count;
		far *= 2;
	}
	found = first_covering(l, begin, high < l->count ? high + 1 : high, job->cq_index);
	if (found >= l->count || !covers(&l->note[found], job->cq_index))
		return false;
	*ret = l->note[found].at;
	return true;
}
