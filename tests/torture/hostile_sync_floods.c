/* SPDX-License-Identifier: MIT */
/*
 * hostile_sync_floods.c - thousands of jobs at locks, flags and semaphores, and things that come and
 * go all the time: cases 103, 109 and 112 of the threat model
 *
 * Meanwhile others use the same and other things, and what they get is checked.  After each case new
 * sessions and new things must work, besides what the stage looks at.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl_client.h"
#include "serving.h"
#include "syncing.h"

#define KINDS (QUOIT_SYNC_TENSOR - QUOIT_SYNC_LOCK) /* all that SYNC makes */
#define WIDE  4096u                                 /* entries of a flood's ring */

/* ---- bystanders ---- */

/* Two sessions that hand a lock to each other. */
struct bystanders {
	struct sync_party a, b;
};

static bool bystanders_come(struct stage *s, struct bystanders *x)
{
	const struct sync_words w = sync_thing("bystanders", QUOIT_SYNC_LOCK, 0);

	return sync_open(s, &x->a, w) && sync_open(s, &x->b, w);
}

static void bystanders_go_on(struct stage *s, struct bystanders *x)
{
	for (unsigned i = 0; i < 20 && !s->bad; i++) {
		CHECK(s, !sync_run(&x->a, QUOIT_SYNC_LOCK_IT, 0));
		sync_put(s, &x->b, sync_job(&x->b, QUOIT_SYNC_LOCK_IT, 0));
		CHECK(s, !sync_run(&x->a, QUOIT_SYNC_UNLOCK, 0));
		CHECK(s, !sync_result(&x->b));
		CHECK(s, sync_run(&x->a, QUOIT_SYNC_UNLOCK, 0) == -EPERM);
		CHECK(s, !sync_run(&x->b, QUOIT_SYNC_UNLOCK, 0));
	}
}

static void bystanders_leave(struct stage *s, struct bystanders *x)
{
	bystanders_go_on(s, x);
	sync_leave_two(s, &x->a, &x->b);
	sync_afresh(s);
}

/* ---- floods ---- */

static void flood(struct stage *s, struct sync_party *p, enum quoit_sync_op op, uint64_t n,
		  unsigned count)
{
	for (unsigned i = 0; i < count && !s->bad; i++) {
		struct quoit_sqe sqe = sync_job(p, op, n);

		sqe.user_data = i;
		sync_put(s, p, sqe);
	}
}

static int cancel(struct sync_party *p, uint32_t sq_index)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL,
			      .job = {.ring = p->c.ring, .sq_index = sq_index}};

	return raw_call_with(&p->c, &m, -1, NULL);
}

static bool has_result(const struct sync_party *p)
{
	return raw_cq_tail(&p->c) != p->c.cq.next;
}

/* One of them gets the lock next; if it is the first, it gives it back. */
static bool take_turn(struct stage *s, struct sync_party *first, const struct sync_party *second)
{
	for (unsigned n = 0; !has_result(first); n++) {
		if (has_result(second) || !CHECK(s, n < 100 * SYNC_PATIENCE_MS))
			return false;
		usleep(10);
	}
	CHECK(s, !sync_result(first));
	CHECK(s, !sync_run(first, QUOIT_SYNC_UNLOCK, 0));
	return true;
}

static void those_who_wait_for_a_lock(struct stage *s)
{
	const struct sync_words w = sync_thing("crowded", QUOIT_SYNC_LOCK, 0);
	const unsigned jobs = stage_times(s, 3000, 3000);
	struct sync_party p, holder;
	struct bystanders x;
	unsigned passed = 0;

	if (!bystanders_come(s, &x) || !sync_open(s, &holder, w) || !sync_open_wide(s, &p, w, WIDE))
		return;
	CHECK(s, !sync_run(&holder, QUOIT_SYNC_LOCK_IT, 0));
	flood(s, &p, QUOIT_SYNC_LOCK_IT, 0, jobs);
	bystanders_go_on(s, &x);
	sync_await_waiting(s, &holder, jobs);
	CHECK(s, !sync_run(&holder, QUOIT_SYNC_UNLOCK, 0));
	/* each unlock passes all that wait, and gives the lock to the next one */
	for (unsigned i = 0; i < jobs && !s->bad; i++) {
		if (i == jobs / 2) /* it stands behind those at the lock, and not behind all */
			sync_put(s, &holder, sync_job(&holder, QUOIT_SYNC_LOCK_IT, 0));
		if (i >= jobs / 2 && !passed && take_turn(s, &holder, &p))
			passed = i - jobs / 2;
		CHECK(s, !sync_result(&p));
		sync_put(s, &p, sync_job(&p, QUOIT_SYNC_UNLOCK, 0));
		CHECK(s, !sync_result(&p));
	}
	CHECK(s, passed && passed <= 64);
	sync_leave(s, &p);
	CHECK(s, !sync_run(&holder, QUOIT_SYNC_LOCK_IT, 0));
	sync_leave(s, &holder);
	bystanders_leave(s, &x);
}

static void those_who_wait_for_a_flag(struct stage *s)
{
	const struct sync_words w = sync_thing("crowded", QUOIT_SYNC_FLAG, 0);
	struct sync_party p[3], setter;
	struct bystanders x;

	if (!bystanders_come(s, &x) || !sync_open(s, &setter, w))
		return;
	for (unsigned i = 0; i < 3; i++) {
		if (!sync_open_wide(s, &p[i], w, WIDE))
			return;
		flood(s, &p[i], QUOIT_SYNC_WAIT_FLAG, 0, WIDE - 1);
	}
	sync_await_waiting(s, &setter, 3 * (WIDE - 1));
	bystanders_go_on(s, &x);
	CHECK(s, !sync_run(&setter, QUOIT_SYNC_SET_FLAG, 0));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(s, raw_reap_good(&p[i].c, WIDE - 1));
		sync_leave(s, &p[i]);
	}
	sync_leave(s, &setter);
	bystanders_leave(s, &x);
}

static void those_who_take(struct stage *s)
{
	const struct sync_words w = sync_thing("crowded", QUOIT_SYNC_SEMAPHORE, 0);
	struct sync_party p, giver;
	struct bystanders x;
	unsigned given = 0, n;

	if (!bystanders_come(s, &x) || !sync_open(s, &giver, w) || !sync_open_wide(s, &p, w, WIDE))
		return;
	flood(s, &p, QUOIT_SYNC_TAKE, 1, 1000);
	sync_await_waiting(s, &giver, 1000);
	for (; given < 1000; given += n) {
		n = 1 + stage_random(s, 100);
		n = n < 1000 - given ? n : 1000 - given;
		CHECK(s, !sync_run(&giver, QUOIT_SYNC_GIVE, n));
		CHECK(s, raw_reap_good(&p.c, n));
		sync_await_waiting(s, &giver, 1000 - given - n);
		CHECK(s, raw_cq_tail(&p.c) == p.c.cq.next);
	}
	bystanders_go_on(s, &x);
	sync_leave(s, &p);
	sync_leave(s, &giver);
	bystanders_leave(s, &x);
}

/* Each job ends once: with the lock, or cancelled, or late. */
static void those_who_give_up(struct stage *s)
{
	const struct sync_words w = sync_thing("crowded", QUOIT_SYNC_LOCK, 0);
	const unsigned rounds = stage_times(s, 5, 200);
	struct sync_party p, holder;
	struct quoit_sqe unlock;
	struct quoit_cqe cqe;
	struct bystanders x;

	if (!bystanders_come(s, &x) || !sync_open(s, &holder, w) || !sync_open_wide(s, &p, w, WIDE))
		return;
	unlock = sync_job(&p, QUOIT_SYNC_UNLOCK, 0);
	unlock.flags = QUOIT_SQE_QUIET;
	for (unsigned round = 0; round < rounds && !s->bad; round++) {
		const uint32_t from = p.c.sq.next;

		CHECK(s, !sync_run(&holder, QUOIT_SYNC_LOCK_IT, 0));
		for (unsigned i = 0; i < 500; i++) {
			struct quoit_sqe sqe = sync_job(&p, QUOIT_SYNC_LOCK_IT, 0);

			sqe.deadline = stage_random(s, 2) ? 1 + stage_random(s, 20000) : 0;
			sync_put(s, &p, sqe);
		}
		for (unsigned i = 0; i < 100; i++)
			(void)cancel(&p, from + stage_random(s, 500));
		if (round % 2)
			sync_put(s, &holder, sync_job(&holder, QUOIT_SYNC_UNLOCK, 0));
		for (unsigned i = 0; i < 500; i++) {
			int err;

			while ((err = cancel(&p, from + i)) == -EBUSY)
				usleep(100);
			CHECK(s, !err || err == -EALREADY);
		}
		if (round % 2)
			CHECK(s, !sync_result(&holder));
		for (unsigned i = 0; i < 500 && !s->bad; i++) {
			CHECK(s, !raw_reap(&p.c, SYNC_PATIENCE_MS, &cqe, NULL));
			CHECK(s, cqe.res == -ECANCELED || cqe.res == -ETIME || !cqe.res);
			if (!cqe.res && CHECK(s, round % 2))
				sync_put(s, &p, unlock);
		}
		if (!(round % 2))
			CHECK(s, !sync_run(&holder, QUOIT_SYNC_UNLOCK, 0));
		bystanders_go_on(s, &x);
	}
	CHECK(s, !sync_run(&holder, QUOIT_SYNC_LOCK_IT, 0));
	sync_leave(s, &p);
	sync_leave(s, &holder);
	bystanders_leave(s, &x);
}

/* A large wish is in front of a small one, and is cancelled, or late. */
static void large_taker_who_gives_up(struct stage *s)
{
	const struct sync_words w = sync_thing("wishes", QUOIT_SYNC_SEMAPHORE, 1);
	struct sync_party large, small;

	if (!sync_open(s, &large, w) || !sync_open(s, &small, w))
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct quoit_sqe sqe = sync_job(&large, QUOIT_SYNC_TAKE, 2);

		sqe.deadline = i ? 100000 : 0;
		sync_put(s, &large, sqe);
		sync_await_waiting(s, &large, 1);
		sync_put(s, &small, sync_job(&small, QUOIT_SYNC_TAKE, 1));
		CHECK(s, i || !cancel(&large, large.c.sq.next - 1));
		CHECK(s, sync_result(&large) == (i ? -ETIME : -ECANCELED));
		CHECK(s, !sync_result(&small));
		CHECK(s, !sync_run(&small, QUOIT_SYNC_GIVE, 1));
	}
	sync_leave_two(s, &large, &small);
	sync_afresh(s);
}

/* ---- sessions that die at any moment ---- */

static void dying_jobs(struct stage *s, struct sync_party *p)
{
	static const enum quoit_sync_op ops[] = {QUOIT_SYNC_LOCK_IT, QUOIT_SYNC_UNLOCK,
						 QUOIT_SYNC_WAIT_CONDITION, QUOIT_SYNC_NOTIFY};

	for (unsigned i = 0; i < 100; i++) {
		struct quoit_sqe sqe = sync_job(p, ops[stage_random(s, 4)], 1);

		if (stage_random(s, 2))
			sqe.tensor[0] = SYNC_TENSOR;
		if (!stage_random(s, 4))
			sqe.deadline = 1 + stage_random(s, 300);
		sync_put(s, p, sqe);
	}
}

static void sessions_that_die_at_any_moment(struct stage *s)
{
	const struct sync_words w =
		sync_flagged(sync_thing("deadly", QUOIT_SYNC_LOCK, 0), QUOIT_SYNC_RECURSIVE);
	struct sync_party p, steady;
	struct bystanders x;
	int32_t res;

	if (!bystanders_come(s, &x) || !sync_open(s, &steady, w))
		return;
	for (unsigned i = 0; i < stage_times(s, 60, 5000) && !s->bad; i++) {
		if (!sync_open(s, &p, w))
			return;
		dying_jobs(s, &p);
		sync_put(s, &steady, sync_job(&steady, QUOIT_SYNC_LOCK_IT, 0));
		usleep(stage_random(s, 300));
		if (i % 3)
			(void)cancel(&p, p.c.sq.next - 1 - stage_random(s, 100));
		if (i % 4 == 3)
			CHECK(s, stage_leave(s, &p.c) == QUOIT_DAEMON_CLIENTS_LEFT);
		else
			stage_die(s, &p.c);
		res = sync_result(&steady);
		CHECK(s, !res || res == QUOIT_OWNER_DIED);
		CHECK(s, !sync_run(&steady, QUOIT_SYNC_UNLOCK, 0));
	}
	sync_leave(s, &steady);
	bystanders_leave(s, &x);
}

/*
 * Its taking is granted, cancelled, and its end comes, all at once.  What it had comes back, as the
 * semaphore undoes.
 */
static void takers_that_die_at_any_moment(struct stage *s)
{
	const struct sync_words w =
		sync_flagged(sync_thing("deadly", QUOIT_SYNC_SEMAPHORE, 8), QUOIT_SYNC_UNDO);
	struct sync_party p, steady;

	if (!sync_open(s, &steady, w))
		return;
	for (unsigned i = 0; i < stage_times(s, 60, 5000) && !s->bad; i++) {
		if (!sync_open(s, &p, w))
			return;
		CHECK(s, !sync_run(&steady, QUOIT_SYNC_TAKE, 6));
		for (unsigned k = 0; k < 20; k++) {
			struct quoit_sqe sqe = sync_job(&p, QUOIT_SYNC_TAKE, 1);

			sqe.deadline = k % 4 ? 0 : 1 + stage_random(s, 300);
			sync_put(s, &p, sqe);
		}
		usleep(stage_random(s, 300));
		sync_put(s, &steady, sync_job(&steady, QUOIT_SYNC_GIVE, 6));
		if (i % 2)
			(void)cancel(&p, p.c.sq.next - 1 - stage_random(s, 20));
		stage_die(s, &p.c);
		CHECK(s, !sync_result(&steady));
		CHECK(s, !sync_run(&steady, QUOIT_SYNC_TAKE, 8));
		sync_begin(s, &steady, QUOIT_SYNC_TAKE, 1, 1); /* there is no ninth */
		CHECK(s, !cancel(&steady, steady.c.sq.next - 1));
		CHECK(s, sync_result(&steady) == -ECANCELED);
		CHECK(s, !sync_run(&steady, QUOIT_SYNC_GIVE, 8));
	}
	sync_leave(s, &steady);
	sync_afresh(s);
}

/* ---- names that come and go ---- */

static void things_that_come_and_go(struct stage *s)
{
	const struct raw_wish wish = {.host_bytes = 1 << 20, .sq_entries = 8};
	struct bystanders x;
	struct raw_client c;
	char name[QUOIT_NAME_BYTES];
	uint32_t number;

	if (!bystanders_come(s, &x) || !stage_open(s, &c, &wish))
		return;
	for (unsigned i = 0; i < stage_times(s, 2000, 100000) && !s->bad; i++) {
		const unsigned kind = QUOIT_SYNC_LOCK + i % KINDS;
		struct sync_words w;

		snprintf(name, sizeof name, "fleeting%u", i % 100);
		w = sync_thing(name, kind, kind == QUOIT_SYNC_BARRIER);
		CHECK(s, !sync_ask(&c, &w, &number));
		CHECK(s, !calling_close(&c, number));
		if (i % 500 == 0)
			bystanders_go_on(s, &x);
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	bystanders_leave(s, &x);
}

/* When the last one that had it open is told that it has closed it, the name is free. */
static void names_of_what_is_closed(struct stage *s)
{
	struct sync_party p[3];

	for (unsigned i = 0; i < stage_times(s, 50, 5000) && !s->bad; i++) {
		const unsigned kind = QUOIT_SYNC_LOCK + i % KINDS;
		const struct sync_words w =
			sync_thing("again", kind, kind == QUOIT_SYNC_BARRIER ? 3 : 0);

		if (!sync_open(s, &p[0], sync_flagged(w, QUOIT_SYNC_MUST_BE_NEW)) ||
		    !sync_open(s, &p[1], w) || !sync_open(s, &p[2], w))
			return;
		for (unsigned k = 0; k < 3; k++) {
			if (i / KINDS % 2)
				CHECK(s, !calling_close(&p[k].c, p[k].number));
			sync_leave(s, &p[k]);
		}
	}
	sync_afresh(s);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(those_who_wait_for_a_lock),
		STAGE_CASE(those_who_wait_for_a_flag),
		STAGE_CASE(those_who_take),
		STAGE_CASE(those_who_give_up),
		STAGE_CASE(large_taker_who_gives_up),
		STAGE_CASE(sessions_that_die_at_any_moment),
		STAGE_CASE(takers_that_die_at_any_moment),
		STAGE_CASE(things_that_come_and_go),
		STAGE_CASE(names_of_what_is_closed),
	};
	/* so that calls travel from reactor to reactor */
	static const char *const options[] = {"--reactors=3", NULL};
	static const struct stage_scene scene = {.options = options};

	return stage_main(argc, argv, &scene, cases, sizeof cases / sizeof *cases);
}
