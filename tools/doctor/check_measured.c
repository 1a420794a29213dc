/* SPDX-License-Identifier: MIT */
/* check_measured.c - measure the machine within and between its nodes */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "checks.h"
#include "measure.h"
#include "tree.h"

#define MOST_NODES 16   /* the most nodes of which each pair is measured */
#define GROUP_S    10.0 /* time limit for all measurements */

/* ---- places ---- */

struct place {
	int node;
	int first;  /* an allowed CPU of the node */
	int second; /* a CPU of another core; else another of the same core; or -1 */
	int far;    /* a CPU that shares no last-level cache with the first; or -1 */
};

static int other_core(const struct examination *e, const struct numbers *cpus, int first)
{
	struct numbers same = {0}, rest;

	(void)tree_numbers(e->root, &same,
			   "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", first);
	rest = numbers_without(cpus, &same);
	if (numbers_next(&rest, 0) >= 0 && !numbers_has(&rest, (unsigned)first))
		return numbers_next(&rest, 0);
	return numbers_next(cpus, (unsigned)first + 1);
}

/* Index 3 is the last level if there are three levels; otherwise the last level is not known. */
static int other_cache(const struct examination *e, const struct numbers *cpus, int first)
{
	struct numbers same, rest;

	if (!tree_numbers(e->root, &same,
			  "sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", first))
		return -1;
	rest = numbers_without(cpus, &same);
	return numbers_next(&rest, 0);
}

static bool find_place(const struct examination *e, int node, const struct numbers *around,
		       struct place *ret)
{
	struct numbers cpus = numbers_both(around, &e->cpus.allowed);
	struct numbers rest = numbers_without(&cpus, &e->running.reactors);

	/* A working reactor would disturb the measurement, and the measurement the reactor. */
	if (numbers_count(&rest) >= 2)
		cpus = rest;

	*ret = (struct place){
		.node = node, .first = numbers_next(&cpus, 0), .second = -1, .far = -1};
	if (ret->first < 0)
		return false;
	ret->second = other_core(e, &cpus, ret->first);
	ret->far = other_cache(e, &cpus, ret->first);
	if (ret->far == ret->second)
		ret->far = -1;
	return true;
}

/* Nodes with allowed CPUs; if no nodes are known, one place. */
static unsigned find_places(const struct examination *e, struct place ret[MOST_NODES])
{
	unsigned count = 0;

	for (int i = numbers_next(&e->nodes, 0); i >= 0 && count < MOST_NODES;
	     i = numbers_next(&e->nodes, (unsigned)i + 1)) {
		struct numbers cpus;

		if (tree_numbers(e->root, &cpus, "sys/devices/system/node/node%d/cpulist", i))
			count += find_place(e, i, &cpus, &ret[count]);
	}
	if (!numbers_count(&e->nodes))
		count = find_place(e, 0, &e->cpus.allowed, &ret[0]);
	return count;
}

/* The firmware's distance: 10 is the same node; an unknown distance to another node is 20. */
static unsigned distance(const struct examination *e, int from, int to)
{
	unsigned known = 0, value = 0;
	char line[512], *rest = NULL;

	if (from == to)
		return 10;
	if (!tree_line(e->root, line, sizeof line, "sys/devices/system/node/node%d/distance", from))
		return 20;
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		/* One word for each online node, in their order. */
		int node = -1;

		for (unsigned i = 0; i <= known; i++)
			node = numbers_next(&e->nodes, (unsigned)(node + 1));
		if (node == to)
			value = (unsigned)strtoul(word, NULL, 10);
		known++;
	}
	return value >= 10 && value < 256 ? value : 20;
}

/* All measurements share one deadline; after it, each check says once that it stops. */
static bool has_time(struct examination *e, const char *what, bool *said)
{
	if (bench_now() < e->measure_until)
		return true;
	if (!*said)
		finding_say(examination_add(e), LEVEL_NOTE,
			    "%s is not measured any more: the time for measuring (%g s) is over",
			    what, GROUP_S);
	*said = true;
	return false;
}

static bool can_measure(struct examination *e, const char *what, unsigned places)
{
	if (e->measure_until <= 0)
		e->measure_until = bench_now() + GROUP_S;
	if (e->live && places)
		return true;
	finding_say(examination_add(e), LEVEL_NOTE, "%s is not measured: %s", what,
		    e->live ? "no CPU is known" : "this is another machine's");
	return false;
}

static void say_failed(struct examination *e, const char *what, int err)
{
	finding_say(examination_add(e), LEVEL_NOTE, "%s is not measured: %s", what, strerror(-err));
}

/* ---- between cores ---- */

struct between {
	const char *what;
	void (*measure)(struct examination *e, const struct judge_place *p);
	unsigned pairs;
	bool said; /* it was said that there is no time left */
};

static void measure_pair(struct examination *e, const struct judge_place *p, struct between *b)
{
	b->pairs++;
	if (has_time(e, b->what, &b->said))
		b->measure(e, p);
}

/* Measure pairs within a node: cores that share a cache, and cores that do not. */
static void within_node(struct examination *e, const struct place *place, struct between *b)
{
	const int to[] = {place->second, place->far};

	for (unsigned i = 0; i < sizeof to / sizeof to[0]; i++) {
		const struct judge_place p = {.is_virtual = e->is_virtual,
					      .from = (unsigned)place->first,
					      .to = (unsigned)to[i],
					      .distance = 10};

		if (to[i] >= 0)
			measure_pair(e, &p, b);
	}
}

static void between_nodes(struct examination *e, const struct place *from, const struct place *to,
			  struct between *b)
{
	const struct judge_place p = {.is_virtual = e->is_virtual,
				      .from = (unsigned)from->first,
				      .to = (unsigned)to->first,
				      .distance = distance(e, from->node, to->node)};

	measure_pair(e, &p, b);
}

static void between_cores(struct examination *e, struct between b)
{
	struct place place[MOST_NODES];
	unsigned places = find_places(e, place);

	if (!can_measure(e, b.what, places))
		return;
	for (unsigned i = 0; i < places; i++) {
		within_node(e, &place[i], &b);
		for (unsigned k = i + 1; k < places; k++)
			between_nodes(e, &place[i], &place[k], &b);
	}
	if (!b.pairs)
		finding_say(examination_add(e), LEVEL_NOTE, "%s is not measured: it takes two CPUs",
			    b.what);
}

static void hop_between(struct examination *e, const struct judge_place *p)
{
	double ns;
	int err = measure_hop(p->from, p->to, &ns);

	if (err)
		say_failed(e, "a hop", err);
	else
		judge_hop(examination_add(e), p, ns);
}

void check_hop(struct examination *e)
{
	between_cores(e, (struct between){.what = "a hop", .measure = hop_between});
}

static void wake_between(struct examination *e, const struct judge_place *p)
{
	double median, p99;
	int err = measure_wake(p->from, p->to, &median, &p99);

	if (err)
		say_failed(e, "a wake-up", err);
	else
		judge_wake(examination_add(e), p, median, p99);
}

void check_wake(struct examination *e)
{
	between_cores(e, (struct between){.what = "a wake-up", .measure = wake_between});
}

/* ---- memory ---- */

/* GB/s from each place to each node with memory; 0: not measured. */
struct rates {
	int to[MOST_NODES];
	unsigned count;
	double gb_s[MOST_NODES][MOST_NODES];
};

static void read_node(struct examination *e, const struct place *place, unsigned places, int node,
		      struct rates *r)
{
	uint64_t most = e->cgroup.memory.least == CGROUP_UNLIMITED ? UINT64_MAX
								   : e->cgroup.memory.least / 8;
	struct measure_memory m;
	int err = measure_memory_open(&m, (unsigned)node, most);

	for (unsigned i = 0; i < places && !err && bench_now() < e->measure_until; i++)
		err = measure_memory_read(&m, (unsigned)place[i].first, &r->gb_s[i][r->count]);
	measure_memory_close(&m);
	r->to[r->count++] = node;
	if (err == -ENOMEM)
		finding_say(examination_add(e), LEVEL_NOTE,
			    "node %d is not measured: too little of its memory is free", node);
	else if (err)
		say_failed(e, "memory", err);
}

static double local_rate(const struct rates *r, unsigned from, int node)
{
	for (unsigned k = 0; k < r->count; k++)
		if (r->to[k] == node)
			return r->gb_s[from][k];
	return 0;
}

static void judge_rates(struct examination *e, const struct place *place, unsigned places,
			const struct rates *r)
{
	for (unsigned i = 0; i < places; i++)
		for (unsigned k = 0; k < r->count; k++) {
			struct judge_place p = {.is_virtual = e->is_virtual,
						.from = (unsigned)place[i].node,
						.to = (unsigned)r->to[k],
						.distance = distance(e, place[i].node, r->to[k])};

			if (r->gb_s[i][k] > 0)
				judge_bandwidth(examination_add(e), &p, r->gb_s[i][k],
						local_rate(r, i, place[i].node));
		}
}

void check_bandwidth(struct examination *e)
{
	struct numbers nodes = numbers_both(&e->cpus.memories, &e->cpus.memories_allowed);
	struct place place[MOST_NODES];
	unsigned places = find_places(e, place);
	struct rates r = {0};
	bool said = false;

	if (!can_measure(e, "memory", places))
		return;
	for (int i = numbers_next(&nodes, 0); i >= 0 && r.count < MOST_NODES;
	     i = numbers_next(&nodes, (unsigned)i + 1))
		if (has_time(e, "memory", &said))
			read_node(e, place, places, i, &r);
	judge_rates(e, place, places, &r);
}
