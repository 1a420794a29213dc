/* SPDX-License-Identifier: MIT */
/* limit.c - find what limits a session */
#include "limit.h"

#include <stdio.h>
#include <string.h>

#include "format.h"

/* If a session is empty for a larger part of the time, its client limits it. */
#define MOSTLY_EMPTY 50.0

static const char *const words[] = {
	[LIMIT_UNKNOWN] = "",  [LIMIT_CLIENT] = "client", [LIMIT_FETCH] = "fetch",
	[LIMIT_DATA] = "data", [LIMIT_HELD] = "held",     [LIMIT_MEMORY] = "memory",
	[LIMIT_TURN] = "turn", [LIMIT_RUN] = "run",
};

const char *limits_word(enum limit by)
{
	return words[by];
}

const char *limits_operation(unsigned operation)
{
	static const char *const names[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) [nr] = #name,
#include <quoit/ops.def>
#undef QUOIT_OP
	};

	if (operation >= QUOIT_OP_MODULE_FIRST && operation <= QUOIT_OP_MODULE_LAST)
		return "of a module";
	return names[operation] ? names[operation] : "(none)";
}

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

void limits_find(const struct counters_session *s, const struct counters_session *before,
		 const struct latency *l, double span_ns, struct limits *ret)
{
	double busy = busy_percent(s, before, l, span_ns);

	*ret = (struct limits){.p50_ns = latency_percentile(l, QUOIT_PHASE_WHOLE, 50),
			       .p99_ns = latency_percentile(l, QUOIT_PHASE_WHOLE, 99)};
	ret->memory_percent = percent(s, before, QUOIT_SESSION_MEMORY_TICKS, span_ns);
	find_operation(l, ret);
	find_phase(l, ret);
	find_held(l, percent(s, before, QUOIT_SESSION_BUSY_TICKS, span_ns), span_ns, ret);
	if (busy >= 0 && busy < 100 - MOSTLY_EMPTY) {
		ret->by = LIMIT_CLIENT;
		ret->percent = 100 - busy;
	}
}

/* ---- texts ---- */

void limits_text(const struct limits *limits, char *ret, size_t size)
{
	static const char *const formats[] = {
		[LIMIT_UNKNOWN] = "not known: no job was timed",
		[LIMIT_CLIENT] = "the client: it has no job open for %.0f%% of the time",
		[LIMIT_FETCH] = "fetching: SQEs spend %.0f%% of their time in the ring",
		[LIMIT_DATA] =
			"data: jobs wait %.0f%% of their time for data that other jobs write",
		[LIMIT_MEMORY] = "memory: jobs wait %.0f%% of their time for memory",
		[LIMIT_TURN] = "cores or devices: jobs wait %.0f%% of their time for one",
		[LIMIT_RUN] = "work: jobs run %.0f%% of their time",
	};

	char site[4 * sizeof limits->site];

	if (limits->by == LIMIT_HELD) {
		format_escape(limits->site, site, sizeof site);
		snprintf(ret, size, "data held by the program at %s for %.0f%% of the time",
			 *site ? site : "(somewhere)", limits->percent);
		return;
	}
	snprintf(ret, size, formats[limits->by], limits->percent);
}

static void detail_memory(const struct limits *limits, const struct counters_session *s, char *ret,
			  size_t size)
{
	struct counter used = s->value[QUOIT_SESSION_HOST_USED];
	struct counter lease = s->value[QUOIT_SESSION_HOST_LEASE];
	char used_text[16], lease_text[16];

	if (!used.known || !lease.known || limits->memory_percent < 0)
		return;
	format_bytes(used.value, used_text, sizeof used_text);
	format_bytes(lease.value, lease_text, sizeof lease_text);
	snprintf(ret, size, "%s of %s on the host are in use; some job waited %.0f%% of the time",
		 used_text, lease_text, limits->memory_percent);
}

void limits_detail(const struct limits *limits, const struct counters_session *s, char *ret,
		   size_t size)
{
	*ret = '\0';
	if (limits->by == LIMIT_MEMORY)
		detail_memory(limits, s, ret, size);
	else if (limits->by == LIMIT_FETCH)
		snprintf(ret, size, "the reactor is busy, tables are full, or CQEs are not reaped");
	else if (limits->by == LIMIT_HELD)
		snprintf(ret, size, "release it before other work, or acquire it later");
	else if (limits->by >= LIMIT_DATA && limits->operation < QUOIT_OP_NR)
		snprintf(ret, size, "of what ran, %s took %.0f%%",
			 limits_operation(limits->operation), limits->operation_percent);
}
