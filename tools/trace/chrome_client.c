/* SPDX-License-Identifier: MIT */
/* chrome_client.c - write submits, reaps and waits as clients noted them, and what clients held */
#include <inttypes.h>

#include "chrome_private.h"

#define MOMENT 200 /* ns: how long a submit is drawn */

static void put_moment(struct chrome *c, const struct recording_event *e, struct pending *p)
{
	unsigned track = TRACK_STEP * (e->ring + 1) + CLIENT_TRACK;
	int64_t to = e->at - p->at < MOMENT ? e->at : p->at + MOMENT;
	bool *known = chrome_ring(c, e->session, e->ring)->index_known;
	bool submit = p->kind == QUOIT_EVENT_SUBMIT;
	uint32_t *before = submit ? &p->submitted : &p->reaped;

	chrome_begin_slice(c, chrome_process(c, e->session), track, p->at, to,
			   submit ? "submit" : "reap");
	if (known[submit])
		fprintf(c->out, ",\"args\":{\"jobs\":%" PRIu32 "}", p->index - *before);
	chrome_end(c);
	*before = p->index;
	known[submit] = true;
	p->noted = false;
}

static void put_wait(struct chrome *c, const struct recording_event *e, struct pending *p)
{
	char name[64];

	snprintf(name, sizeof name, "waits at %s", recording_site(e->session, e->ring, p->site));
	chrome_begin_slice(c, chrome_process(c, e->session),
			   TRACK_STEP * (e->ring + 1) + CLIENT_TRACK, p->wait_at, e->at, name);
	chrome_end(c);
	p->waits = false;
}

void chrome_put_event(const struct recording_event *e, void *arg)
{
	struct chrome *c = arg;
	struct ring_tracks *ring = chrome_ring(c, e->session, e->ring);
	struct pending *p = ring ? &ring->pending : NULL;
	const unsigned track = TRACK_STEP * (e->ring + 1) + CLIENT_TRACK;
	char name[32];

	if (!p || (p->noted && e->at < p->at) || (p->waits && e->at < p->wait_at))
		return;
	snprintf(name, sizeof name, "client, ring %u", e->ring);
	chrome_name_track(c, &ring->client_named, chrome_process(c, e->session), track, track,
			  name);
	if (p->noted)
		put_moment(c, e, p);
	if (e->kind == QUOIT_EVENT_GO && p->waits)
		put_wait(c, e, p);
	if (e->kind == QUOIT_EVENT_WAIT) {
		p->waits = true;
		p->wait_at = e->at;
		p->site = e->site;
	} else if (e->kind != QUOIT_EVENT_GO) {
		p->noted = true;
		p->at = e->at;
		p->kind = e->kind;
		p->index = e->index;
	}
}

static void put_hold_args(struct chrome *c, const struct recording_hold *h)
{
	const int64_t ns = h->released - h->awaited;

	fprintf(c->out, ",\"args\":{\"access\":\"%s\",\"sq_index\":%" PRIu32,
		h->write ? "write" : "read", h->sq_index);
	if (ns > 0)
		fprintf(c->out, ",\"jobs_waited_us\":%" PRId64 ".%03d", ns / 1000,
			(int)(ns % 1000));
	fputc('}', c->out);
}

/* Holds may overlap, so they have lanes as jobs have; what finds none is left out. */
void chrome_put_hold(const struct recording_hold *h, void *arg)
{
	struct chrome *c = arg;
	struct ring_tracks *ring = chrome_ring(c, h->session, h->ring);
	const int64_t to = h->released > h->granted ? h->released : h->granted + 1;
	const unsigned process = chrome_process(c, h->session);
	unsigned lane, track;
	char name[64];

	if (!ring)
		return;
	lane = lanes_find(&ring->held, h->granted, to);
	if (lane == LANES)
		return;
	track = TRACK_STEP * (h->ring + 1) + HELD_TRACK + lane;
	snprintf(name, sizeof name, "held by the program, ring %u", h->ring);
	chrome_name_track(c, &ring->held_named[lane], process, track, track, name);
	snprintf(name, sizeof name, "held at %s", recording_site(h->session, h->ring, h->site));
	chrome_begin_slice(c, process, track, h->granted, to, name);
	put_hold_args(c, h);
	chrome_end(c);
}

static void put_rest(struct chrome *c, const struct recording_session *s, unsigned ring,
		     struct pending *p)
{
	struct recording_event e = {.session = (struct recording_session *)s, .ring = ring};

	e.at = p->noted && p->at > c->rec->span_ns ? p->at : c->rec->span_ns;
	if (p->noted)
		put_moment(c, &e, p);
	if (p->waits && p->wait_at <= e.at)
		put_wait(c, &e, p);
}

void chrome_put_last_events(struct chrome *c)
{
	for (unsigned i = 0; i < c->rec->sessions; i++)
		for (unsigned k = 0; k < QUOIT_MAX_RINGS; k++)
			if (c->ring[i][k])
				put_rest(c, &c->rec->session[i], k, &c->ring[i][k]->pending);
}
