/* SPDX-License-Identifier: MIT */
/*
 * hostile_sync_queues.c - queues of tensors that are flooded, filled, left and closed, and memory that
 * goes while a message is copied: cases 103, 109 and 112 of the threat model
 *
 * After each case new sessions and new things must work, besides what the stage looks at.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "odd_names.h"
#include "scenes.h"
#include "serving.h"
#include "syncing.h"

#define MIB      (UINT64_C(1) << 20)
#define WIDE     4096u
#define PAGE     4096u
#define SHORT_US 20000u
#define MESSAGES 4u /* of a queue of these cases */

/* A party's tensors, all in its arena. */
enum {
	SMALL = SYNC_TENSOR, /* N floats */
	BIG,                 /* BIG_N floats: it is copied in parts */
	HUGE,                /* more than a queue has room for */
	FIRST,               /* the first of MANY of N floats */
};
#define N       16u
#define BIG_N   (65536u + 24)
#define HUGE_N  (4 * BIG_N)
#define MANY    64u
#define MANY_AT 4096u
#define BIG_AT  65536u
#define BYTES   (UINT64_C(1) << 20) /* of a queue of these cases */

/* ---- parties ---- */

static struct sync_words queue_of(const char *name, uint64_t messages, uint64_t bytes)
{
	struct sync_words w = sync_thing(name, QUOIT_SYNC_QUEUE, messages);

	w.most = bytes;
	return w;
}

static bool open_session(struct stage *s, struct sync_party *p, uint32_t entries)
{
	const struct raw_wish wish = {.host_bytes = 4 * MIB,
				      .arena_bytes = 2 * MIB,
				      .max_tensors = 128,
				      .sq_entries = entries};
	bool good = stage_open(s, &p->c, &wish);

	if (!good)
		return false;
	good &= !raw_run(&p->c, raw_vector(SMALL, N, 0));
	good &= !raw_run(&p->c, raw_vector(BIG, BIG_N, BIG_AT));
	good &= !raw_run(&p->c, raw_vector(HUGE, HUGE_N, BIG_AT));
	for (uint32_t i = 0; i < MANY; i++)
		good &= !raw_run(&p->c, raw_vector(FIRST + i, N, MANY_AT + i * UINT64_C(64)));
	return CHECK(s, good);
}

static bool open_wide(struct stage *s, struct sync_party *p, const char *name, uint32_t entries)
{
	const struct sync_words w = queue_of(name, MESSAGES, BYTES);

	return open_session(s, p, entries) && CHECK(s, !sync_ask(&p->c, &w, &p->number));
}

static bool open_party(struct stage *s, struct sync_party *p, const char *name)
{
	return open_wide(s, p, name, SYNC_ENTRIES);
}

static float *at(const struct sync_party *p, uint32_t tensor)
{
	const uint64_t offset = tensor == SMALL   ? 0
				: tensor >= FIRST ? MANY_AT + (tensor - FIRST) * UINT64_C(64)
						  : BIG_AT;

	return (float *)(void *)(p->c.arena + offset);
}

static uint32_t elements(uint32_t tensor)
{
	return tensor == BIG ? BIG_N : N;
}

static void set(struct sync_party *p, uint32_t tensor, float value)
{
	for (uint32_t i = 0; i < elements(tensor); i++)
		at(p, tensor)[i] = value;
}

/* All of its elements; NAN would differ. */
static bool has(const struct sync_party *p, uint32_t tensor, float value)
{
	for (uint32_t i = 0; i < elements(tensor); i++)
		if (at(p, tensor)[i] != value)
			return false;
	return true;
}

/* By a job: one that could not be received into is poisoned. */
static int32_t send_value(struct sync_party *p, uint32_t tensor, float value)
{
	struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, tensor, 0, 0);
	const double number = value;
	int32_t res;

	memcpy(&fill.scalar[0], &number, sizeof number);
	res = raw_run(&p->c, fill);
	return res ? res : sync_run(p, QUOIT_SYNC_SEND, tensor);
}

static bool gets(struct sync_party *p, uint32_t tensor, float value)
{
	set(p, tensor, -1);
	return !sync_run(p, QUOIT_SYNC_RECEIVE, tensor) && has(p, tensor, value);
}

static int32_t run_late(struct sync_party *p, enum quoit_sync_op op, uint32_t tensor)
{
	struct quoit_sqe sqe = sync_job(p, op, tensor);

	sqe.deadline = SHORT_US;
	return raw_run(&p->c, sqe);
}

static int cancel(struct sync_party *p, uint32_t sq_index)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL,
			      .job = {.ring = p->c.ring, .sq_index = sq_index}};

	return raw_call_with(&p->c, &m, -1, NULL);
}

/* Receive all that is there, of either size: so many. */
static unsigned drain(struct stage *s, struct sync_party *p)
{
	unsigned n = 0;
	int32_t res;

	for (;;) {
		res = run_late(p, QUOIT_SYNC_RECEIVE, SMALL);
		if (res == -EMSGSIZE)
			res = run_late(p, QUOIT_SYNC_RECEIVE, BIG);
		if (res != 0 && res != -EMSGSIZE)
			break;
		n += res == 0;
	}
	CHECK(s, res == -ETIME);
	return n;
}

/* It is empty, and has all its room. */
static void check_room(struct stage *s, struct sync_party *p)
{
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < MESSAGES; i++)
			CHECK(s, !send_value(p, SMALL, (float)i));
		CHECK(s, run_late(p, QUOIT_SYNC_SEND, SMALL) == -ETIME);
		for (unsigned i = 0; i < MESSAGES; i++)
			CHECK(s, gets(p, SMALL, (float)i));
		for (unsigned i = 0; i < 3; i++)
			CHECK(s, !send_value(p, BIG, (float)i));
		CHECK(s, run_late(p, QUOIT_SYNC_SEND, BIG) == -ETIME);
		for (unsigned i = 0; i < 3; i++)
			CHECK(s, gets(p, BIG, (float)i));
	}
}

/* ---- bystanders ---- */

/* Two sessions with a queue of their own. */
struct bystanders {
	struct sync_party a, b;
};

static bool bystanders_come(struct stage *s, struct bystanders *x)
{
	return open_party(s, &x->a, "bystanders") && open_party(s, &x->b, "bystanders");
}

static void bystanders_go_on(struct stage *s, struct bystanders *x)
{
	for (unsigned i = 0; i < 10 && !s->bad; i++) {
		sync_put(s, &x->b, sync_job(&x->b, QUOIT_SYNC_RECEIVE, SMALL));
		CHECK(s, !send_value(&x->a, SMALL, (float)i));
		CHECK(s, !sync_result(&x->b) && has(&x->b, SMALL, (float)i));
		CHECK(s, !send_value(&x->a, BIG, (float)i) && gets(&x->b, BIG, (float)i));
	}
}

static void bystanders_leave(struct stage *s, struct bystanders *x)
{
	bystanders_go_on(s, x);
	sync_leave_two(s, &x->a, &x->b);
	sync_afresh(s);
}

/* ---- budgets ---- */

/* What is asked for is charged, and comes back. */
static void sizes_of_all_sorts(struct stage *s)
{
	static const struct {
		uint64_t messages, bytes;
	} sizes[] = {{0, 0}, {1, 64}, {65536, 64}, {1, 1 << 24}, {65536, 1 << 24}, {0, 64}, {1, 0}};
	uint64_t before, used, limit;
	struct sync_party p;

	if (!open_session(s, &p, 8) || !sync_see_budget(s, &before, &limit))
		return;
	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		const struct sync_words w = queue_of("sizes", sizes[i].messages, sizes[i].bytes),
					other = queue_of("sizes", 7, 128);
		uint32_t number;

		CHECK(s, !sync_ask(&p.c, &w, &p.number));
		CHECK(s, sync_see_budget(s, &used, &limit) && used > before + sizes[i].bytes &&
				 used > before + sizes[i].messages * 8);
		CHECK(s, !sync_ask(&p.c, &other, &number) && number == p.number);
		if (sizes[i].bytes) /* one that is there keeps its sizes */
			CHECK(s, sync_run(&p, QUOIT_SYNC_SEND, BIG) ==
					 (sizes[i].bytes > BYTES ? 0 : -EMSGSIZE));
		CHECK(s, !calling_close(&p.c, number) && !calling_close(&p.c, number));
		sync_await_budget(s, before);
	}
	sync_leave(s, &p);
	sync_afresh(s);
}

static void more_bytes_than_the_budget(struct stage *s)
{
	struct sync_party p;
	struct sync_words w;
	uint64_t used, limit;
	uint32_t number;

	if (!open_session(s, &p, 8) || !sync_see_budget(s, &used, &limit))
		return;
	for (unsigned i = 0; i < 3; i++) {
		w = queue_of("huge", 1, i ? (limit - used + 64) / 64 * 64 : UINT64_C(1) << 40);
		if (i == 2) /* without its messages it would fit */
			w = queue_of("huge", 65536, (limit - used - PAGE) / 64 * 64);
		CHECK(s, sync_ask(&p.c, &w, &number) == -EDQUOT);
		CHECK(s, is_plain(p.c.text) && strstr(p.c.text, "KiB"));
		stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
	}
	sync_await_budget(s, used);
	sync_leave(s, &p);
	sync_afresh(s);
}

/* There is never room for two at once. */
static void large_ones_that_come_and_go(struct stage *s)
{
	uint64_t before, used, limit;
	struct bystanders x;
	struct sync_party p;
	struct sync_words w, second;
	uint32_t number;

	if (!bystanders_come(s, &x) || !open_session(s, &p, 8) ||
	    !sync_see_budget(s, &before, &limit))
		return;
	w = queue_of("large", 100, (limit - before) / 3 * 2 / 64 * 64);
	second = w;
	memcpy(second.name, "second", 7);
	for (unsigned i = 0; i < stage_times(s, 300, 20000) && !s->bad; i++) {
		CHECK(s, !sync_ask(&p.c, &w, &p.number));
		CHECK(s, sync_ask(&p.c, &second, &number) == -EDQUOT);
		stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
		CHECK(s, !send_value(&p, BIG, (float)i));
		if (i % 2)
			CHECK(s, gets(&p, BIG, (float)i));
		CHECK(s, !calling_close(&p.c, p.number));
		sync_await_budget(s, before);
		if (i % 100 == 0)
			bystanders_go_on(s, &x);
	}
	CHECK(s, sync_see_budget(s, &used, &limit) && used == before);
	sync_leave(s, &p);
	bystanders_leave(s, &x);
}

/* ---- jobs ---- */

static void tensors_of_all_sorts(struct stage *s)
{
	static const enum quoit_sync_op ops[] = {QUOIT_SYNC_SEND, QUOIT_SYNC_SEND_ROWS,
						 QUOIT_SYNC_RECEIVE, QUOIT_SYNC_RECEIVE_ROWS,
						 QUOIT_SYNC_PEEK};
	struct sync_party p;
	struct quoit_sqe sqe;

	if (!open_party(s, &p, "q"))
		return;
	for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
		CHECK(s, sync_run(&p, ops[i], 0) == -EBADF);
		CHECK(s, sync_run(&p, ops[i], 120) == -EBADF);
		CHECK(s, sync_run(&p, ops[i], UINT32_MAX) < 0);
		for (unsigned k = 1; k < QUOIT_MAX_TENSORS_PER_JOB; k++) {
			sqe = sync_job(&p, ops[i], SMALL);
			sqe.tensor[k] = SMALL;
			CHECK(s, raw_run(&p.c, sqe) == -EINVAL);
		}
		sqe = sync_job(&p, ops[i], SMALL);
		sqe.device = 1;
		CHECK(s, raw_run(&p.c, sqe) == -ENODEV);
	}
	CHECK(s, sync_run(&p, QUOIT_SYNC_SEND, HUGE) == -EMSGSIZE);
	CHECK(s, sync_run(&p, QUOIT_SYNC_SEND_ROWS, HUGE) == -EMSGSIZE);
	CHECK(s, !send_value(&p, SMALL, 5));
	CHECK(s, sync_run(&p, QUOIT_SYNC_RECEIVE, BIG) == -EMSGSIZE);
	CHECK(s, sync_run(&p, QUOIT_SYNC_RECEIVE, HUGE) == -EMSGSIZE);
	CHECK(s, sync_run(&p, QUOIT_SYNC_RECEIVE_ROWS, HUGE) == -EMSGSIZE);
	sqe = raw_vector(100, N, RAW_ARENA_NOT); /* as many bytes of another type */
	sqe.arg = QUOIT_I32;
	CHECK(s, !raw_run(&p.c, sqe));
	CHECK(s, sync_run(&p, QUOIT_SYNC_RECEIVE, 100) == -EMSGSIZE);
	CHECK(s, gets(&p, SMALL, 5));
	check_room(s, &p);
	sync_leave(s, &p);
	sync_afresh(s);
}

static void jobs_of_other_things(struct stage *s)
{
	const struct sync_words w[] = {
		sync_thing("l", QUOIT_SYNC_LOCK, 0), sync_thing("f", QUOIT_SYNC_FLAG, 0),
		sync_thing("s", QUOIT_SYNC_SEMAPHORE, 1), sync_thing("b", QUOIT_SYNC_BARRIER, 2)};
	struct sync_party p, other;

	if (!open_party(s, &p, "q"))
		return;
	for (unsigned i = 0; i < MESSAGES; i++)
		CHECK(s, !send_value(&p, SMALL, (float)i));
	sync_begin(s, &p, QUOIT_SYNC_SEND, SMALL, 1);
	other = p;
	for (unsigned i = 0; i < sizeof w / sizeof *w; i++) {
		struct quoit_sqe sqe;

		CHECK(s, !sync_ask(&p.c, &w[i], &other.number));
		sqe = sync_job(&other, QUOIT_SYNC_SEND, FIRST + 1); /* the other one is in use */
		sync_put(s, &p, sqe);
		CHECK(s, sync_result(&p) == -EINVAL);
		sync_put(s, &p, sync_job(&other, QUOIT_SYNC_RECEIVE, FIRST + 2));
		CHECK(s, sync_result(&p) == -EINVAL);
		CHECK(s, !calling_close(&p.c, other.number));
	}
	for (unsigned op = 0; op < 256; op++)
		if (op < QUOIT_SYNC_SEND || op > QUOIT_SYNC_PEEK) {
			struct quoit_sqe sqe = sync_job(&p, op, 1);

			if (sqe.tensor[2] == SYNC_FRESH)
				sqe.tensor[2] = FIRST + 3;
			sync_put(s, &p, sqe);
			CHECK(s, sync_result(&p) == -EINVAL);
		}
	sync_put(s, &p, sync_job(&p, QUOIT_SYNC_RECEIVE, FIRST));
	CHECK(s, !sync_result(&p) && !sync_result(&p));
	CHECK(s, drain(s, &p) == MESSAGES);
	check_room(s, &p);
	sync_leave(s, &p);
	sync_afresh(s);
}

/* Its handle goes at once, and its bytes stay for the job. */
static void tensors_that_are_freed_in_flight(struct stage *s)
{
	struct sync_party a, b;

	if (!open_party(s, &a, "q") || !open_party(s, &b, "q"))
		return;
	for (unsigned i = 0; i < MESSAGES; i++)
		CHECK(s, !send_value(&b, SMALL, 1));
	set(&a, FIRST, 7);
	sync_begin(s, &a, QUOIT_SYNC_SEND, FIRST, 1);
	sync_put(s, &a, raw_job(QUOIT_OP_FREE, FIRST, 0, 0));
	CHECK(s, !sync_result(&a));
	for (unsigned i = 0; i < MESSAGES; i++)
		CHECK(s, gets(&b, SMALL, 1));
	CHECK(s, gets(&b, SMALL, 7) && !sync_result(&a));
	sync_begin(s, &a, QUOIT_SYNC_RECEIVE, FIRST + 1, 1);
	sync_put(s, &a, raw_job(QUOIT_OP_FREE, FIRST + 1, 0, 0));
	CHECK(s, !sync_result(&a));
	CHECK(s, !send_value(&b, SMALL, 8));
	CHECK(s, !sync_result(&a) && has(&a, FIRST + 1, 8));
	CHECK(s, sync_run(&a, QUOIT_SYNC_SEND, FIRST) == -EBADF);
	check_room(s, &a);
	sync_leave_two(s, &a, &b);
	sync_afresh(s);
}

/* ---- floods ---- */

static void flood(struct stage *s, struct sync_party *p, enum quoit_sync_op op, unsigned count)
{
	for (unsigned i = 0; i < count && !s->bad; i++)
		sync_put(s, p, sync_job(p, op, FIRST + i % MANY));
}

/* Its messages stay, and so do its calls until it goes; another one's turn comes behind those. */
static void senders_that_fill_it(struct stage *s)
{
	struct sync_party p, steady, receiver;
	struct bystanders x;

	if (!bystanders_come(s, &x))
		return;
	for (unsigned i = 0; i < stage_times(s, 4, 200) && !s->bad; i++) {
		unsigned n = 0;

		if (!open_party(s, &steady, "full") || !open_party(s, &receiver, "full") ||
		    !open_wide(s, &p, "full", WIDE))
			return;
		for (unsigned k = 0; k < MANY; k++)
			set(&p, FIRST + k, 2);
		flood(s, &p, QUOIT_SYNC_SEND, WIDE - 1);
		sync_await_waiting(s, &steady, WIDE - 1 - MESSAGES);
		bystanders_go_on(s, &x);
		set(&steady, SMALL, 1);
		sync_begin(s, &steady, QUOIT_SYNC_SEND, SMALL, WIDE - MESSAGES);
		if (i % 2)
			stage_die(s, &p.c);
		do
			CHECK(s, !sync_run(&receiver, QUOIT_SYNC_RECEIVE, SMALL));
		while (!s->bad && !has(&receiver, SMALL, 1) && n++ < WIDE);
		CHECK(s, n <= 64 && n >= MESSAGES);
		CHECK(s, !sync_result(&steady));
		if (i % 2 == 0)
			sync_leave(s, &p);
		(void)drain(s, &receiver);
		check_room(s, &steady);
		sync_leave_two(s, &steady, &receiver);
	}
	bystanders_leave(s, &x);
}

/* Jobs of a round, each of which may have a deadline; some are cancelled at once, in any order. */
static void receive_and_give_up(struct stage *s, struct sync_party *p, unsigned jobs)
{
	const uint32_t from = p->c.sq.next;

	for (unsigned i = 0; i < jobs; i++) {
		const enum quoit_sync_op op =
			stage_random(s, 2) ? QUOIT_SYNC_RECEIVE : QUOIT_SYNC_RECEIVE_ROWS;
		struct quoit_sqe sqe = sync_job(p, op, FIRST + stage_random(s, MANY));

		sqe.deadline = stage_random(s, 3) ? 0 : 1 + stage_random(s, 20000);
		sync_put(s, p, sqe);
	}
	for (unsigned i = 0; i < jobs / 4; i++)
		(void)cancel(p, from + stage_random(s, jobs));
}

static unsigned cancel_all_and_reap(struct stage *s, struct sync_party *p, unsigned jobs)
{
	const uint32_t from = p->c.sq.next - jobs;
	unsigned received = 0;
	int err;

	for (unsigned i = jobs; i-- > 0 && !s->bad;) {
		while ((err = cancel(p, from + i)) == -EBUSY)
			usleep(100);
		CHECK(s, !err || err == -EALREADY);
	}
	for (unsigned i = 0; i < jobs && !s->bad; i++) {
		int32_t res = sync_result(p);

		CHECK(s, res == -ECANCELED || res == -ETIME || res == 0 || res == 1);
		received += res >= 0;
	}
	return received;
}

/* What one gives up another one gets, and each message comes once. */
static void receivers_that_give_up(struct stage *s)
{
	struct sync_party p, sender;
	struct bystanders x;

	if (!bystanders_come(s, &x) || !open_party(s, &sender, "empty") ||
	    !open_wide(s, &p, "empty", WIDE))
		return;
	for (unsigned round = 0; round < stage_times(s, 4, 200) && !s->bad; round++) {
		const unsigned sent = round % 2 ? MESSAGES : 0;
		unsigned received;

		receive_and_give_up(s, &p, 800);
		for (unsigned i = 0; i < sent; i++)
			CHECK(s, !send_value(&sender, SMALL, 1));
		received = cancel_all_and_reap(s, &p, 800);
		CHECK(s, received + drain(s, &sender) == sent);
		bystanders_go_on(s, &x);
	}
	check_room(s, &sender);
	sync_leave_two(s, &p, &sender);
	bystanders_leave(s, &x);
}

/* A large message has no room; a small one behind it has as soon as the large one is given up. */
static void large_sender_who_gives_up(struct stage *s)
{
	struct sync_party large, small;

	for (unsigned i = 0; i < 4 && !s->bad; i++) {
		struct quoit_sqe sqe;

		if (!open_party(s, &large, "room") || !open_party(s, &small, "room"))
			return;
		for (unsigned k = 0; k < 3; k++)
			CHECK(s, !send_value(&small, BIG, (float)k));
		sqe = sync_job(&large, QUOIT_SYNC_SEND, BIG);
		sqe.deadline = i == 1 ? 100000 : 0;
		sync_put(s, &large, sqe);
		sync_await_waiting(s, &small, 1);
		sync_put(s, &small, sync_job(&small, QUOIT_SYNC_SEND, SMALL));
		CHECK(s, i > 0 || !cancel(&large, large.c.sq.next - 1));
		CHECK(s, i != 2 || !calling_close(&large.c, large.number));
		if (i == 3)
			stage_die(s, &large.c);
		else
			CHECK(s, sync_result(&large) == (i == 1 ? -ETIME : -ECANCELED));
		CHECK(s, !sync_result(&small));
		CHECK(s, drain(s, &small) == 4);
		check_room(s, &small);
		if (i != 3)
			sync_leave(s, &large);
		sync_leave(s, &small);
	}
	sync_afresh(s);
}

/* The first one's data never comes; those behind it, which wait for their turn, end without it. */
static void closed_while_jobs_wait_for_their_turn(struct stage *s)
{
	const struct sync_words w = queue_of("silent", 1, 64);
	struct sync_party p, silent, other;

	if (!open_party(s, &other, "closed"))
		return;
	for (unsigned i = 0; i < stage_times(s, 10, 1000) && !s->bad; i++) {
		if (!open_party(s, &p, "closed"))
			return;
		silent = p;
		CHECK(s, !sync_ask(&p.c, &w, &silent.number));
		sync_put(s, &p, sync_job(&silent, QUOIT_SYNC_RECEIVE, SMALL));
		for (unsigned k = 0; k < 20; k++)
			sync_put(s, &p, sync_job(&p, QUOIT_SYNC_SEND, k ? FIRST + k : SMALL));
		sync_await_waiting(s, &other, 19);
		if (i % 2) {
			CHECK(s, !calling_close(&p.c, p.number));
			for (unsigned k = 1; k < 20; k++)
				CHECK(s, sync_result(&p) == -ECANCELED);
			sync_leave(s, &p);
		} else {
			stage_die(s, &p.c);
		}
		CHECK(s, drain(s, &other) == 0);
	}
	check_room(s, &other);
	sync_leave(s, &other);
	sync_afresh(s);
}

/* ---- deaths ---- */

/* What it has sent stays as long as anybody has the queue. */
static void makers_that_go(struct stage *s)
{
	for (unsigned i = 0; i < stage_times(s, 9, 500) && !s->bad; i++) {
		struct sync_party p[3];

		for (unsigned k = 0; k < 3; k++)
			if (!open_party(s, &p[k], "made"))
				return;
		CHECK(s, !send_value(&p[0], SMALL, 1) && !send_value(&p[0], BIG, 2));
		if (i % 3 == 0)
			stage_die(s, &p[0].c);
		else if (i % 3 == 1)
			sync_leave(s, &p[0]);
		else
			CHECK(s, !calling_close(&p[0].c, p[0].number));
		CHECK(s, gets(&p[1], SMALL, 1) && gets(&p[2], BIG, 2));
		CHECK(s, !send_value(&p[1], BIG, 3) && gets(&p[2], BIG, 3));
		check_room(s, &p[2]);
		if (i % 3 == 2)
			sync_leave(s, &p[0]);
		sync_leave_two(s, &p[1], &p[2]);
	}
	sync_afresh(s);
}

static void dying_jobs(struct stage *s, struct sync_party *p)
{
	for (unsigned i = 0; i < 60; i++) {
		const bool big = stage_random(s, 2);
		struct quoit_sqe sqe =
			sync_job(p, stage_random(s, 2) ? QUOIT_SYNC_SEND : QUOIT_SYNC_RECEIVE,
				 big ? BIG : FIRST + stage_random(s, MANY));

		if (!stage_random(s, 4))
			sqe.deadline = 1 + stage_random(s, 300);
		sync_put(s, p, sqe);
	}
}

/* One that dies may still take some of what is sent; then it has none of it any more. */
static void receive_at_last(struct stage *s, struct sync_party *sender, struct sync_party *receiver)
{
	int32_t res;

	while (raw_cq_tail(&receiver->c) == receiver->c.cq.next && !s->bad) {
		res = run_late(sender, QUOIT_SYNC_SEND, BIG);
		CHECK(s, !res || res == -ETIME);
	}
	res = sync_result(receiver);
	for (unsigned i = 0; res && i < 1000; i++) {
		if (res == -EMSGSIZE) /* a small one is in front */
			(void)run_late(receiver, QUOIT_SYNC_RECEIVE, SMALL);
		else if (CHECK(s, res == -ETIME))
			(void)run_late(sender, QUOIT_SYNC_SEND, BIG);
		res = run_late(receiver, QUOIT_SYNC_RECEIVE, BIG);
	}
	CHECK(s, !res && (has(receiver, BIG, 3) || has(receiver, BIG, 0)));
	(void)drain(s, receiver);
}

static bool open_dying(struct stage *s, struct sync_party *p)
{
	if (!open_party(s, p, "deadly"))
		return false;
	for (unsigned k = 0; k < MANY; k++)
		set(p, FIRST + k, 3);
	set(p, BIG, 3);
	dying_jobs(s, p);
	return !s->bad;
}

/* Another one waits meanwhile, and gets a message, whole. */
static void sessions_that_die_at_any_moment(struct stage *s)
{
	struct sync_party p, sender, receiver;
	struct bystanders x;

	if (!bystanders_come(s, &x) || !open_party(s, &sender, "deadly") ||
	    !open_party(s, &receiver, "deadly"))
		return;
	for (unsigned i = 0; i < stage_times(s, 60, 5000) && !s->bad; i++) {
		if (!open_dying(s, &p))
			return;
		sync_put(s, &receiver, sync_job(&receiver, QUOIT_SYNC_RECEIVE, BIG));
		usleep(stage_random(s, 300));
		if (i % 3)
			(void)cancel(&p, p.c.sq.next - 1 - stage_random(s, 60));
		if (i % 4 == 3)
			CHECK(s, stage_leave(s, &p.c) == QUOIT_DAEMON_CLIENTS_LEFT);
		else
			stage_die(s, &p.c);
		receive_at_last(s, &sender, &receiver);
	}
	check_room(s, &sender);
	sync_leave_two(s, &sender, &receiver);
	bystanders_leave(s, &x);
}

static const struct stage_case cases[] = {
	STAGE_CASE(sizes_of_all_sorts),
	STAGE_CASE(more_bytes_than_the_budget),
	STAGE_CASE(large_ones_that_come_and_go),
	STAGE_CASE(tensors_of_all_sorts),
	STAGE_CASE(jobs_of_other_things),
	STAGE_CASE(tensors_that_are_freed_in_flight),
	STAGE_CASE(senders_that_fill_it),
	STAGE_CASE(receivers_that_give_up),
	STAGE_CASE(large_sender_who_gives_up),
	STAGE_CASE(closed_while_jobs_wait_for_their_turn),
	STAGE_CASE(makers_that_go),
	STAGE_CASE(sessions_that_die_at_any_moment),
};

/* ---- holes ---- */

/* The last page of the large tensor, behind parts that can be copied. */
static void punch(const struct sync_party *p)
{
	uint8_t *page = p->c.arena + (BIG_AT + BIG_N * 4) / PAGE * PAGE;

	(void)madvise(page, PAGE, MADV_REMOVE);
}

/* Its job has failed, or its session has ended by then. */
static void expect_vanished(struct stage *s, struct sync_party *p, int32_t res)
{
	CHECK(s, res == -EFAULT || res == -ECONNRESET || res == -ECANCELED);
	stage_await_end(s, &p->c, QUOIT_DAEMON_KILL_MEM_VANISHED);
}

static void holes_in_what_is_sent(struct stage *s)
{
	struct sync_party p, sender, receiver;

	if (!open_party(s, &sender, "holes") || !open_party(s, &receiver, "holes"))
		return;
	for (unsigned i = 0; i < stage_times(s, 20, 1000) && !s->bad; i++) {
		if (!open_party(s, &p, "holes"))
			return;
		if (i % 2)
			sync_put(s, &receiver, sync_job(&receiver, QUOIT_SYNC_RECEIVE, BIG));
		CHECK(s, i % 2 || !send_value(&sender, BIG, 1));
		set(&p, BIG, 2);
		punch(&p);
		expect_vanished(s, &p, sync_run(&p, QUOIT_SYNC_SEND, BIG));
		CHECK(s, i % 2 == 0 || !send_value(&sender, BIG, 1));
		CHECK(s, i % 2 ? !sync_result(&receiver) && has(&receiver, BIG, 1)
			       : gets(&receiver, BIG, 1));
		CHECK(s, !send_value(&sender, SMALL, 4) && gets(&receiver, SMALL, 4));
	}
	check_room(s, &sender);
	sync_leave_two(s, &sender, &receiver);
	sync_afresh(s);
}

/* The next one gets the message whole. */
static void holes_in_what_receives(struct stage *s)
{
	struct sync_party p, sender, receiver;

	if (!open_party(s, &sender, "holes") || !open_party(s, &receiver, "holes"))
		return;
	for (unsigned i = 0; i < stage_times(s, 20, 1000) && !s->bad; i++) {
		if (!open_party(s, &p, "holes"))
			return;
		CHECK(s, !send_value(&sender, BIG, (float)i));
		CHECK(s, !send_value(&sender, SMALL, 4));
		punch(&p);
		expect_vanished(s, &p, sync_run(&p, QUOIT_SYNC_RECEIVE, BIG));
		CHECK(s, gets(&receiver, BIG, (float)i) && gets(&receiver, SMALL, 4));
	}
	check_room(s, &sender);
	sync_leave_two(s, &sender, &receiver);
	sync_afresh(s);
}

struct puncher {
	const struct sync_party *p;
	_Atomic bool stop;
	uint32_t after_us;
};

static void *punch_later(void *arg)
{
	struct puncher *u = arg;

	usleep(u->after_us);
	while (!u->stop) {
		punch(u->p);
		usleep(50);
	}
	return NULL;
}

/* All that it was told it had sent is there, and at most the one message more. */
static void holes_at_any_moment(struct stage *s)
{
	struct sync_party p, receiver;
	pthread_t thread;

	if (!open_party(s, &receiver, "holes"))
		return;
	for (unsigned i = 0; i < stage_times(s, 20, 1000) && !s->bad; i++) {
		struct puncher u = {.p = &p, .after_us = stage_random(s, 500)};
		unsigned sent = 0, there;
		int32_t res = 0;

		if (!open_party(s, &p, "holes"))
			return;
		set(&p, BIG, 2);
		pthread_create(&thread, NULL, punch_later, &u);
		for (; sent < 3 && !(res = sync_run(&p, QUOIT_SYNC_SEND, BIG)); sent++)
			;
		u.stop = true;
		pthread_join(thread, NULL);
		if (res)
			expect_vanished(s, &p, res);
		else
			stage_die(s, &p.c);
		there = drain(s, &receiver);
		CHECK(s, there == sent || (res == -ECONNRESET && there == sent + 1));
	}
	check_room(s, &receiver);
	sync_leave(s, &receiver);
	sync_afresh(s);
}

static const struct stage_case holes[] = {
	STAGE_CASE(holes_in_what_is_sent),
	STAGE_CASE(holes_in_what_receives),
	STAGE_CASE(holes_at_any_moment),
};

int main(int argc, char **argv)
{
	/* so that calls travel from reactor to reactor */
	static const char *const options[] = {"--reactors=3", NULL};
	static const char *const lax[] = {"--reactors=3", "--lax-memory", NULL};
	const struct stage_scene scene = {.options = options},
				 removable = {.options = lax, .prepare = scene_without_seals};
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	stage_play(&s, &scene, cases, sizeof cases / sizeof *cases);
	stage_play(&s, &removable, holes, sizeof holes / sizeof *holes);
	return stage_end(&s);
}
