/* SPDX-License-Identifier: MIT */
/* chrome_named.c - write waits for others at things with a name, and what threads of services ran */
#include <inttypes.h>

#include "chrome_private.h"

/* ---- what jobs ask for ---- */

static void note(struct chrome *c, const struct recording_named *n)
{
	struct asked *a = &c->asked[c->asked_next++ % ASKED];

	a->session = n->session;
	a->ring = n->ring;
	a->sq_index = n->sq_index;
	recording_asks(c->rec, n, a->text);
}

const char *chrome_asked(const struct chrome *c, const struct recording_job *job)
{
	if (job->place != QUOIT_TRACE_SERVICE && job->place != QUOIT_TRACE_SYNC)
		return NULL;
	for (unsigned i = 0; i < ASKED && i < c->asked_next; i++) {
		const struct asked *a = &c->asked[(c->asked_next - 1 - i) % ASKED];

		if (a->session == job->session && a->ring == job->ring &&
		    a->sq_index == job->sq_index)
			return a->text;
	}
	return NULL;
}

/* ---- waits ---- */

/* Waits may overlap, so they have lanes as jobs have; what finds none is left out. */
static void put_wait(struct chrome *c, const struct recording_named *n)
{
	struct ring_tracks *ring = chrome_ring(c, n->session, n->ring);
	const unsigned process = chrome_process(c, n->session);
	char name[RECORDING_NAMED_BYTES];
	unsigned lane, track;

	if (!ring)
		return;
	lane = lanes_find(&ring->others, n->asked, n->began);
	if (lane == LANES)
		return;
	track = TRACK_STEP * (n->ring + 1) + OTHERS_TRACK + lane;
	snprintf(name, sizeof name, "waits for others, ring %u", n->ring);
	chrome_name_track(c, &ring->others_named[lane], process, track, track, name);
	recording_waits(c->rec, n, name);
	chrome_begin_slice(c, process, track, n->asked, n->began, name);
	fprintf(c->out, ",\"args\":{\"sq_index\":%" PRIu32, n->sq_index);
	if (n->res < 0)
		fprintf(c->out, ",\"error\":%" PRId64, -(int64_t)n->res);
	fputc('}', c->out);
	chrome_end(c);
}

/* ---- services ---- */

/* NULL: there are too many. */
static struct service_track *service_of(struct chrome *c, const struct recording_named *n)
{
	for (unsigned i = 0; i < c->services; i++)
		if (c->service[i].number == n->number && c->service[i].pid == n->pid)
			return &c->service[i];
	if (c->services == TRACKS)
		return NULL;
	c->service[c->services] = (struct service_track){.number = n->number, .pid = n->pid};
	return &c->service[c->services++];
}

static void put_run(struct chrome *c, const struct recording_named *n)
{
	struct service_track *s = service_of(c, n);
	const int64_t to = n->ended > n->began ? n->ended : n->began + 1;
	char thing[RECORDING_NAMED_BYTES], name[RECORDING_NAMED_BYTES + 24];
	unsigned lane, track;

	if (!s)
		return;
	lane = lanes_find(&s->lanes, n->began, to);
	if (lane == LANES)
		return;
	track = TRACK_STEP * (TRACKS + 1 + (unsigned)(s - c->service)) + lane;
	recording_thing(c->rec, n, thing);
	snprintf(name, sizeof name, "%s, PID %" PRIu32, thing, n->pid);
	chrome_name_track(c, &s->named[lane], QUOITD, track, UINT16_MAX + QUOIT_TRACE_SERVICE,
			  name);
	snprintf(name, sizeof name, "call of session %" PRIu64, n->session->number);
	chrome_begin_slice(c, QUOITD, track, n->began, to, name);
	fprintf(c->out, ",\"args\":{\"function\":%u,\"sq_index\":%" PRIu32 "}", n->function,
		n->sq_index);
	chrome_end(c);
}

void chrome_put_named(const struct recording_named *n, void *arg)
{
	struct chrome *c = arg;

	note(c, n);
	if (n->began > n->asked && recording_may_wait(n))
		put_wait(c, n);
	if (!n->kind && n->pid)
		put_run(c, n);
}
