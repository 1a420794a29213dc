/* SPDX-License-Identifier: MIT */
/*
 * hostile_sync.c - parties of locks, flags, semaphores and barriers that go, flood, and cancel: cases
 * 109 and 112 of the threat model
 *
 * After each case new sessions and new things must work, besides what the stage looks at.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ctl_client.h"
#include "serving.h"
#include "syncing.h"

/* ---- parties that go ---- */

enum going { DIES, LEAVES, CLOSES, KILLED, BREAKS, GOINGS };

static void kill_session(struct stage *s, struct sync_party *p)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_KILL, .end.session = p->c.info.session};
	struct raw_client other;

	if (!CHECK(s, !raw_connect(&other, s->daemon.socket)))
		return;
	CHECK(s, !raw_call_with(&other, &m, -1, NULL));
	ctl_leave(s, &other);
	ctl_expect_end(s, &p->c, QUOIT_DAEMON_KILL_ASKED, "");
}

/* What waits at a thing that is closed fails, unless it was granted just before. */
static void close_thing(struct stage *s, struct sync_party *p, unsigned jobs)
{
	CHECK(s, !calling_close(&p->c, p->number));
	while (jobs--) {
		int32_t res = sync_result(p);

		CHECK(s, res == -ECANCELED || res == -ENOLCK || res >= 0);
	}
	sync_leave(s, p);
}

/* So many jobs of it have not ended. */
static void go(struct stage *s, struct sync_party *p, enum going how, unsigned jobs)
{
	const struct quoit_ctl garbage = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_HELLO};

	switch (how) {
	case DIES:
		stage_die(s, &p->c);
		break;
	case LEAVES:
		sync_leave(s, p);
		break;
	case CLOSES:
		close_thing(s, p, jobs);
		break;
	case KILLED:
		kill_session(s, p);
		break;
	default:
		CHECK(s, !ctl_put(p->c.socket, &garbage, sizeof garbage, NULL, 0));
		ctl_expect_end(s, &p->c, QUOIT_DAEMON_KILL_PROTO, "");
		break;
	}
}

/* Play a scene for each way to go, so often. */
static void for_each_way(struct stage *s, void (*scene)(struct stage *s, enum going how))
{
	for (unsigned i = 0; i < stage_times(s, 2, 100) * GOINGS && !s->bad; i++)
		scene(s, i % GOINGS);
	sync_afresh(s);
}

static bool open_three(struct stage *s, struct sync_party p[3], struct sync_words w)
{
	return sync_open_new(s, &p[0], w) && sync_open(s, &p[1], w) && sync_open(s, &p[2], w);
}

static bool open_locks(struct stage *s, struct sync_party p[3])
{
	return open_three(s, p, sync_thing("l", QUOIT_SYNC_LOCK, 0));
}

/* The first has the lock, and the others wait for it. */
static bool open_held(struct stage *s, struct sync_party p[3])
{
	if (!open_locks(s, p) || !CHECK(s, !sync_run(&p[0], QUOIT_SYNC_LOCK_IT, 0)))
		return false;
	sync_begin(s, &p[1], QUOIT_SYNC_LOCK_IT, 0, 1);
	sync_begin(s, &p[2], QUOIT_SYNC_LOCK_IT, 0, 2);
	return true;
}

static void holder(struct stage *s, enum going how)
{
	struct sync_party p[3];

	if (!open_held(s, p))
		return;
	go(s, &p[0], how, 0);
	CHECK(s, sync_result(&p[1]) == QUOIT_OWNER_DIED);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_result(&p[2])); /* it is told once */
	sync_leave(s, &p[1]);
	CHECK(s, !sync_run(&p[2], QUOIT_SYNC_UNLOCK, 0));
	sync_leave(s, &p[2]);
}

static void holders(struct stage *s)
{
	for_each_way(s, holder);
}

static void recursive_holder(struct stage *s, enum going how)
{
	const struct sync_words w =
		sync_flagged(sync_thing("r", QUOIT_SYNC_LOCK, 0), QUOIT_SYNC_RECURSIVE);
	struct sync_party p[3];

	if (!open_three(s, p, w))
		return;
	for (unsigned i = 0; i < 16; i++)
		CHECK(s, !sync_run(&p[0], QUOIT_SYNC_LOCK_IT, 0));
	sync_begin(s, &p[1], QUOIT_SYNC_LOCK_IT, 0, 1);
	go(s, &p[0], how, 0);
	CHECK(s, sync_result(&p[1]) == QUOIT_OWNER_DIED);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_LOCK_IT, 0));
	sync_begin(s, &p[2], QUOIT_SYNC_LOCK_IT, 0, 1);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_UNLOCK, 0));
	sync_await_waiting(s, &p[2], 1);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_result(&p[2]));
	sync_leave_two(s, &p[1], &p[2]);
}

static void recursive_holders(struct stage *s)
{
	for_each_way(s, recursive_holder);
}

static void waiter(struct stage *s, enum going how)
{
	struct sync_party p[3];

	if (!open_held(s, p))
		return;
	go(s, &p[1], how, 1);
	sync_await_waiting(s, &p[2], 1);
	CHECK(s, !sync_run(&p[0], QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_result(&p[2])); /* nobody has died with the lock */
	sync_leave_two(s, &p[0], &p[2]);
}

static void waiters(struct stage *s)
{
	for_each_way(s, waiter);
}

/* The lock is granted to it while it goes: it is lost in neither case. */
static void one_that_is_granted(struct stage *s, enum going how)
{
	struct sync_party p[3];
	int32_t res;

	if (!open_held(s, p))
		return;
	sync_put(s, &p[0], sync_job(&p[0], QUOIT_SYNC_UNLOCK, 0));
	usleep(stage_random(s, 100));
	go(s, &p[1], how, 1);
	res = sync_result(&p[2]);
	CHECK(s, !res || res == QUOIT_OWNER_DIED);
	CHECK(s, !sync_result(&p[0]));
	CHECK(s, !sync_run(&p[2], QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_run(&p[0], QUOIT_SYNC_LOCK_IT, 0));
	sync_leave_two(s, &p[0], &p[2]);
}

static void those_that_are_just_granted(struct stage *s)
{
	for (unsigned i = 0; i < 4; i++)
		for_each_way(s, one_that_is_granted);
}

static void condition_waiter(struct stage *s, enum going how)
{
	struct sync_party p[3];

	if (!open_locks(s, p))
		return;
	for (unsigned i = 0; i < 2; i++) {
		CHECK(s, !sync_run(&p[i], QUOIT_SYNC_LOCK_IT, 0));
		sync_begin(s, &p[i], QUOIT_SYNC_WAIT_CONDITION, 3, i + 1);
	}
	CHECK(s, !sync_run(&p[2], QUOIT_SYNC_LOCK_IT, 0));
	go(s, &p[0], how, 1);
	sync_await_waiting(s, &p[2], 1);
	CHECK(s, !raw_run(&p[2].c, sync_notify(&p[2], 3, 1)));
	CHECK(s, !sync_run(&p[2], QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_result(&p[1]));
	CHECK(s, sync_run(&p[2], QUOIT_SYNC_UNLOCK, 0) == -EPERM);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_UNLOCK, 0));
	sync_leave_two(s, &p[1], &p[2]);
}

static void waiters_for_a_condition(struct stage *s)
{
	for_each_way(s, condition_waiter);
}

/* It has been notified, and goes before it has the lock. */
static void notified_waiter(struct stage *s, enum going how)
{
	struct sync_party p[3];

	if (!open_locks(s, p))
		return;
	CHECK(s, !sync_run(&p[0], QUOIT_SYNC_LOCK_IT, 0));
	sync_begin(s, &p[0], QUOIT_SYNC_WAIT_CONDITION, 0, 1);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_LOCK_IT, 0));
	CHECK(s, !raw_run(&p[1].c, sync_notify(&p[1], 0, UINT64_MAX)));
	sync_begin(s, &p[2], QUOIT_SYNC_LOCK_IT, 0, 2);
	go(s, &p[0], how, 1);
	sync_await_waiting(s, &p[2], 1);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_result(&p[2]));
	sync_leave_two(s, &p[1], &p[2]);
}

static void waiters_that_were_notified(struct stage *s)
{
	for_each_way(s, notified_waiter);
}

static void taker(struct stage *s, enum going how, uint16_t flags)
{
	struct sync_party p[3];

	if (!open_three(s, p, sync_flagged(sync_thing("s", QUOIT_SYNC_SEMAPHORE, 5), flags)))
		return;
	CHECK(s, !sync_run(&p[0], QUOIT_SYNC_TAKE, 3));
	CHECK(s, !sync_run(&p[0], QUOIT_SYNC_GIVE, 1)); /* it has two */
	sync_begin(s, &p[1], QUOIT_SYNC_TAKE, 5, 1);
	go(s, &p[0], how, 0);
	if (!(flags & QUOIT_SYNC_UNDO))
		CHECK(s, !sync_run(&p[2], QUOIT_SYNC_GIVE, 2));
	CHECK(s, !sync_result(&p[1]));
	sync_begin(s, &p[2], QUOIT_SYNC_TAKE, 1, 1); /* there is no sixth */
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_GIVE, 1));
	CHECK(s, !sync_result(&p[2]));
	sync_leave_two(s, &p[1], &p[2]);
}

static void taker_who_undoes(struct stage *s, enum going how)
{
	taker(s, how, QUOIT_SYNC_UNDO);
}

static void taker_who_does_not(struct stage *s, enum going how)
{
	taker(s, how, 0);
}

static void takers(struct stage *s)
{
	for_each_way(s, taker_who_undoes);
	for_each_way(s, taker_who_does_not);
}

/* A large wish is in front of a small one, and goes. */
static void large_taker(struct stage *s, enum going how)
{
	struct sync_party p[3];

	if (!open_three(s, p, sync_thing("s", QUOIT_SYNC_SEMAPHORE, 1)))
		return;
	sync_begin(s, &p[0], QUOIT_SYNC_TAKE, 2, 1);
	sync_begin(s, &p[1], QUOIT_SYNC_TAKE, 1, 2);
	go(s, &p[0], how, 1);
	CHECK(s, !sync_result(&p[1]));
	CHECK(s, !sync_run(&p[2], QUOIT_SYNC_GIVE, 1));
	CHECK(s, !sync_run(&p[2], QUOIT_SYNC_TAKE, 1));
	sync_leave_two(s, &p[1], &p[2]);
}

static void takers_in_front(struct stage *s)
{
	for_each_way(s, large_taker);
}

static void flag_waiter(struct stage *s, enum going how)
{
	struct sync_party p[3];

	if (!open_three(s, p, sync_thing("f", QUOIT_SYNC_FLAG, 0)))
		return;
	sync_begin(s, &p[0], QUOIT_SYNC_WAIT_FLAG, 0, 1);
	sync_begin(s, &p[1], QUOIT_SYNC_WAIT_FLAG, 0, 2);
	go(s, &p[0], how, 1);
	sync_await_waiting(s, &p[1], 1);
	CHECK(s, !sync_run(&p[2], QUOIT_SYNC_SET_FLAG, 0));
	CHECK(s, !sync_result(&p[1]));
	sync_leave(s, &p[2]);
	CHECK(s, !sync_run(&p[1], QUOIT_SYNC_WAIT_FLAG, 0));
	sync_leave(s, &p[1]);
}

static void waiters_for_a_flag(struct stage *s)
{
	for_each_way(s, flag_waiter);
}

/* Who did not wait when a party died is told when it arrives. */
static int32_t arrive(struct sync_party *p)
{
	int32_t res = sync_run(p, QUOIT_SYNC_ARRIVE, 0);

	return res == -EOWNERDEAD ? sync_run(p, QUOIT_SYNC_ARRIVE, 0) : res;
}

/* Those who wait are told, and the next round is whole. */
static void party_of_a_barrier(struct stage *s, enum going how, bool has_come)
{
	struct sync_party p[3], other;

	if (!open_three(s, p, sync_thing("b", QUOIT_SYNC_BARRIER, 3)))
		return;
	if (has_come)
		sync_begin(s, &p[0], QUOIT_SYNC_ARRIVE, 0, 1);
	sync_begin(s, &p[1], QUOIT_SYNC_ARRIVE, 0, has_come + 1u);
	go(s, &p[0], how, has_come);
	if (how == CLOSES && has_come) { /* its job is withdrawn first: it gives up */
		int32_t res = sync_result(&p[1]);

		CHECK(s, res == -EPIPE || res == -EOWNERDEAD);
	} else if (has_come && how == LEAVES) {
		CHECK(s, sync_result(&p[1]) < 0);
	} else {
		CHECK(s, sync_result(&p[1]) == -EOWNERDEAD);
	}
	if (!sync_open(s, &other, sync_thing("b", QUOIT_SYNC_BARRIER, 3)))
		return;
	sync_begin(s, &other, QUOIT_SYNC_ARRIVE, 0, 1);
	sync_begin(s, &p[1], QUOIT_SYNC_ARRIVE, 0, 2);
	CHECK(s, arrive(&p[2]) == 2);
	CHECK(s, sync_result(&p[1]) == 1 && sync_result(&other) == 0);
	sync_leave(s, &other);
	sync_leave_two(s, &p[1], &p[2]);
}

static void party_that_has_come(struct stage *s, enum going how)
{
	party_of_a_barrier(s, how, true);
}

static void party_that_has_not(struct stage *s, enum going how)
{
	party_of_a_barrier(s, how, false);
}

static void parties_of_a_barrier(struct stage *s)
{
	for_each_way(s, party_that_has_come);
	for_each_way(s, party_that_has_not);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(holders),
		STAGE_CASE(recursive_holders),
		STAGE_CASE(waiters),
		STAGE_CASE(those_that_are_just_granted),
		STAGE_CASE(waiters_for_a_condition),
		STAGE_CASE(waiters_that_were_notified),
		STAGE_CASE(takers),
		STAGE_CASE(takers_in_front),
		STAGE_CASE(waiters_for_a_flag),
		STAGE_CASE(parties_of_a_barrier),
	};
	/* so that calls travel from reactor to reactor */
	static const char *const options[] = {"--reactors=3", NULL};
	static const struct stage_scene scene = {.options = options};

	return stage_main(argc, argv, &scene, cases, sizeof cases / sizeof *cases);
}
