/* SPDX-License-Identifier: MIT */
/*
 * hostile_service_callers.c - callers that go while others serve them: case 101 of the threat model
 *
 * After each case a new server and a new caller must work, besides what the stage looks at.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ctl_client.h"
#include "serving.h"

/* ---- callers that go ---- */

enum going { DIES, CLOSES, CANCELS, FREES, CLOSES_RING, GOINGS };

static void go(struct stage *s, struct couple *p, enum going how)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL};

	switch (how) {
	case DIES:
		stage_die(s, &p->k.c);
		return;
	case CLOSES:
		CHECK(s, stage_leave(s, &p->k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
		return;
	case CANCELS:
		for (uint32_t i = p->k.c.sq.next - 3; i != p->k.c.sq.next; i++) {
			m = (struct quoit_ctl){.type = QUOIT_CTL_CANCEL,
					       .job = {.ring = p->k.c.ring, .sq_index = i}};
			(void)raw_call_with(&p->k.c, &m, -1, NULL);
		}
		return;
	case FREES: {
		struct quoit_sqe sqe = raw_job(QUOIT_OP_FREE, 1, 0, 0);

		CHECK(s, raw_submit(&p->k.c, &sqe));
		sqe = raw_job(QUOIT_OP_FREE, 2, 0, 0);
		CHECK(s, raw_submit(&p->k.c, &sqe));
		return;
	}
	default:
		m = (struct quoit_ctl){.type = QUOIT_CTL_RING_CLOSE, .job.ring = p->k.c.ring};
		m.magic = QUOIT_CTL_MAGIC;
		CHECK(s, !ctl_put(p->k.c.socket, &m, sizeof m, NULL, 0));
		return;
	}
}

static void callers_that_go_while_their_calls_run(struct stage *s)
{
	struct couple p;

	for (unsigned i = 0; i < stage_times(s, 2, 200) * GOINGS && !s->bad; i++) {
		const enum going how = i % GOINGS;
		struct serving_call taken;
		struct quoit_ctl m;

		if (!couple_open(s, &p, 0))
			return;
		calling_spread(s, &p.k);
		couple_call(s, &p, 0);
		(void)serving_take(s, &p.v, &taken);
		couple_call(s, &p, 1); /* this one waits for the first one's output */
		couple_call_to(s, &p, 0, 2);
		couple_await_fetched(s, &p);
		go(s, &p, how);
		if (i / GOINGS % 2)
			couple_answer(s, &p, serving_answer(taken.id, 0, 0));
		serving_leave(s, &p.v);
		if (how == CLOSES_RING)
			CHECK(s, !ctl_get(p.k.c.socket, &m) && !m.result);
		if (how > CLOSES && how != CLOSES_RING)
			for (unsigned k = 0; k < 3; k++) {
				int32_t res = calling_result(&p.k);

				CHECK(s, !res || res == -ECANCELED || res == -QUOIT_EEXEC ||
						 res == -ENOENT || res == -QUOIT_EPOISON);
			}
		if (how > CLOSES)
			CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	serving_afresh(s);
}

/* The server has mapped the caller's memory, and hears that it has left. */
static void server_hears_of_callers_that_leave(struct stage *s)
{
	const unsigned n = stage_times(s, 50, 3000);
	unsigned left = 0;
	struct couple p;

	if (!serving_begin(s, &p.v, "couple"))
		return;
	for (unsigned i = 0; i < n && !s->bad; i++) {
		if (!calling_open(s, &p.k, "couple", 0))
			return;
		calling_try(s, &p.k, &p.v); /* serving_take skips, and counts, those that left */
		if (i % 2)
			stage_die(s, &p.k.c);
		else
			CHECK(s, stage_leave(s, &p.k.c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	for (left = p.v.left; left < n && !s->bad; left++) {
		struct quoit_cqe cqe = {0};

		CHECK(s, !raw_reap(&p.v.team, SERVING_PATIENCE_MS, &cqe, NULL));
		CHECK(s, cqe.res == QUOIT_CALLER_LEFT && !cqe.flags && cqe.user_data);
	}
	CHECK(s, left == n);
	serving_leave(s, &p.v);
	serving_afresh(s);
}

/*
 * Its CQ is full of those that have left when a call comes for it.  It reads without a word, and
 * quoitd sleeps: the call comes all the same.
 */
static void server_that_reads_late_who_has_left(struct stage *s)
{
	struct calling k[SERVING_CQ];
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	for (unsigned i = 0; i < SERVING_CQ && !s->bad; i++) {
		if (!calling_open(s, &k[i], "couple", 0))
			return;
		calling_try(s, &k[i], &p.v);
	}
	for (unsigned i = 0; i < SERVING_CQ && !s->bad; i++)
		CHECK(s, stage_leave(s, &k[i].c) == QUOIT_DAEMON_CLIENTS_LEFT);
	CHECK(s, raw_await_posted(&p.v.team, p.v.team.cq.next + SERVING_CQ - 1));
	canary_hold(&s->canary, true);
	couple_call(s, &p, 1);
	couple_settle(s, &p);
	usleep(100000); /* for quoitd to fall asleep */
	serving_double(s, &p.v);
	CHECK(s, !calling_result(&p.k));
	canary_hold(&s->canary, false);
	couple_leave(s, &p);
}

/*
 * Calls that wait for nobody: one that was told that it serves is there.  The service and its caller
 * are on one reactor, and those that take it over on another.
 */
static void servers_that_take_over(struct stage *s)
{
	struct raw_client between;
	struct couple p;

	if (!serving_begin(s, &p.v, "couple") ||
	    !stage_open(s, &between, &(struct raw_wish){.host_bytes = 1 << 20}) ||
	    !calling_open(s, &p.k, "couple", 0))
		return;
	CHECK(s, stage_leave(s, &between) == QUOIT_DAEMON_CLIENTS_LEFT);
	for (unsigned i = 0; i < stage_times(s, 50, 2000) && !s->bad; i++) {
		serving_leave(s, &p.v);
		if (!serving_begin(s, &p.v, "couple"))
			return;
		calling_try(s, &p.k, &p.v);
	}
	couple_leave(s, &p);
}

/* No thread takes the call before its process goes: it waits for the next one, however often. */
static void servers_that_go_before_they_take_a_call(struct stage *s)
{
	struct couple p;

	if (!couple_open(s, &p, SERVING_PATIENCE_MS))
		return;
	couple_call(s, &p, 1);
	for (unsigned i = 0; i < stage_times(s, 10, 1000) && !s->bad; i++) {
		CHECK(s, raw_await_posted(&p.v.team, p.v.team.cq.next + 1));
		if (i % 2)
			serving_leave(s, &p.v);
		else
			serving_die(s, &p.v);
		if (!serving_begin(s, &p.v, "couple"))
			return;
	}
	serving_double(s, &p.v);
	CHECK(s, !calling_result(&p.k));
	couple_leave(s, &p);
}

/* It waits for itself when it goes: each end must let go of the other. */
static void session_that_calls_itself(struct stage *s)
{
	static const char name[QUOIT_NAME_BYTES] = "itself", f[QUOIT_NAME_BYTES] = "f";

	for (unsigned i = 0; i < stage_times(s, 4, 100) && !s->bad; i++) {
		struct serving_call taken;
		struct calling k;
		struct serving v;

		if (!serving_begin(s, &v, name))
			return;
		k.c = v.c;
		CHECK(s, !raw_run(&k.c, raw_vector(1, SERVING_FLOATS, 1024)));
		CHECK(s, !raw_run(&k.c, raw_vector(2, SERVING_FLOATS, SERVING_X)));
		CHECK(s, !calling_ask(&k.c, name, QUOIT_SERVICE_OWN, 0, 0, &k.service));
		CHECK(s, !calling_find(&k.c, k.service, f, &k.function));
		calling_spread(s, &k);
		for (unsigned n = 0; n < 8; n++) {
			const struct quoit_sqe sqe = calling_call_to(&k, n, n);

			CHECK(s, raw_submit(&k.c, &sqe));
		}
		(void)serving_take(s, &v, &taken);
		if (i % 2) {
			const struct quoit_sqe sqe = serving_answer(taken.id, 0, 0);

			CHECK(s, raw_submit(&v.team, &sqe));
			CHECK(s, !calling_result(&k));
			(void)serving_take(s, &v, &taken);
		}
		v.c = k.c;
		if (i / 2 % 2)
			serving_die(s, &v);
		else
			serving_leave(s, &v);
	}
	serving_afresh(s);
}

/* ---- a number that is used again ---- */

/* Serve a function that reads one tensor, and look it up: the caller's number of it. */
static uint32_t begin_other(struct stage *s, struct couple *p, struct serving *v, const char *name)
{
	char whole[QUOIT_NAME_BYTES] = "";
	uint32_t number = QUOIT_MAX_SERVICES;

	memcpy(whole, name, strlen(name));
	if (serving_open(s, v, "R---") && CHECK(s, !serving_ask(&v->c, whole, v->team.ring, 0, 0)))
		CHECK(s, !calling_ask(&p->k.c, whole, QUOIT_SERVICE_OWN, 0, 0, &number));
	return number;
}

static struct quoit_sqe call_other(uint32_t service)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_CALL,
				  .tensor = {1},
				  .team = (uint8_t)(QUOIT_TEAM_SERVICE + service)};
}

/*
 * A job waits for its turn with the number of a service that is closed, and opened again as another
 * one, whose functions it does not fit: it must not reach it.
 */
static void jobs_of_a_service_whose_number_is_used_again(struct stage *s)
{
	struct serving second, third;
	struct serving_call taken;
	struct quoit_sqe sqe;
	struct couple p;

	if (!couple_open(s, &p, 0))
		return;
	CHECK(s, begin_other(s, &p, &second, "second") == 1);
	sqe = call_other(1);
	CHECK(s, raw_submit(&p.k.c, &sqe));
	(void)serving_take(s, &second, &taken);
	couple_call(s, &p, 2); /* y = f(x) waits until y has been read */
	couple_await_fetched(s, &p);
	CHECK(s, !calling_close(&p.k.c, 0));
	couple_settle(s, &p); /* by now its number is free, if it ever is while the job is there */
	usleep(10000);
	(void)begin_other(s, &p, &third, "third");
	sqe = serving_answer(taken.id, 0, SERVING_NOWHERE);
	CHECK(s, raw_submit(&second.team, &sqe));
	CHECK(s, !calling_result(&p.k));
	CHECK(s, calling_result(&p.k) == -ECANCELED);
	couple_settle(s, &p);
	CHECK(s, raw_cq_tail(&third.team) == third.team.cq.next);
	serving_leave(s, &second);
	serving_leave(s, &third);
	couple_leave(s, &p);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(callers_that_go_while_their_calls_run),
		STAGE_CASE(server_hears_of_callers_that_leave),
		STAGE_CASE(server_that_reads_late_who_has_left),
		STAGE_CASE(servers_that_take_over),
		STAGE_CASE(servers_that_go_before_they_take_a_call),
		STAGE_CASE(session_that_calls_itself),
		STAGE_CASE(jobs_of_a_service_whose_number_is_used_again),
	};
	/* so that calls travel from reactor to reactor */
	static const char *const options[] = {"--reactors=3", NULL};
	static const struct stage_scene scene = {.options = options};

	return stage_main(argc, argv, &scene, cases, sizeof cases / sizeof *cases);
}
