/* SPDX-License-Identifier: MIT */
/* play.c - open sessions that are just large enough, and start a thread for each ring */
#include "play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB         (UINT64_C(1) << 20)
#define ARENA_BYTES (4 * MIB) /* for what quoit_read and quoit_write have under way */
#define LEASE_LEAST MIB

void play_complain(struct play *p, uint32_t step, const char *what)
{
	char text[200];

	pthread_mutex_lock(&p->lock);
	if (!p->stopped)
		snprintf(p->wrong, sizeof p->wrong, "step %s: %s",
			 plan_say(p->plan, step, text, sizeof text), what);
	p->stopped = true;
	pthread_mutex_unlock(&p->lock);
}

static bool refuse(struct play *p, const char *what, int err)
{
	snprintf(p->wrong, sizeof p->wrong, "%s: %s (%s)", what, quoit_strerror(err),
		 quoit_open_text());
	return false;
}

/*
 * What one ring holds stays where it is, and can keep the place from another one's tensor.  So many
 * bytes more, and one of the places between held tensors is long enough.
 */
static uint64_t shared_bytes(const struct plan *p, uint32_t session)
{
	uint64_t more = p->options.acquires ? (p->options.rings[session] + 1) * p->largest : 0;

	return p->peak[session][PLAN_SHARED] + more;
}

static int open_session(struct play *p, uint32_t i)
{
	const uint64_t *peak = p->plan->peak[i];
	struct quoit_open_params open = {.socket = p->options.socket,
					 .arena_bytes = ARENA_BYTES,
					 .pinned_bytes = peak[PLAN_PINNED],
					 .device_bytes = peak[PLAN_DEVICE],
					 .shared_bytes = shared_bytes(p->plan, i)};

	open.host_bytes = ARENA_BYTES + peak[PLAN_HOST] + peak[PLAN_PINNED] + open.shared_bytes;
	if (open.host_bytes < LEASE_LEAST)
		open.host_bytes = LEASE_LEAST;
	return quoit_open(&open, &p->session[i].s);
}

static int open_team(struct play *p, uint32_t i)
{
	struct play_session *s = &p->session[i];
	const uint32_t lanes = p->options.lanes[i];
	const struct quoit_team_params params = {
		.lanes = lanes, .flags = lanes ? QUOIT_TEAM_UNPINNED : QUOIT_TEAM_NO_LANES};
	struct quoit_function functions[PLAN_FUNCTIONS];
	int err;

	s->has_lanes = lanes;
	play_functions(s, functions);
	err = quoit_open_team(s->s, functions, PLAN_FUNCTIONS, &params, &s->team);
	for (uint32_t f = 0; !err && f < PLAN_FUNCTIONS; f++)
		s->function[f] = quoit_find_function(s->team, functions[f].name);
	return err;
}

/* There is room for all messages that a serial run has at a time, however long they are. */
static int open_queues(struct play *p, uint32_t i)
{
	const struct quoit_sync_params params = {.most = 16 * MIB};
	char name[32];

	for (uint32_t r = 0; r < p->plan->rings; r++) {
		int *number = &p->session[i].queue[r];

		snprintf(name, sizeof name, "%llx-from-%u",
			 (unsigned long long)p->plan->options.seed, r);
		*number = quoit_open_queue(p->session[i].s, name, &params);
		if (*number < 0)
			return *number;
	}
	return 0;
}

static bool open_all(struct play *p)
{
	const struct quoit_ring_params ring = {.entries = p->options.entries,
					       .jobs = PLAY_OPEN + 2};
	int err;

	for (uint32_t i = 0; i < PLAN_SESSIONS; i++) {
		err = open_session(p, i);
		if (err)
			return refuse(p, "no session", err);
		err = open_team(p, i);
		if (err)
			return refuse(p, "no team", err);
		err = open_queues(p, i);
		if (err)
			return refuse(p, "no queue", err);
	}
	for (uint32_t r = 0; r < p->plan->rings; r++) {
		struct player *w = &p->player[r];

		w->play = p;
		w->ring = r;
		w->session = &p->session[plan_session(p->plan, r)];
		err = quoit_open_ring(w->session->s, &ring, &w->q);
		if (err)
			return refuse(p, "no ring", err);
	}
	return true;
}

static void play_all(struct play *p)
{
	for (uint32_t r = 0; r < p->plan->rings; r++)
		if (pthread_create(&p->player[r].thread, NULL, play_steps, &p->player[r]))
			abort();
	for (uint32_t r = 0; r < p->plan->rings; r++)
		pthread_join(p->player[r].thread, NULL);
}

static void close_all(struct play *p)
{
	for (uint32_t i = 0; i < PLAN_SESSIONS; i++) {
		int err = quoit_close(p->session[i].s, *p->wrong ? QUOIT_CLOSE_CANCEL : 0);

		if (err && !*p->wrong)
			(void)refuse(p, "close", err);
	}
}

static void *zeros(size_t count, size_t bytes)
{
	void *at = calloc(count + 1, bytes);

	if (!at)
		abort();
	return at;
}

bool play_run(const struct plan *plan, const struct play_options *options, char *text, size_t size)
{
	struct play *p = zeros(1, sizeof *p);
	bool good;

	p->plan = plan;
	p->options = *options;
	p->tensor = zeros(plan->tensors, sizeof *p->tensor);
	p->job = zeros(plan->steps, sizeof *p->job);
	p->event = zeros(plan->steps, sizeof *p->event);
	p->done = zeros(plan->steps, sizeof *p->done);
	pthread_mutex_init(&p->lock, NULL);
	if (open_all(p))
		play_all(p);
	close_all(p);
	good = !*p->wrong;
	snprintf(text, size, "%s", p->wrong);
	pthread_mutex_destroy(&p->lock);
	free(p->tensor);
	free(p->job);
	free(p->event);
	free(p->done);
	free(p);
	return good;
}
