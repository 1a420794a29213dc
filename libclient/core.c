/* SPDX-License-Identifier: MIT */
/* core.c - move a waiting thread away from its reactor's CPU */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/*
 * The scheduler may bring a thread back because other CPUs are busy.  So a thread leaves at most
 * once in each pause, and the pause doubles each time that the thread was brought back within
 * LEFT_FOR_NS.
 */
#define PAUSE_FIRST_NS 500000u
#define PAUSE_LAST_NS  4000000u
#define LEFT_FOR_NS    100000000u

/* ---- sets of CPUs, of any size ---- */

#define BITS (8 * sizeof(long))

static bool cpus_has(const struct cpus *c, unsigned cpu)
{
	return cpu < CPUS_MOST && c->word[cpu / BITS] >> cpu % BITS & 1;
}

static void cpus_put(struct cpus *c, unsigned cpu)
{
	if (cpu < CPUS_MOST)
		c->word[cpu / BITS] |= 1ul << cpu % BITS;
}

static bool cpus_any(const struct cpus *c)
{
	unsigned long any = 0;

	for (size_t i = 0; i < sizeof c->word / sizeof *c->word; i++)
		any |= c->word[i];
	return any;
}

/* text: like "0-3,8" */
static void cpus_parse(struct cpus *c, const char *text)
{
	for (char *end; *text; text = *end == ',' ? end + 1 : end) {
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < CPUS_MOST; first++)
			cpus_put(c, (unsigned)first);
		if (*end != ',')
			return;
	}
}

void libquoit_cpus_near(struct cpus *c, int cpu)
{
	char path[80], text[4096];
	FILE *f;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/package_cpus_list",
		 cpu);
	f = fopen(path, "re");
	if (f && fgets(text, sizeof text, f))
		cpus_parse(c, text);
	if (f)
		(void)fclose(f);
}

/* ---- leaving ---- */

static uint64_t ticks(const struct quoit_ring *q, uint64_t ns)
{
	return ns / 1000 * (q->session->info.tsc_hz / 1000000);
}

/* Has the pause ended?  If so, the next pause begins. */
static bool may_try(struct quoit_ring *q)
{
	uint64_t now = clock_ticks(), since = now - q->left_at, most = ticks(q, PAUSE_LAST_NS);

	if (since < q->left_pause)
		return false;
	q->left_at = now;
	q->left_pause =
		since > ticks(q, LEFT_FOR_NS) ? ticks(q, PAUSE_FIRST_NS) : 2 * q->left_pause;
	if (q->left_pause > most)
		q->left_pause = most;
	return true;
}

/* Move the thread to one of these CPUs at once; afterwards it may run on the CPUs of `before`. */
static bool go(const struct cpus *to, const struct cpus *before)
{
	if (sched_setaffinity(0, sizeof *to, (const cpu_set_t *)to) < 0)
		return false;
	(void)sched_setaffinity(0, sizeof *before, (const cpu_set_t *)before);
	return true;
}

static bool leave(const struct quoit_session *s)
{
	const unsigned reactor = (unsigned)s->info.reactor_cpu;
	struct cpus mine, others, near = s->near;

	memset(&mine, 0, sizeof mine);
	if (sched_getaffinity(0, sizeof mine, (cpu_set_t *)&mine) < 0)
		return false;
	others = mine;
	if (cpus_has(&others, reactor))
		others.word[reactor / BITS] &= ~(1ul << reactor % BITS);
	if (!cpus_any(&others))
		return false;
	for (size_t i = 0; i < sizeof near.word / sizeof *near.word; i++)
		near.word[i] &= others.word[i];
	return go(cpus_any(&near) ? &near : &others, &mine);
}

static void tell(struct quoit_ring *q, bool shares)
{
	if (q->shares_cpu == shares)
		return;
	q->shares_cpu = shares;
	__atomic_store_n(&q->client->shares_cpu, shares, __ATOMIC_RELAXED);
}

void libquoit_core_leave(struct quoit_ring *q)
{
	const int reactor = q->session->info.reactor_cpu;
	bool there = reactor >= 0 && sched_getcpu() == reactor;

	if (there && !q->session->stays && may_try(q))
		there = !leave(q->session);
	tell(q, there);
}
