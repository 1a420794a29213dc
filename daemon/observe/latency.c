/* SPDX-License-Identifier: MIT */
/* latency.c - a session's latency file: phases, operations and call sites */
#include "latency.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/tsc.h"
#include "reactor_histograms.h"
#include "session/owner.h"
#include "session_file.h"
#include "totals.h"

#define LABEL(name, text) text,
static const char *const labels[QUOIT_PHASE_NR] = {QUOIT_PHASES(LABEL)};
#undef LABEL

static void fill(struct session *s)
{
	struct quoit_session_latency *l = s->latency;

	totals_fill_header(&l->header, sizeof *l, offsetof(struct quoit_session_latency, count),
			   QUOIT_PHASE_NR, 0);
	l->session = s->id;
	l->buckets = QUOIT_LATENCY_BUCKETS;
	l->parts = QUOIT_LATENCY_PARTS;
	l->operations = QUOIT_OP_NR;
	l->operations_at = offsetof(struct quoit_session_latency, operation);
	l->bytes_at = offsetof(struct quoit_session_latency, bytes);
	l->sites_at = offsetof(struct quoit_session_latency, site);
	l->site_rings = QUOIT_SITE_RINGS;
	l->held_at = offsetof(struct quoit_session_latency, held);
	l->named_at = offsetof(struct quoit_session_latency, named_now);
	l->named = QUOIT_MAX_SERVICES;
	for (unsigned i = 0; i < QUOIT_PHASE_NR; i++)
		snprintf(l->label[i], sizeof l->label[i], "%s", labels[i]);
}

int latency_open(struct session *s, int directory)
{
	void *map;
	int err = session_file_open(s, directory, QUOIT_STATS_LATENCY, sizeof *s->latency,
				    &s->latency_fd, &map);

	if (!map) /* the reactor's totals count it all the same */
		map = mmap(NULL, sizeof *s->latency, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s->summed = calloc(QUOIT_OP_NR, sizeof *s->summed);
	if (map == MAP_FAILED)
		return err;
	s->latency = map;
	s->latency_long = tsc_from_ns(LATENCY_LONG_NS);
	s->latency_gap = tsc_from_ns(LATENCY_GAP_NS);
	fill(s);
	return err;
}

void latency_close(struct session *s, int directory)
{
	session_file_remove(s->id, directory, QUOIT_STATS_LATENCY, s->latency_fd);
}

void latency_add(struct session *s, unsigned phase, uint64_t ticks, uint32_t weight)
{
	uint32_t bucket = quoit_latency_bucket(ticks);
	uint64_t *count;

	if (!s->latency)
		return;
	count = &s->latency->count[phase][bucket];
	__atomic_store_n(count, *count + weight, __ATOMIC_RELAXED);
	/* Times that a client noted stay in its own session's file. */
	if (s->reactor->own_histograms && phase != QUOIT_PHASE_SUBMIT && phase != QUOIT_PHASE_REAP)
		reactor_histograms_add(s->reactor->own_histograms, phase, bucket, weight);
}

void latency_add_run(struct session *s, uint8_t opcode, uint64_t ticks, uint32_t weight)
{
	struct quoit_operation_block *o;

	if (!s->latency)
		return;
	latency_add(s, QUOIT_PHASE_RUN, ticks, weight);
	o = &s->latency->operation[opcode];
	__atomic_store_n(&o->timed, o->timed + weight, __ATOMIC_RELAXED);
	__atomic_store_n(&o->ticks, o->ticks + ticks * weight, __ATOMIC_RELAXED);
}

void latency_tell_nops(struct session *s)
{
	if (LATENCY_ON && s->latency)
		__atomic_store_n(&s->latency->operation[QUOIT_OP_NOP].jobs,
				 s->jobs_fetched - s->jobs_counted, __ATOMIC_RELAXED);
}

/* By how much a count has grown since the last call. */
static uint64_t come(uint64_t *had, uint64_t has)
{
	uint64_t more = has - *had;

	*had = has;
	return more;
}

void latency_hand_over(struct session *s)
{
	uint64_t jobs = s->jobs_fetched + s->jobs_done + s->jobs_failed;
	struct reactor *r = s->reactor;

	if (!s->latency || !s->summed || !r->own_histograms || jobs == s->summed_jobs)
		return;
	s->summed_jobs = jobs;
	latency_tell_nops(s);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		const struct quoit_operation_block *o = &s->latency->operation[i];
		struct quoit_operation_totals *to = &r->own_histograms->operation[i];
		struct quoit_operation_totals *had = &s->summed[i];

		to->jobs += come(&had->jobs, o->jobs);
		to->timed += come(&had->timed, o->timed);
		to->ticks += come(&had->ticks, o->ticks);
		to->bytes += come(&had->bytes, s->latency->bytes[i]);
	}
}

void latency_count_held(struct session *s, uint32_t ring, uint32_t site, uint64_t from,
			uint64_t now)
{
	struct quoit_site_held *h;

	if (!LATENCY_ON || !s->latency)
		return;
	h = ring < QUOIT_SITE_RINGS ? &s->latency->held[ring][site] : &s->latency->held[0][0];
	from = from > h->until ? from : h->until;
	if (from >= now)
		return;
	__atomic_store_n(&h->until, now, __ATOMIC_RELAXED);
	__atomic_store_n(&h->ticks, h->ticks + now - from, __ATOMIC_RELAXED);
}

/* Has the client waited anywhere, or named a call site, as it also does for acquires? */
static bool has_sites(const struct quoit_site *site)
{
	return __atomic_load_n(&site[0].waits, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&site[1].name[0], __ATOMIC_RELAXED);
}

void latency_tell_sites(struct session *s, uint32_t ring, const struct quoit_site *from)
{
	const size_t words = QUOIT_MAX_SITES * sizeof *from / sizeof(uint64_t);
	const uint64_t *in = (const uint64_t *)from;
	uint64_t *out;

	if (!s->latency || ring >= QUOIT_SITE_RINGS || !has_sites(from))
		return;
	out = (uint64_t *)s->latency->site[ring];
	for (size_t i = 0; i < words; i++)
		__atomic_store_n(&out[i], __atomic_load_n(&in[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}
