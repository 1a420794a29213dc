/* SPDX-License-Identifier: MIT */
/* hostile_ring.c - clients that lie about their indices */
#include <fcntl.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <quoit/sample.h>
#include <quoit/trace.h>

#include "ctl_client.h"

#define ENTRIES     16u
#define PATIENCE_MS 30000

static const struct raw_wish small = {.host_bytes = 1u << 20,
				      .arena_bytes = 64u << 10,
				      .max_tensors = 64,
				      .sq_entries = ENTRIES,
				      .cq_entries = ENTRIES};

/* ---- the SQ tail ---- */

static void tail_beyond_the_ring(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	raw_set_tail(&c, ENTRIES + 1);
	CHECK(s, raw_has_ended(&c, PATIENCE_MS));
	CHECK(s, raw_sq_head(&c) == 0 && raw_cq_tail(&c) == 0); /* no slot was read */
	stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
}

static void tail_below_the_head(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	raw_submit_nops(&c, 4);
	CHECK(s, raw_reap_good(&c, 4));
	raw_set_tail(&c, 3);
	stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
}

/*
 * The tail is taken back before quoitd looked, or after: a smaller batch, or a tail below the head.
 */
static void tail_taken_back(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 50, 5000) && !s->bad; i++) {
		struct raw_client c;

		if (!stage_open(s, &c, &small))
			return;
		usleep(stage_random(s, 500));
		QUOIT_RING_STORE(&c.client->sq_tail, 8, QUOIT_RING_SEQ_CST);
		raw_set_tail(&c, 4);
		for (int ms = 0; raw_cq_tail(&c) < 4 && !raw_has_ended(&c, 1) && ms < PATIENCE_MS;
		     ms++)
			;
		CHECK(s, raw_cq_tail(&c) == 4 || raw_cq_tail(&c) == 8);
		if (raw_cq_tail(&c) == 8)
			stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
		else
			(void)stage_leave(s, &c);
	}
}

static uint32_t random_tail(struct stage *s, uint32_t head)
{
	if (stage_random(s, 2))
		return head - 2 + stage_random(s, ENTRIES + 5);
	return stage_random(s, UINT32_MAX);
}

static void tail_at_random(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 200, 50000) && !s->bad; i++) {
		uint32_t head = stage_random(s, ENTRIES), tail = random_tail(s, head);
		struct raw_client c;

		if (!stage_open(s, &c, &small))
			return;
		raw_submit_nops(&c, head);
		CHECK(s, raw_reap_good(&c, head));
		memset(c.sqes, 0, ENTRIES * sizeof *c.sqes);
		raw_set_tail(&c, tail);
		if (tail - head > ENTRIES) {
			stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
			continue;
		}
		CHECK(s, raw_reap_good(&c, tail - head));
		CHECK(s, raw_sq_head(&c) == tail && raw_cq_tail(&c) == tail);
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

struct flapper {
	uint32_t *word;
	uint32_t values[2];
	_Atomic bool stop;
};

static void *flap(void *arg)
{
	struct flapper *f = arg;

	for (unsigned i = 0; !f->stop; i++)
		QUOIT_RING_STORE(f->word, f->values[i & 1], QUOIT_RING_RELAXED);
	return NULL;
}

/* quoitd uses the tail that it checked: it runs a valid batch, or none and ends the session. */
static void tail_changed_all_the_time(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 50, 2500) && !s->bad; i++) {
		struct flapper f = {.values = {5, ENTRIES + 9}};
		struct raw_client c;
		pthread_t thread;

		if (!stage_open(s, &c, &small))
			return;
		f.word = &c.client->sq_tail;
		pthread_create(&thread, NULL, flap, &f);
		raw_ring_bell(&c);
		CHECK(s, raw_has_ended(&c, PATIENCE_MS));
		f.stop = true;
		pthread_join(thread, NULL);
		CHECK(s, raw_sq_head(&c) == 0 || raw_sq_head(&c) == 5);
		CHECK(s, raw_cq_tail(&c) == raw_sq_head(&c));
		stage_await_end(s, &c, QUOIT_DAEMON_KILL_RING_TAIL);
	}
}

/* Submit one NOP, carried by the tail, with another operation in its slot. */
static bool submit_carried(struct raw_client *c, uint8_t in_slot)
{
	struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};
	uint32_t index;

	if (!quoit_ring_reserve(&c->sq, &index))
		return false;
	nop.user_data = index;
	*raw_slot(c, index) = (struct quoit_sqe){.opcode = in_slot, .user_data = index};
	if (quoit_ring_submit_line(&c->sq, (uint64_t *)&nop, QUOIT_SQ_CARRIES,
				   &c->daemon->need_wake))
		raw_ring_bell(c);
	return true;
}

static void carried_and_another_in_its_slot(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	for (unsigned i = 0; i < 3 * ENTRIES && !s->bad; i++) {
		CHECK(s, submit_carried(&c, UINT8_MAX));
		CHECK(s, raw_reap_good(&c, 1)); /* quoitd ran the carried one */
	}
	(void)stage_leave(s, &c);
}

/* Expect as many CQEs as jobs, with a time limit for each; f changes all the time. */
static void run_beside(struct stage *s, struct raw_client *c, struct flapper *f)
{
	unsigned jobs = stage_times(s, 2000, 100000);
	pthread_t thread;

	pthread_create(&thread, NULL, flap, f);
	for (unsigned i = 0; i < jobs && !s->bad; i++) {
		CHECK(s, submit_carried(c, QUOIT_OP_NOP));
		for (int ms = 0; raw_sq_head(c) != c->sq.next && ms < PATIENCE_MS; ms++)
			for (int n = 0; raw_sq_head(c) != c->sq.next && n < 10000; n++)
				sched_yield();
		CHECK(s, raw_sq_head(c) == c->sq.next);
		raw_set_cq_head(c, c->sq.next - 1); /* the last one may not be posted yet */
	}
	f->stop = true;
	pthread_join(thread, NULL);
}

/* The tail's line may carry anything: quoitd sees one SQE, good or refused. */
static void carried_and_changed_all_the_time(struct stage *s)
{
	struct flapper f = {.values = {~(uint32_t)QUOIT_OP_NOP, ~(uint32_t)UINT8_MAX}};
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	f.word = &c.client->sq_first;
	run_beside(s, &c, &f);
	CHECK(s, raw_await_posted(&c, c.sq.next));
	(void)stage_leave(s, &c);
}

/* quoitd does not read that line: it knows its own tail. */
static void its_own_CQ_tail_written(struct stage *s)
{
	struct flapper f = {.values = {7, UINT32_MAX}};
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	f.word = &c.client->cq_tail;
	run_beside(s, &c, &f);
	CHECK(s, submit_carried(&c, QUOIT_OP_NOP));
	CHECK(s, raw_await_posted(&c, c.sq.next));
	CHECK(s, c.cqes[(c.sq.next - 1) % ENTRIES].user_data == c.sq.next - 1);
	(void)stage_leave(s, &c);
}

#ifdef QUOIT_SANITIZE
#define WRAPS false
#else
#define WRAPS true
#endif

/* ring_torture.c has the short form of this, where the indices can be chosen. */
static void indices_wrap(struct stage *s)
{
	const struct raw_wish large = {.host_bytes = 1u << 20, .sq_entries = 4096};
	const uint64_t jobs = (UINT64_C(1) << 32) + 100000;
	struct raw_client c;

	if (!s->times || !WRAPS) {
		s->skip = "2^32 jobs take minutes: --full, and no sanitizer";
		return;
	}
	if (!stage_open(s, &c, &large))
		return;
	for (uint64_t done = 0; done < jobs && !s->bad;) {
		uint32_t posted = raw_cq_tail(&c);

		done += posted - c.cq.next;
		c.cq.next = posted;
		raw_set_cq_head(&c, posted);
		CHECK(s, posted - raw_sq_head(&c) == 0 || raw_sq_head(&c) - posted <= 8192);
		QUOIT_RING_STORE(&c.client->sq_tail, raw_sq_head(&c) + 4096, QUOIT_RING_SEQ_CST);
		if (QUOIT_RING_LOAD(&c.daemon->need_wake, QUOIT_RING_SEQ_CST))
			raw_ring_bell(&c);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- the CQ head ---- */

/* So many jobs that quoitd must read the head: more than half of the CQ is unread. */
#define MANY (ENTRIES / 2 + 2)

static void cq_head_ahead_of_the_tail(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	raw_submit_nops(&c, MANY);
	CHECK(s, raw_await_posted(&c, MANY));
	raw_set_cq_head(&c, MANY + 1);
	raw_submit_nops(&c, 1);
	stage_await_end(s, &c, QUOIT_DAEMON_KILL_CQ_HEAD);
}

static void cq_head_jumps_back(struct stage *s)
{
	static const uint32_t steps[] = {1, ENTRIES};

	for (unsigned i = 0; i < 2; i++) {
		struct raw_client c;

		if (!stage_open(s, &c, &small))
			return;
		raw_submit_nops(&c, MANY);
		CHECK(s, raw_reap_good(&c, MANY));
		raw_submit_nops(&c, MANY); /* quoitd reads the head meanwhile */
		CHECK(s, raw_await_posted(&c, 2 * MANY));
		raw_set_cq_head(&c, MANY - steps[i]);
		raw_submit_nops(&c, 1);
		CHECK(s, raw_has_ended(&c, PATIENCE_MS));
		CHECK(s, raw_cq_tail(&c) == 2 * MANY);
		for (uint32_t n = MANY; n < 2 * MANY; n++) /* unread ones were not overwritten */
			CHECK(s, c.cqes[n % ENTRIES].user_data == n);
		stage_await_end(s, &c, QUOIT_DAEMON_KILL_CQ_HEAD);
	}
}

static void cq_head_never_moves(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	raw_submit_nops(&c, ENTRIES);
	CHECK(s, raw_await_posted(&c, ENTRIES));
	raw_submit_nops(&c, ENTRIES);
	for (int ms = 0; ms < 300; ms += 10) {
		CHECK(s, raw_cq_tail(&c) == ENTRIES && raw_sq_head(&c) == ENTRIES);
		usleep(10000);
	}
	for (uint32_t n = 0; n < ENTRIES; n++)
		CHECK(s, c.cqes[n].user_data == n);
	CHECK(s, raw_reap_good(&c, 2 * ENTRIES)); /* and quoitd goes on as soon as there is room */
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static int cancel_next(struct raw_client *c)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL};
	unsigned count;

	m.job.ring = c->ring;
	m.job.sq_index = c->sq.next;
	return raw_call(c, &m, NULL, 0, &count);
}

/* A cancel of a job that is not there yet is remembered until the job comes, and no longer. */
static void cancelled_again_before_it_comes(struct stage *s)
{
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	for (unsigned i = 0; i < stage_times(s, 100, 100000) && !s->bad; i++) {
		for (unsigned n = 0; n < 3; n++)
			CHECK(s, !cancel_next(&c));
		CHECK(s, raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_NOP}) == -ECANCELED);
		CHECK(s, !raw_run(&c, (struct quoit_sqe){.opcode = QUOIT_OP_NOP}));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Any number, or a number that is nearly right. */
static uint64_t lie(struct stage *s)
{
	uint64_t noise = (uint64_t)stage_random(s, UINT32_MAX) << 32 | stage_random(s, UINT32_MAX);

	return stage_random(s, 2) ? noise : noise >> stage_random(s, 64);
}

/* Half of the notes are about the next sample. */
static uint64_t note(struct stage *s, uint32_t index)
{
	return stage_random(s, 2) ? lie(s) : quoit_note_of(quoit_sample_from(index, 0), lie(s));
}

static void times_that_are_lies(struct stage *s)
{
	const uint32_t times = stage_times(s, 100, 10000);
	struct raw_client c;

	if (!stage_open(s, &c, &small))
		return;
	for (uint32_t i = 0; i < times && !s->bad; i++) {
		for (uint32_t k = 0; k < QUOIT_NOTED; k++) {
			__atomic_store_n(&c.client->submitted[k], note(s, c.sq.next),
					 __ATOMIC_RELAXED);
			__atomic_store_n(&c.client->reaped[k], note(s, c.cq.next),
					 __ATOMIC_RELAXED);
		}
		raw_submit_nops(&c, ENTRIES);
		CHECK(s, raw_reap_good(&c, ENTRIES));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- recorded ---- */

static void scribble(struct stage *s, const struct raw_client *c)
{
	struct quoit_ring_events *e = (void *)((char *)c->client + c->layout.events);

	for (uint32_t i = 0; i < QUOIT_EVENTS; i++)
		e->event[i] = (struct quoit_trace_event){lie(s), (uint32_t)lie(s), (uint16_t)lie(s),
							 (uint16_t)lie(s)};
	__atomic_store_n(&e->dropped, (uint32_t)lie(s), __ATOMIC_RELAXED);
	__atomic_store_n(&e->head, (uint32_t)lie(s), __ATOMIC_RELEASE);
}

/* A client's events in a trace are marked as such, and are no more than allowed. */
static bool trace_is_whole(struct stage *s, uint64_t session)
{
	static struct {
		struct quoit_trace file;
		struct quoit_trace_record record[QUOIT_TRACE_LEAST];
	} trace;
	uint64_t head = 0, first;
	char path[160];
	int fd, n;

	n = snprintf(path, sizeof path, "%s/", s->daemon.folder);
	snprintf(path + n, sizeof path - (size_t)n, QUOIT_STATS_TRACE, (unsigned long long)session);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!CHECK(s, fd >= 0))
		return false;
	CHECK(s, read(fd, &trace, sizeof trace) == sizeof trace);
	CHECK(s, pread(fd, &head, sizeof head, offsetof(struct quoit_trace, head)) == sizeof head);
	close(fd);
	CHECK(s, trace.file.session == session && trace.file.records == QUOIT_TRACE_LEAST);
	first = head + QUOIT_TRACE_MARGIN > QUOIT_TRACE_LEAST
			? head + QUOIT_TRACE_MARGIN - QUOIT_TRACE_LEAST
			: 0;
	for (uint64_t i = first; i < trace.file.head && !s->bad; i++) {
		const struct quoit_trace_record *r = &trace.record[i % QUOIT_TRACE_LEAST];

		CHECK(s, r->kind != QUOIT_TRACE_CLIENT ||
				 (r->opcode && r->opcode <= QUOIT_TRACE_EVENTS));
	}
	return !s->bad;
}

static void notes_that_are_lies(struct stage *s)
{
	struct raw_client c, recorder;

	if (!stage_open(s, &c, &small))
		return;
	if (!ctl_record(s, &recorder, QUOIT_TRACE_LEAST))
		return;
	for (uint32_t i = 0; i < stage_times(s, 100, 10000) && !s->bad; i++) {
		scribble(s, &c);
		raw_submit_nops(&c, ENTRIES);
		CHECK(s, raw_reap_good(&c, ENTRIES));
		if (i % 64 == 63)
			trace_is_whole(s, c.info.session);
	}
	ctl_leave(s, &recorder);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static const struct stage_case cases[] = {
	{"notes that are lies", notes_that_are_lies},
	{"times that are lies", times_that_are_lies},
	{"cancelled again before it comes", cancelled_again_before_it_comes},
	{"tail beyond the ring", tail_beyond_the_ring},
	{"tail below the head", tail_below_the_head},
	{"tail taken back", tail_taken_back},
	{"tail at random", tail_at_random},
	{"tail changed all the time", tail_changed_all_the_time},
	{"carried and another in its slot", carried_and_another_in_its_slot},
	{"carried and changed all the time", carried_and_changed_all_the_time},
	{"its own CQ tail written", its_own_CQ_tail_written},
	{"indices wrap", indices_wrap},
	{"CQ head ahead of the tail", cq_head_ahead_of_the_tail},
	{"CQ head jumps back", cq_head_jumps_back},
	{"CQ head never moves", cq_head_never_moves},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
