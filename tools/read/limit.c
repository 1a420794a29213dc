/* SPDX-License-Identifier: MIT */
/* limit.c - find what limits a session */
#include "limit.h"

#include <string.h>

/* If a session is empty for a larger part of the time, its client limits it. */
#define MOSTLY_EMPTY 50.0

/* ---- finding it ---- */

/* A counter's growth in percent of the time; negative: not known. */
static double percent(const struct counters_session *s, const struct counters_session *before,
		      unsigned counter, double span_ns)
{
	uint64_t from = before ? before->value[counter].value : 0;
	struct counter to = s->value[counter];
	double share;

	if (!to.known || to.value < from || span_ns <= 0 || !s->origin.tsc_hz)
		return -1;
	share = 1e11 * (double)(to.value - from) / (double)s->origin.tsc_hz / span_ns;
	return share < 100 ? share : 100;
}

/*
 * At most how much of the time the session had work: time with open jobs; the cost of jobs that ran
 * at their fetch; and the time that SQEs waited for fetch, divided by the most that waited at a
 * time.
 */
static double busy_percent(const struct counters_session *s, const struct counters_session *before,
			   const struct latency *l, double span_ns)
{
	double open = percent(s, before, QUOIT_SESSION_BUSY_TICKS, span_ns);
	double cost = percent(s, before, QUOIT_SESSION_CORE_TICKS, span_ns);
	double at_most = (double)s->value[QUOIT_SESSION_SQ_MOST].value;

	if (open < 0 || cost < 0)
		return -1;
	if (at_most < 1)
		at_most = 1;
	return open + cost + 100 * latency_sum(l, QUOIT_PHASE_SUBMIT) / at_most / span_ns;
}

static void find_operation(const struct latency *l, struct limits *ret)
{
	double all = 0, most = 0;

	ret->operation = QUOIT_OP_NR;
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		double ns = latency_operation_ns(l, i);

		all += ns;
		if (ns > most) {
			most = ns;
			ret->operation = i;
		}
	}
	ret->operation_percent = all > 0 ? 100 * most / all : 0;
}

/* Find the phase that took most of the jobs' time. */
static void find_phase(const struct latency *l, struct limits *ret)
{
	static const struct {
		unsigned phase;
		enum limit limit;
	} phases[] = {
		{QUOIT_PHASE_SUBMIT, LIMIT_FETCH},  {QUOIT_PHASE_DATA, LIMIT_DATA},
		{QUOIT_PHASE_MEMORY, LIMIT_MEMORY}, {QUOIT_PHASE_TURN, LIMIT_TURN},
		{QUOIT_PHASE_RUN, LIMIT_RUN},
	};
	double all = 0, most = 0;

	for (unsigned i = 0; i < sizeof phases / sizeof phases[0]; i++) {
		double sum = l->known[phases[i].phase] ? latency_sum(l, phases[i].phase) : 0;

		all += sum;
		if (sum > most) {
			most = sum;
			ret->by = phases[i].limit;
		}
	}
	ret->percent = all > 0 ? 100 * most / all : 0;
}

/* Jobs wait for data: is it mostly the program that holds it?  If so, say where it was acquired. */
static void find_held(const struct latency *l, double open_percent, double span_ns,
		      struct limits *ret)
{
	const struct latency_site *most = NULL;
	double all = 0;

	if (ret->by != LIMIT_DATA || open_percent < 0 || span_ns <= 0)
		return;
	for (unsigned i = 0; i < l->sites; i++) {
		all += (double)l->site[i].held;
		if (!most || l->site[i].held > most->held)
			most = &l->site[i];
	}
	if (!most || 100 * all * l->tick_ns / span_ns < open_percent / 2 || !most->held)
		return;
	ret->by = LIMIT_HELD;
	ret->percent = 100 * (double)most->held * l->tick_ns / span_ns;
	ret->percent = ret->percent < 100 ? ret->percent : 100;
	memcpy(ret->site, most->name, sizeof ret->site);
}

static enum limit limit_at(const struct named_wait *w, enum quoit_named_way way)
{
	static const enum limit limits[QUOIT_SYNC_NR][QUOIT_NAMED_WAYS] = {
		[0] = {LIMIT_THREADS, LIMIT_UNSERVED},
		[QUOIT_SYNC_LOCK] = {LIMIT_LOCK, LIMIT_CONDITION},
		[QUOIT_SYNC_FLAG] = {LIMIT_FLAG, LIMIT_FLAG},
		[QUOIT_SYNC_SEMAPHORE] = {LIMIT_SEMAPHORE, LIMIT_SEMAPHORE},
		[QUOIT_SYNC_BARRIER] = {LIMIT_BARRIER, LIMIT_BARRIER},
		[QUOIT_SYNC_QUEUE] = {LIMIT_QUEUE_FULL, LIMIT_QUEUE_EMPTY},
	};

	return limits[w->kind][way];
}

/* Does the session do little else than wait for others?  Then say where it waits longest. */
static void find_named(const struct latency *l, double open_percent, double span_ns,
		       struct limits *ret)
{
	enum quoit_named_way way = QUOIT_NAMED_FIRST;
	uint64_t all;
	const struct named_wait *most = named_waits_most(&l->named, &way, &all);

	if (!most || open_percent < 0 || span_ns <= 0 ||
	    100 * (double)all * l->tick_ns / span_ns < open_percent / 2)
		return;
	ret->by = limit_at(most, way);
	ret->percent = 100 * (double)most->ticks[way] * l->tick_ns / span_ns;
	ret->percent = ret->percent < 100 ? ret->percent : 100;
	ret->named = *most;
}

void limits_find(const struct counters_session *s, const struct counters_session *before,
		 const struct latency *l, double span_ns, struct limits *ret)
{
	const double open = percent(s, before, QUOIT_SESSION_BUSY_TICKS, span_ns);
	double busy = busy_percent(s, before, l, span_ns);

	*ret = (struct limits){.p50_ns = latency_percentile(l, QUOIT_PHASE_WHOLE, 50),
			       .p99_ns = latency_percentile(l, QUOIT_PHASE_WHOLE, 99)};
	ret->memory_percent = percent(s, before, QUOIT_SESSION_MEMORY_TICKS, span_ns);
	find_operation(l, ret);
	find_phase(l, ret);
	find_held(l, open, span_ns, ret);
	find_named(l, open, span_ns, ret);
	if (busy >= 0 && busy < 100 - MOSTLY_EMPTY) {
		ret->by = LIMIT_CLIENT;
		ret->percent = 100 - busy;
	}
}
