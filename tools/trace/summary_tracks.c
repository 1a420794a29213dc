/* SPDX-License-Identifier: MIT */
/* summary_tracks.c - make the tracks of rings, clients and places, and their density */
#include <stdio.h>

#include "summary_private.h"

static unsigned reactor_of(const struct recording_job *job)
{
	return job->place < QUOIT_TRACE_BRIDGE ? job->session->s.reactor : 0;
}

int summary_ring_track(const struct summary *s, const struct recording_session *session,
		       unsigned ring, enum summary_track_kind kind)
{
	for (unsigned i = 0; i < s->tracks; i++)
		if (s->track[i].kind == kind && s->track[i].session == session &&
		    s->track[i].ring == ring)
			return (int)i;
	return -1;
}

int summary_place_track(const struct summary *s, const struct recording_job *job)
{
	if (!job->ran)
		return -1;
	for (unsigned i = 0; i < s->tracks; i++)
		if (s->track[i].kind == SUMMARY_PLACE && s->track[i].place == job->place &&
		    s->track[i].reactor == reactor_of(job))
			return (int)i;
	return -1;
}

static struct summary_track *add_track(struct summary *s, enum summary_track_kind kind)
{
	struct summary_track *t = &s->track[s->tracks];

	if (s->tracks == SUMMARY_TRACKS)
		return NULL;
	s->tracks++;
	*t = (struct summary_track){.kind = kind};
	return t;
}

struct summary_track *summary_track_of_ring(struct summary *s,
					    const struct recording_session *session, unsigned ring,
					    enum summary_track_kind kind)
{
	int i = summary_ring_track(s, session, ring, kind);
	struct summary_track *t = i < 0 ? add_track(s, kind) : &s->track[i];

	if (i < 0 && t) {
		t->session = session;
		t->ring = ring;
		snprintf(t->name, sizeof t->name,
			 kind == SUMMARY_RING ? "ring %u" : "waits, ring %u", ring);
	}
	return t;
}

struct summary_track *summary_track_of_place(struct summary *s, const struct recording_job *job)
{
	int i = summary_place_track(s, job);
	struct summary_track *t = i < 0 ? add_track(s, SUMMARY_PLACE) : &s->track[i];

	if (i < 0 && t) {
		t->place = job->place;
		t->reactor = reactor_of(job);
		recording_place(job, t->name);
	}
	return t;
}

/* ---- density ---- */

/* Bins that are covered wholly are added as one change at the first and one behind the last. */
void summary_add_density(const struct summary *s, struct summary_density *d, int64_t from,
			 int64_t to)
{
	const double end = SUMMARY_BINS;
	double a = (double)from / s->bin_ns, b = (double)to / s->bin_ns;
	unsigned first, last;

	a = a < 0 ? 0 : a > end ? end : a;
	b = b < a ? a : b > end ? end : b;
	first = (unsigned)a;
	last = (unsigned)b;
	if (first == last) {
		d->part[first] += b - a;
		return;
	}
	d->part[first] += first + 1 - a;
	d->part[last] += b - last;
	d->change[first + 1]++;
	d->change[last]--;
}

void summary_density(const struct summary_density *d, double ret[SUMMARY_BINS])
{
	double whole = 0;

	for (unsigned i = 0; i < SUMMARY_BINS; i++) {
		whole += d->change[i];
		ret[i] = whole + d->part[i];
	}
}
