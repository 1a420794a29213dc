/* SPDX-License-Identifier: MIT */
/* summary.c - sum up a recording of any size in figures of bounded size */
#include "summary_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A session's counts in the bin that is being filled. */
struct level {
	bool begun;
	unsigned bin;
	double most[SUMMARY_SERIES], last[SUMMARY_SERIES];
};

struct making {
	struct summary *s;
	struct level *level; /* by session */
	struct summary_waits waits;
	struct work work;
};

static unsigned bin_of(const struct summary *s, int64_t at)
{
	double bin = (double)at / s->bin_ns;

	return bin <= 0 ? 0 : bin >= SUMMARY_BINS ? SUMMARY_BINS - 1 : (unsigned)bin;
}

/* ---- groups ---- */

static int compare_jobs(const void *a, const void *b)
{
	const struct recording_session *x = *(const struct recording_session *const *)a;
	const struct recording_session *y = *(const struct recording_session *const *)b;

	return x->jobs != y->jobs ? (x->jobs < y->jobs ? 1 : -1) : (x->number > y->number ? 1 : -1);
}

static bool make_groups(struct summary *s)
{
	const unsigned sessions = s->rec->sessions;
	const struct recording_session **order = calloc(sessions ? sessions : 1, sizeof *order);

	s->group = calloc(SUMMARY_GROUPS, sizeof *s->group);
	s->group_of = calloc(sessions ? sessions : 1, 1);
	if (!order || !s->group || !s->group_of) {
		free(order);
		return false;
	}
	for (unsigned i = 0; i < sessions; i++)
		order[i] = &s->rec->session[i];
	qsort(order, sessions, sizeof *order, compare_jobs);
	s->groups = 1;
	s->group[SUMMARY_ALL].sessions = sessions;
	for (unsigned i = 0; i < sessions; i++) {
		unsigned g = i < SUMMARY_SESSIONS ? i + 1 : SUMMARY_SESSIONS + 1;

		s->group_of[order[i] - s->rec->session] = (uint8_t)g;
		s->group[g].session = g <= SUMMARY_SESSIONS ? order[i] : NULL;
		s->group[g].sessions++;
		s->groups = g + 1;
	}
	free(order);
	return true;
}

static unsigned group_of(const struct summary *s, const struct recording_session *session)
{
	return s->group_of[session - s->rec->session];
}

/* ---- operations ---- */

static struct summary_operation *operation_of(struct summary *s, struct summary_group *g,
					      unsigned opcode)
{
	struct summary_operation **o = &g->operation[opcode % QUOIT_OP_NR];

	if (!*o)
		*o = calloc(1, sizeof **o);
	s->failed |= !*o;
	return *o;
}

static void count_operation(struct summary *s, unsigned group, const struct recording_job *job)
{
	struct summary_group *g = &s->group[group];
	struct summary_operation *o = operation_of(s, g, job->opcode);
	int64_t ns = job->end - job->start;

	g->jobs++;
	g->failed += job->failed;
	if (!o)
		return;
	o->jobs++;
	o->failed += job->failed;
	o->data_ns += (double)(job->data - job->fetch);
	o->memory_ns += (double)(job->memory - job->data);
	if (!job->ran)
		return;
	o->ran++;
	o->turn_ns += (double)(job->start - job->memory);
	o->run_ns += (double)ns;
	o->most_ns = ns > o->most_ns ? ns : o->most_ns;
	o->bucket[quoit_latency_bucket((uint64_t)ns)]++;
}

double summary_percentile(const struct summary_operation *o, double percent)
{
	double below = 0;

	for (uint32_t i = 0; i < QUOIT_LATENCY_BUCKETS; i++) {
		below += o->bucket[i];
		if (o->bucket[i] && below >= (double)o->ran * percent / 100) {
			double middle = ((double)quoit_latency_least(i) +
					 (double)quoit_latency_least(i + 1) - 1) /
					2;

			return middle < (double)o->most_ns ? middle : (double)o->most_ns;
		}
	}
	return 0;
}

/* ---- the longest ---- */

void summary_choose(struct summary_choice *c, const uint32_t bucket[QUOIT_LATENCY_BUCKETS],
		    uint64_t most)
{
	*c = (struct summary_choice){.bucket = QUOIT_LATENCY_BUCKETS, .left = UINT64_MAX};
	while (c->bucket && bucket[c->bucket - 1] <= most)
		most -= bucket[--c->bucket];
	if (c->bucket) { /* this bucket is not chosen completely */
		c->bucket--;
		c->left = most;
	}
}

bool summary_is_chosen(struct summary_choice *c, int64_t ns)
{
	uint32_t bucket = quoit_latency_bucket(ns > 0 ? (uint64_t)ns : 0);

	if (bucket != c->bucket)
		return bucket > c->bucket;
	if (!c->left)
		return false;
	c->left--;
	return true;
}

/* ---- visitors ---- */

static void take_job(const struct recording_job *job, void *arg)
{
	struct making *m = arg;
	struct summary *s = m->s;
	struct summary_track *ring =
		summary_track_of_ring(s, job->session, job->ring, SUMMARY_RING);
	struct summary_track *place = job->ran ? summary_track_of_place(s, job) : NULL;

	count_operation(s, SUMMARY_ALL, job);
	count_operation(s, group_of(s, job->session), job);
	if (ring)
		summary_add_density(s, &ring->density, job->fetch, job->post);
	if (place)
		summary_add_density(s, &place->density, job->start, job->end);
	s->trackless += !ring || (job->ran && !place);
	s->job_bucket[quoit_latency_bucket((uint64_t)(job->post - job->fetch))]++;
}

bool summary_wait(struct summary_waits *w, const struct recording *rec,
		  const struct recording_event *event, struct summary_wait *ret)
{
	struct summary_wait *at = &w->wait[event->session - rec->session][event->ring];
	bool ended = event->kind == QUOIT_EVENT_GO && at->begun && event->at >= at->at;

	if (ended)
		*ret = *at;
	if (event->kind == QUOIT_EVENT_WAIT)
		*at = (struct summary_wait){event->at, event->site, true};
	else if (event->kind == QUOIT_EVENT_GO)
		at->begun = false;
	return ended;
}

static void take_event(const struct recording_event *event, void *arg)
{
	struct making *m = arg;
	struct summary_track *t;
	struct summary_wait wait;

	if (!summary_wait(&m->waits, m->s->rec, event, &wait))
		return;
	t = summary_track_of_ring(m->s, event->session, event->ring, SUMMARY_CLIENT);
	if (t)
		summary_add_density(m->s, &t->density, wait.at, event->at);
	m->s->waits++;
	m->s->wait_bucket[quoit_latency_bucket((uint64_t)(event->at - wait.at))]++;
}

/* NULL: there are too many places. */
static struct summary_held *held_at(struct summary *s, const struct recording_hold *hold)
{
	for (unsigned i = 0; i < s->helds; i++)
		if (s->held[i].session == hold->session && s->held[i].ring == hold->ring &&
		    s->held[i].site == hold->site)
			return &s->held[i];
	if (s->helds == SUMMARY_HELD)
		return NULL;
	s->held[s->helds] = (struct summary_held){
		.session = hold->session, .ring = hold->ring, .site = hold->site};
	return &s->held[s->helds++];
}

/* Add the time from `from` to `to`, as far as it is not counted yet; holds come by their ends. */
static void add_once(int64_t from, int64_t to, int64_t *until, int64_t *ns)
{
	from = from > *until ? from : *until;
	if (to <= from)
		return;
	*ns += to - from;
	*until = to;
}

static void take_hold(const struct recording_hold *hold, void *arg)
{
	struct making *m = arg;
	struct summary_held *h = held_at(m->s, hold);

	if (!h)
		return;
	h->holds++;
	add_once(hold->granted, hold->released, &h->held_until, &h->held_ns);
	add_once(hold->awaited, hold->released, &h->awaited_until, &h->awaited_ns);
}

static void take_named(const struct recording_named *named, void *arg)
{
	summary_take_named(((struct making *)arg)->s, named);
}

/* ---- levels ---- */

static void add_level(struct summary *s, const struct recording_session *session, unsigned bin,
		      const double value[SUMMARY_SERIES])
{
	unsigned g = group_of(s, session);

	for (unsigned i = 0; i < SUMMARY_SERIES; i++) {
		s->group[SUMMARY_ALL].series[i][bin] += value[i];
		s->group[g].series[i][bin] += value[i];
	}
}

/* Close the present bin; the bins before `bin` get the values at its end. */
static void fill_until(struct summary *s, const struct recording_session *session, struct level *l,
		       unsigned bin)
{
	add_level(s, session, l->bin, l->most);
	for (l->bin++; l->bin < bin; l->bin++)
		add_level(s, session, l->bin, l->last);
	memcpy(l->most, l->last, sizeof l->most);
}

static void take_counts(const struct recording_counts *counts, void *arg)
{
	struct making *m = arg;
	struct level *l = &m->level[counts->session - m->s->rec->session];
	const struct quoit_trace_counts *c = &counts->c;
	const double now[SUMMARY_SERIES] = {
		c->open,     c->running,           c->sq_depth,
		c->cq_depth, (double)c->host_used, (double)c->device_used};
	unsigned bin = bin_of(m->s, counts->at);

	if (!l->begun)
		l->bin = bin;
	if (bin < l->bin)
		return;
	if (bin > l->bin)
		fill_until(m->s, counts->session, l, bin);
	l->begun = true;
	memcpy(l->last, now, sizeof l->last);
	for (unsigned i = 0; i < SUMMARY_SERIES; i++)
		l->most[i] = now[i] > l->most[i] ? now[i] : l->most[i];
}

/* A session without later counts keeps its last values, if it has not ended. */
static void fill_rest(struct making *m)
{
	for (unsigned i = 0; i < m->s->rec->sessions; i++) {
		const struct recording_session *session = &m->s->rec->session[i];
		struct level *l = &m->level[i];

		if (l->begun)
			fill_until(m->s, session, l, session->s.ended ? 0 : SUMMARY_BINS);
	}
}

/* ---- cores ---- */

static void add_cores(struct summary *s, const struct work *w, unsigned bin, double part)
{
	struct summary_cores *c = &s->cores;

	c->time[bin] += part;
	c->tiles[bin] += part * w->tiles;
	c->reacting[bin] += part * w->reacting;
	c->polling[bin] += part * w->polling;
	for (unsigned i = 0; i < w->cores; i++)
		c->share[i][bin] += (float)(part * w->share[i]);
}

static void take_totals(const struct recording_totals *totals, void *arg)
{
	struct making *m = arg;
	struct summary *s = m->s;
	double from, to;

	if (!work_next(&m->work, totals))
		return;
	s->cores.reactors = m->work.reactors;
	s->cores.cores = m->work.cores;
	for (unsigned i = 0; i < m->work.cores; i++)
		s->cores.cpu[i] = m->work.core[i].cpu;
	from = (double)m->work.from / s->bin_ns;
	to = (double)m->work.to / s->bin_ns;
	for (unsigned bin = bin_of(s, m->work.from); bin < SUMMARY_BINS && bin < to; bin++) {
		double a = from > bin ? from : bin, b = to < bin + 1 ? to : bin + 1;

		if (b > a)
			add_cores(s, &m->work, bin, b - a);
	}
}

static void divide_cores(struct summary_cores *c)
{
	for (unsigned bin = 0; bin < SUMMARY_BINS; bin++) {
		if (c->time[bin] <= 0)
			continue;
		c->tiles[bin] /= c->time[bin];
		c->reacting[bin] /= c->time[bin];
		c->polling[bin] /= c->time[bin];
		for (unsigned i = 0; i < c->cores; i++)
			c->share[i][bin] /= (float)c->time[bin];
	}
}

/* ---- all of it ---- */

int summary_make(struct summary *s, struct trace_reader *r, struct recording *rec)
{
	const unsigned sessions = rec->sessions ? rec->sessions : 1;
	struct making *m = calloc(1, sizeof *m);
	const struct recording_visitor v = {take_job, take_event, take_counts, take_totals,
					    m,        take_hold,  take_named};
	int err = -ENOMEM;

	*s = (struct summary){.rec = rec, .bin_ns = (double)rec->span_ns / SUMMARY_BINS};
	s->track = calloc(SUMMARY_TRACKS, sizeof *s->track);
	s->cores.share = calloc(QUOIT_MAX_CORES, sizeof *s->cores.share);
	if (!m)
		return -ENOMEM;
	m->s = s;
	m->work.tick_ns = rec->tick_ns;
	m->level = calloc(sessions, sizeof *m->level);
	m->waits.wait = calloc(sessions, sizeof *m->waits.wait);
	if (m->level && m->waits.wait && s->track && s->cores.share && make_groups(s)) {
		err = recording_visit(r, rec, &v);
		fill_rest(m);
		divide_cores(&s->cores);
	}
	free(m->waits.wait);
	free(m->level);
	free(m);
	return err ? err : s->failed ? -ENOMEM : 0;
}

void summary_free(struct summary *s)
{
	for (unsigned g = 0; s->group && g < s->groups; g++)
		for (unsigned i = 0; i < QUOIT_OP_NR; i++)
			free(s->group[g].operation[i]);
	free(s->group);
	free(s->group_of);
	free(s->track);
	free(s->cores.share);
	*s = (struct summary){0};
}
