/* SPDX-License-Identifier: MIT */
/* notes.c - when the client submitted, and when it reaped, by what it noted itself */
#include "trace/notes.h"

#include <errno.h>
#include <stdlib.h>

enum { SUBMITS, REAPS };

/* How much later than its post a reap may say that it was; two clocks, read by two. */
#define REAP_SLACK 2000

/* ---- reading ---- */

static bool grow(struct note_list *l)
{
	size_t room = l->room ? 2 * l->room : 256;
	void *more = realloc(l->note, room * sizeof *l->note);

	if (!more)
		return false;
	l->note = more;
	l->room = room;
	return true;
}

struct loading {
	struct notes *notes;
	const struct recording *rec;
};

/* In order of time, or it is left out: a client may write what it likes. */
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

/* How many notes are at or before a moment. */
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

/* The first of [low, high) that covers it; those do that are behind one that does. */
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

/* Indices wrap, so only near ones can be told apart: look from the job's own time, ever farther. */
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
