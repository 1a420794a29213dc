/* SPDX-License-Identifier: MIT */
/* sample.c - times the phases of sampled jobs */
#include "sample.h"

#include "reactor_histograms.h"
#include "session/owner.h"

/*
 * Samples become half as frequent when one stands for FAST times the usual number, and twice as
 * frequent when none was taken for LATE_GAPS times the least gap.
 */
#define FAST      4u
#define LATE_GAPS 8u

void sample_init(struct ring *r)
{
	const uint32_t first = quoit_sample_from(0, 0);

	r->samples = (struct ring_samples){.watch = first, .sq = first, .cq = first};
}

/* The time of the client's note for this index, on our clock; 0: there is none before now. */
static uint64_t time_of_note(uint64_t word, uint32_t index, uint64_t now)
{
	return tsc_of_raw(quoit_note_time(word, index, tsc_raw(now)));
}

/* ---- how frequent samples are ---- */

static void tell_rarity(struct ring *r)
{
	__atomic_store_n(&r->daemon->sampling,
			 quoit_sampling(r->samples.sq_rarity, r->samples.cq_rarity),
			 __ATOMIC_RELAXED);
}

/*
 * A sample that stands for very many means that others came too soon after the last one, and that
 * the client noted them in vain: make samples rarer.
 */
static void make_rarer(struct ring *r, uint8_t *rarity, uint32_t weight)
{
	if (weight >> (QUOIT_SAMPLE_BITS + *rarity) < FAST || *rarity == QUOIT_SAMPLE_RAREST)
		return;
	++*rarity;
	tell_rarity(r);
}

/* Has no sample been taken for long, though the gap is over? */
static bool is_late(const struct ring *r, uint64_t gap, uint64_t now)
{
	return now > gap + LATE_GAPS * r->session->latency_gap;
}

void sample_less_rarely(struct ring *r, uint64_t now)
{
	struct ring_samples *m = &r->samples;
	bool sq = m->sq_rarity && is_late(r, m->sq_gap, now);
	bool cq = m->cq_rarity && is_late(r, m->cq_gap, now);

	if (!sq && !cq)
		return;
	if (sq)
		m->sq = quoit_sample_from(r->sq.next, --m->sq_rarity);
	if (cq)
		m->cq = quoit_sample_from(r->cq.next, --m->cq_rarity);
	if (cq && !m->posting)
		m->watch = m->cq;
	tell_rarity(r);
}

/* ---- fetch ---- */

bool sample_is_early(struct ring *r, uint32_t end)
{
	if (r->fetched >= r->samples.sq_gap)
		return false;
	r->samples.sq = quoit_sample_from(end, r->samples.sq_rarity);
	return true;
}

struct sample sample_begin(const struct ring *r, uint32_t sq_index)
{
	return (struct sample){.fetch = tsc_after_loads(),
			       .weight = sq_index + 1 - r->samples.sq_from,
			       .posted = r->cq.next,
			       .failed = r->session->jobs_failed};
}

static void count_submit(struct ring *r, uint64_t fetch)
{
	struct ring_samples *m = &r->samples;
	const uint64_t *word = &r->client->submitted[quoit_note_word(m->sq, m->sq_rarity)];
	uint64_t submit = time_of_note(__atomic_load_n(word, __ATOMIC_RELAXED), m->sq, fetch);

	if (!submit)
		return;
	latency_add(r->session, QUOIT_PHASE_SUBMIT, fetch - submit, m->sq + 1 - m->submit_from);
	m->submit_from = m->sq + 1;
}

static void go_on(struct ring *r, uint64_t fetch)
{
	struct ring_samples *m = &r->samples;

	count_submit(r, fetch);
	make_rarer(r, &m->sq_rarity, m->sq + 1 - m->sq_from);
	m->sq_from = m->sq + 1;
	m->sq_gap = fetch + r->session->latency_gap;
	m->sq = quoit_sample_from(m->sq + 1, m->sq_rarity);
}

void sample_is_job(struct ring *r, const struct sample *sample, struct job *job)
{
	job->weight = sample->weight;
	job->fetch = sample->fetch;
	go_on(r, sample->fetch);
}

/* The CQE waits to be flushed; with many waiting already, it is left out.  device 0: none. */
static void await_flush(struct ring *r, uint64_t end, uint32_t weight, uint8_t device)
{
	struct ring_samples *m = &r->samples;

	if (m->posting == SAMPLES_POSTING)
		return;
	m->job[m->posting].end = end;
	m->job[m->posting].weight = weight;
	m->job[m->posting].device = device;
	m->posting++;
	m->watch = r->cq.published;
}

void sample_was_run(struct ring *r, const struct sample *sample, uint8_t opcode)
{
	struct session *s = r->session;
	uint64_t end = tsc_now();

	go_on(r, sample->fetch);
	if (s->jobs_failed != sample->failed)
		return;
	latency_add(s, QUOIT_PHASE_DATA, 0, sample->weight);
	latency_add(s, QUOIT_PHASE_MEMORY, 0, sample->weight);
	latency_add(s, QUOIT_PHASE_TURN, 0, sample->weight);
	latency_add_run(s, opcode, end - sample->fetch, sample->weight);
	latency_add(s, QUOIT_PHASE_WHOLE, end - sample->fetch, sample->weight);
	if (r->cq.next != sample->posted)
		await_flush(r, end, sample->weight, 0);
}

/* ---- the end of a job ---- */

/* The device that the job ran on; for a copy between two, the target.  0: none. */
static uint8_t device_of(const struct session *s, const struct job *job)
{
	if (job->executor == NO_EXECUTOR || !job->on_device)
		return 0;
	return s->views[job->view[__builtin_ctz(job->on_device)]].device;
}

static void count_on_device(const struct session *s, uint8_t device, unsigned phase, uint64_t ticks,
			    uint32_t weight)
{
	if (device && s->reactor->own_histograms)
		reactor_histograms_of_device(s->reactor->own_histograms, device, phase,
					     quoit_latency_bucket(ticks), weight);
}

/*
 * The phases are put in order.  A job in a stream may start before its data are there: it counts
 * from then on.  The time of its fetch may be later than that of the pass in which it started.
 */
void sample_count_job(struct ring *r, const struct job *job, bool posted)
{
	struct session *s = r->session;
	uint64_t data = tsc_between(job->fetch, job->data, job->end);
	uint64_t start = tsc_between(data, job->start, job->end);
	uint64_t memory = tsc_between(data, job->memory, start);
	bool is_long = job->end - job->start > s->latency_long && !job->direct;
	uint32_t weight = is_long ? 1 : job->weight; /* all long jobs are counted */
	uint8_t device = device_of(s, job);

	if (!job->start || job->end < job->fetch)
		return; /* it never ran */
	latency_add(s, QUOIT_PHASE_DATA, data - job->fetch, weight);
	latency_add(s, QUOIT_PHASE_MEMORY, memory - data, weight);
	latency_add(s, QUOIT_PHASE_TURN, start - memory, weight);
	latency_add_run(s, job->sqe.opcode, job->end - start, weight);
	latency_add(s, QUOIT_PHASE_WHOLE, job->end - job->fetch, weight);
	count_on_device(s, device, QUOIT_PHASE_RUN, job->end - start, weight);
	if (posted)
		await_flush(r, job->end, weight, device);
}

/* ---- CQEs ---- */

void sample_collect(struct ring *r)
{
	struct ring_samples *m = &r->samples;
	uint64_t now = m->reaped == m->posted ? 0 : tsc_now();
	uint32_t head = __atomic_load_n(&r->client->cq_head, __ATOMIC_RELAXED);

	for (; m->reaped != m->posted; m->reaped++) {
		uint32_t i = m->reaped % SAMPLES_POSTED;
		const uint64_t *word = &r->client->reaped[m->cqe[i].word];
		uint64_t reap =
			time_of_note(__atomic_load_n(word, __ATOMIC_RELAXED), m->cqe[i].index, now);

		if (!reap && (int32_t)(m->cqe[i].index - head) >= 0)
			return; /* not reaped yet */
		if (reap >= m->cqe[i].tsc)
			latency_add(r->session, QUOIT_PHASE_REAP, reap - m->cqe[i].tsc,
				    m->cqe[i].weight);
	}
}

/* Wait for one more CQE to be reaped, SAMPLES_POSTED at most; a large CQ may have more. */
static void post_sample(struct ring *r, uint64_t now)
{
	struct ring_samples *m = &r->samples;
	uint32_t i = m->posted % SAMPLES_POSTED;

	if (m->posted - m->reaped == SAMPLES_POSTED)
		sample_collect(r);
	if (m->posted - m->reaped == SAMPLES_POSTED)
		return;
	m->cqe[i].tsc = now;
	m->cqe[i].index = m->cq;
	m->cqe[i].weight = m->cq + 1 - m->cq_from;
	m->cqe[i].word = quoit_note_word(m->cq, m->cq_rarity);
	make_rarer(r, &m->cq_rarity, m->cqe[i].weight);
	m->cq_from = m->cq + 1;
	m->cq_gap = now + r->session->latency_gap;
	m->posted++;
}

void sample_count_posts(struct ring *r)
{
	struct ring_samples *m = &r->samples;
	struct session *s = r->session;
	bool any = s->latency && (m->posting || s->reactor->now >= m->cq_gap);
	uint64_t now = any ? tsc_now() : 0;

	for (uint32_t i = 0; any && i < m->posting; i++) {
		uint64_t ticks = now - m->job[i].end;

		latency_add(s, QUOIT_PHASE_POST, ticks, m->job[i].weight);
		count_on_device(s, m->job[i].device, QUOIT_PHASE_POST, ticks, m->job[i].weight);
	}
	m->posting = 0;
	for (; quoit_sample_precedes(m->cq, r->cq.next);
	     m->cq = quoit_sample_from(m->cq + 1, m->cq_rarity))
		if (any && now >= m->cq_gap)
			post_sample(r, now);
	m->watch = m->cq;
}
