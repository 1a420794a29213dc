/* SPDX-License-Identifier: MIT */
/* legs.c - a session's file of legs, operations and call sites */
#include "legs.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/tsc.h"
#include "reactor_histograms.h"
#include "session/owner.h"
#include "session_file.h"
#include "totals.h"

#define LABEL(name, text) text,
static const char *const labels[QUOIT_LEG_NR] = {QUOIT_LEGS(LABEL)};
#undef LABEL

static void fill(struct session *s)
{
	struct quoit_session_legs *l = s->legs;

	totals_fill_header(&l->header, sizeof *l, offsetof(struct quoit_session_legs, count),
			   QUOIT_LEG_NR, 0);
	l->session = s->id;
	l->buckets = QUOIT_LEG_BUCKETS;
	l->parts = QUOIT_LEG_PARTS;
	l->operations = QUOIT_OP_NR;
	l->operations_at = offsetof(struct quoit_session_legs, operation);
	l->bytes_at = offsetof(struct quoit_session_legs, bytes);
	l->sites_at = offsetof(struct quoit_session_legs, site);
	l->site_rings = QUOIT_SITE_RINGS;
	for (unsigned i = 0; i < QUOIT_LEG_NR; i++)
		snprintf(l->label[i], sizeof l->label[i], "%s", labels[i]);
}

int legs_open(struct session *s, int directory)
{
	void *map;
	int err = session_file_open(s, directory, QUOIT_STATS_LEGS, sizeof *s->legs, &s->legs_fd,
				    &map);

	if (!map) /* the reactor's totals count it all the same */
		map = mmap(NULL, sizeof *s->legs, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s->summed = calloc(QUOIT_OP_NR, sizeof *s->summed);
	if (map == MAP_FAILED)
		return err;
	s->legs = map;
	s->legs_long = tsc_from_ns(LEGS_LONG_NS);
	s->legs_gap = tsc_from_ns(LEGS_GAP_NS);
	fill(s);
	return err;
}

void legs_close(struct session *s, int directory)
{
	session_file_remove(s->id, directory, QUOIT_STATS_LEGS, s->legs_fd);
}

void legs_add(struct session *s, unsigned leg, uint64_t ticks, uint32_t weight)
{
	uint32_t bucket = quoit_leg_bucket(ticks);
	uint64_t *count;

	if (!s->legs)
		return;
	count = &s->legs->count[leg][bucket];
	__atomic_store_n(count, *count + weight, __ATOMIC_RELAXED);
	/* Times that a client noted stay in its own session's file. */
	if (s->reactor->own_histograms && leg != QUOIT_LEG_SUBMIT && leg != QUOIT_LEG_REAP)
		reactor_histograms_add(s->reactor->own_histograms, leg, bucket, weight);
}

void legs_run(struct session *s, uint8_t opcode, uint64_t ticks, uint32_t weight)
{
	struct quoit_operation_block *o;

	if (!s->legs)
		return;
	legs_add(s, QUOIT_LEG_RUN, ticks, weight);
	o = &s->legs->operation[opcode];
	__atomic_store_n(&o->timed, o->timed + weight, __ATOMIC_RELAXED);
	__atomic_store_n(&o->ticks, o->ticks + ticks * weight, __ATOMIC_RELAXED);
}

void legs_tell_nops(struct session *s)
{
	if (LEGS_ON && s->legs)
		__atomic_store_n(&s->legs->operation[QUOIT_OP_NOP].jobs,
				 s->jobs_fetched - s->jobs_counted, __ATOMIC_RELAXED);
}

/* By how much a count has grown since the last call. */
static uint64_t come(uint64_t *had, uint64_t has)
{
	uint64_t more = has - *had;

	*had = has;
	return more;
}

void legs_hand_over(struct session *s)
{
	uint64_t jobs = s->jobs_fetched + s->jobs_done + s->jobs_failed;
	struct reactor *r = s->reactor;

	if (!s->legs || !s->summed || !r->own_histograms || jobs == s->summed_jobs)
		return;
	s->summed_jobs = jobs;
	legs_tell_nops(s);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		const struct quoit_operation_block *o = &s->legs->operation[i];
		struct quoit_operation_totals *to = &r->own_histograms->operation[i];
		struct quoit_operation_totals *had = &s->summed[i];

		to->jobs += come(&had->jobs, o->jobs);
		to->timed += come(&had->timed, o->timed);
		to->ticks += come(&had->ticks, o->ticks);
		to->bytes += come(&had->bytes, s->legs->bytes[i]);
	}
}

/* Has the client waited at any call site? */
static bool has_waited(const struct quoit_site *site)
{
	return __atomic_load_n(&site[0].waits, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&site[1].waits, __ATOMIC_RELAXED);
}

void legs_tell_sites(struct session *s, uint32_t ring, const struct quoit_site *from)
{
	const size_t words = QUOIT_MAX_SITES * sizeof *from / sizeof(uint64_t);
	const uint64_t *in = (const uint64_t *)from;
	uint64_t *out;

	if (!s->legs || ring >= QUOIT_SITE_RINGS || !has_waited(from))
		return;
	out = (uint64_t *)s->legs->site[ring];
	for (size_t i = 0; i < words; i++)
		__atomic_store_n(&out[i], __atomic_load_n(&in[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}
