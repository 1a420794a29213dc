/* SPDX-License-Identifier: MIT */
/*
 * hostile_sync_requests.c - odd names, kinds, values and numbers in what is asked about locks, flags,
 * semaphores, barriers, queues and keyspaces: cases 104 and 112 of the threat model
 *
 * After each case new sessions and new things must work, besides what the stage looks at.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl_client.h"
#include "odd_names.h"
#include "serving.h"
#include "syncing.h"

#define KINDS (QUOIT_SYNC_TENSOR - QUOIT_SYNC_LOCK) /* all that SYNC makes */

static const struct raw_wish wish = {.host_bytes = 1 << 20, .sq_entries = 8};

/* A thing of each kind. */
static struct sync_words good(const char *name, unsigned kind)
{
	struct sync_words w = sync_thing(name, kind,
					 kind == QUOIT_SYNC_BARRIER     ? 2
					 : kind == QUOIT_SYNC_SEMAPHORE ? 4
					 : kind == QUOIT_SYNC_QUEUE     ? 3
									: 0);

	w.most = kind == QUOIT_SYNC_QUEUE ? 128 : 0;
	return w;
}

/* ---- SYNC ---- */

static void names_of_all_sorts(struct stage *s)
{
	struct raw_client c;
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned kind = QUOIT_SYNC_LOCK; kind < QUOIT_SYNC_TENSOR; kind++)
		for (unsigned i = 0; i < BAD_NAMES; i++) {
			struct sync_words w = good("", kind);

			memcpy(w.name, bad_names[i], sizeof w.name);
			CHECK(s, sync_ask(&c, &w, &number) == -EINVAL);
			CHECK(s, is_plain(c.text));
		}
	for (unsigned i = 0; i < GOOD_NAMES; i++) {
		struct sync_words w = good(good_names[i], QUOIT_SYNC_LOCK + i % KINDS);

		CHECK(s, !sync_ask(&c, &w, &number) && number == i);
		w.uid = 12345;
		CHECK(s, sync_ask(&c, &w, &number) == -ENOENT);
		w.uid = SYNC_UID_ROOT - 1;
		CHECK(s, sync_ask(&c, &w, &number) == -ENOENT);
		CHECK(s, is_plain(c.text));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	sync_afresh(s);
}

#define LOCK      QUOIT_SYNC_LOCK
#define FLAG      QUOIT_SYNC_FLAG
#define SEMAPHORE QUOIT_SYNC_SEMAPHORE
#define BARRIER   QUOIT_SYNC_BARRIER
#define QUEUE     QUOIT_SYNC_QUEUE
#define KEYSPACE  QUOIT_SYNC_KEYSPACE
#define BOTH      (QUOIT_SYNC_MUST_EXIST | QUOIT_SYNC_MUST_BE_NEW)

static const struct {
	struct sync_words w;
	int err;
} row[] = {
	/* kinds */
	{{.kind = 0}, -EINVAL},
	{{.kind = QUOIT_SYNC_NR}, -EINVAL},
	{{.kind = 256 + LOCK}, -EINVAL},
	{{.kind = UINT16_MAX}, -EINVAL},
	/* flags */
	{{.kind = LOCK, .flags = 0x40}, -EINVAL},
	{{.kind = LOCK, .flags = QUOIT_SYNC_READ_ONLY}, -EINVAL},
	{{.kind = QUEUE, .flags = QUOIT_SYNC_READ_ONLY}, -EINVAL},
	{{.kind = KEYSPACE, .flags = QUOIT_SYNC_READ_ONLY}, -EINVAL},
	{{.kind = LOCK, .flags = QUOIT_SYNC_OTHERS_READ}, -EINVAL},
	{{.kind = QUEUE, .flags = QUOIT_SYNC_OTHERS_READ}, -EINVAL},
	{{.kind = KEYSPACE, .flags = QUOIT_SYNC_RECURSIVE}, -EINVAL},
	{{.kind = KEYSPACE, .flags = QUOIT_SYNC_UNDO}, -EINVAL},
	{{.kind = LOCK, .flags = 0x8000}, -EINVAL},
	{{.kind = LOCK, .flags = UINT16_MAX}, -EINVAL},
	{{.kind = LOCK, .flags = BOTH}, -EINVAL},
	{{.kind = LOCK, .flags = QUOIT_SYNC_UNDO}, -EINVAL},
	{{.kind = FLAG, .flags = QUOIT_SYNC_UNDO}, -EINVAL},
	{{.kind = FLAG, .flags = QUOIT_SYNC_RECURSIVE}, -EINVAL},
	{{.kind = SEMAPHORE, .flags = QUOIT_SYNC_RECURSIVE}, -EINVAL},
	{{.kind = BARRIER, .value = 2, .flags = QUOIT_SYNC_RECURSIVE}, -EINVAL},
	{{.kind = BARRIER, .value = 2, .flags = QUOIT_SYNC_UNDO}, -EINVAL},
	{{.kind = QUEUE, .flags = QUOIT_SYNC_RECURSIVE}, -EINVAL},
	{{.kind = QUEUE, .flags = QUOIT_SYNC_UNDO}, -EINVAL},
	{{.kind = LOCK, .flags = QUOIT_SYNC_MUST_EXIST}, -ENOENT},
	/* modes and groups */
	{{.kind = LOCK, .mode = 2}, -EINVAL},
	{{.kind = LOCK, .mode = 4}, -EINVAL},
	{{.kind = LOCK, .mode = 0777}, -EINVAL},
	{{.kind = LOCK, .mode = UINT32_MAX}, -EINVAL},
	{{.kind = LOCK, .gid = 1}, -EINVAL},
	{{.kind = LOCK, .mode = QUOIT_SERVE_OTHERS, .gid = 1}, -EINVAL},
	{{.kind = LOCK, .mode = QUOIT_SERVE_GROUP, .gid = UINT32_MAX}, -EPERM},
	{{.kind = LOCK, .mode = QUOIT_SERVE_GROUP, .gid = 4000003}, -EPERM},
	/* values */
	{{.kind = LOCK, .value = 1}, -EINVAL},
	{{.kind = LOCK, .most = 1}, -EINVAL},
	{{.kind = FLAG, .value = 1}, -EINVAL},
	{{.kind = FLAG, .most = UINT64_MAX}, -EINVAL},
	{{.kind = SEMAPHORE, .value = 2, .most = 1}, -EINVAL},
	{{.kind = SEMAPHORE, .value = UINT64_MAX, .most = UINT64_MAX - 1}, -EINVAL},
	{{.kind = BARRIER}, -EINVAL},
	{{.kind = BARRIER, .value = 65537}, -EINVAL},
	{{.kind = BARRIER, .value = (UINT64_C(1) << 32) + 1}, -EINVAL},
	{{.kind = BARRIER, .value = UINT64_MAX}, -EINVAL},
	{{.kind = BARRIER, .value = 2, .most = 2}, -EINVAL},
	{{.kind = QUEUE, .value = 65537}, -EINVAL},
	{{.kind = QUEUE, .value = (UINT64_C(1) << 32) + 1}, -EINVAL},
	{{.kind = QUEUE, .value = UINT64_MAX}, -EINVAL},
	{{.kind = QUEUE, .most = 1}, -EINVAL},
	{{.kind = QUEUE, .most = 63}, -EINVAL},
	{{.kind = QUEUE, .most = 65}, -EINVAL},
	{{.kind = QUEUE, .value = 1, .most = 4096 + 32}, -EINVAL},
	{{.kind = QUEUE, .most = (UINT64_C(1) << 40) + 64}, -EINVAL},
	{{.kind = QUEUE, .most = UINT64_MAX}, -EINVAL},
	{{.kind = QUEUE, .most = UINT64_MAX - 63}, -EINVAL},
	{{.kind = QUEUE, .most = UINT64_C(1) << 40}, -EDQUOT},
	{{.kind = QUEUE, .value = 65536, .most = UINT64_C(1) << 40}, -EDQUOT},
	{{.kind = QUEUE, .value = 65537, .most = UINT64_C(1) << 40}, -EINVAL},
	{{.kind = KEYSPACE, .value = (UINT64_C(1) << 30) + 1}, -EINVAL},
	{{.kind = KEYSPACE, .value = (UINT64_C(1) << 32) + 1}, -EINVAL},
	{{.kind = KEYSPACE, .value = UINT64_MAX}, -EINVAL},
	{{.kind = KEYSPACE, .most = (UINT64_C(1) << 39) + 1}, -EINVAL},
	{{.kind = KEYSPACE, .most = UINT64_MAX}, -EINVAL},
	{{.kind = KEYSPACE, .value = UINT64_C(1) << 30}, -EDQUOT},
	{{.kind = KEYSPACE, .most = UINT64_C(1) << 39}, -EDQUOT},
	{{.kind = KEYSPACE, .value = UINT64_C(1) << 30, .most = UINT64_C(1) << 39}, -EDQUOT},
};

/* None of them makes anything, or takes the name. */
static void odd_words(struct stage *s)
{
	struct sync_words w;
	struct raw_client c;
	uint32_t number;

	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
		w = row[i].w;
		strcpy(w.name, "odd");
		if (!CHECK(s, sync_ask(&c, &w, &number) == row[i].err))
			printf("  row %u\n", i);
		if (row[i].err == -EDQUOT)
			stage_expect(s, QUOIT_DAEMON_REFUSED_LEASE, 1);
		CHECK(s, is_plain(c.text) && *c.text);
	}
	w = sync_flagged(sync_thing("odd", LOCK, 0), QUOIT_SYNC_MUST_BE_NEW);
	CHECK(s, !sync_ask(&c, &w, &number) && !number);
	CHECK(s, sync_ask(&c, &w, &number) == -EEXIST);
	for (unsigned kind = FLAG; kind < QUOIT_SYNC_TENSOR; kind++) {
		w = good("odd", kind);
		CHECK(s, sync_ask(&c, &w, &number) == -EINVAL);
	}
	w = good("parties", BARRIER);
	CHECK(s, !sync_ask(&c, &w, &number));
	w.value++;
	CHECK(s, sync_ask(&c, &w, &number) == -EINVAL);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	sync_afresh(s);
}

/* What is 0 must be. */
static void reserved_bits(struct stage *s)
{
	static const struct quoit_ctl plain = {
		.magic = QUOIT_CTL_MAGIC,
		.type = QUOIT_CTL_SYNC,
		.sync = {.name = "l", .uid = QUOIT_SERVICE_OWN, .kind = LOCK}};
	const size_t from = offsetof(struct quoit_ctl, sync.number);
	struct raw_client c;

	for (size_t at = from; at < sizeof plain; at += at + 1 < sizeof plain ? 37 : 1) {
		struct quoit_ctl m = plain;

		((uint8_t *)&m)[at] = 1;
		if (!stage_open(s, &c, &wish))
			return;
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
		ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "unknown bits");
	}
	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, !ctl_put(c.socket, &plain, sizeof plain, &c.socket, 1));
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "descriptors");
	if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return;
	CHECK(s, !ctl_put(c.socket, &plain, sizeof plain, NULL, 0));
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "state");
	sync_afresh(s);
}

/* ---- jobs ---- */

static void numbers_that_are_not_there(struct stage *s)
{
	struct sync_party p;

	if (!sync_open(s, &p, good("l", LOCK)))
		return;
	calling_try_other_numbers(s, &p.c, sync_job(&p, QUOIT_SYNC_LOCK_IT, 0));
	CHECK(s, !calling_close(&p.c, p.number));
	CHECK(s, calling_close(&p.c, p.number) == -EBADF);
	CHECK(s, sync_run(&p, QUOIT_SYNC_LOCK_IT, 0) == -EINVAL);
	sync_leave(s, &p);
	sync_afresh(s);
}

static bool is_of(unsigned op, unsigned kind)
{
	return kind == (op <= QUOIT_SYNC_NOTIFY      ? LOCK
			: op <= QUOIT_SYNC_WAIT_FLAG ? FLAG
			: op <= QUOIT_SYNC_GIVE      ? SEMAPHORE
			: op <= QUOIT_SYNC_ARRIVE    ? BARRIER
			: op <= QUOIT_SYNC_PEEK      ? QUEUE
						     : KEYSPACE);
}

static void heal(struct stage *s, struct sync_party *p)
{
	CHECK(s, !raw_run(&p->c, raw_job(QUOIT_OP_FILL, SYNC_TENSOR, 0, 0)));
}

static void functions_of_other_kinds(struct stage *s)
{
	struct sync_party p;

	for (unsigned kind = LOCK; kind < QUOIT_SYNC_TENSOR; kind++) {
		if (!sync_open(s, &p, good("thing", kind)))
			return;
		CHECK(s, !raw_run(&p.c, raw_vector(SYNC_FRESH, 16, RAW_ARENA_NOT)));
		for (unsigned op = 0; op < 256; op++)
			if (!is_of(op, kind) || op >= QUOIT_SYNC_OP_NR) {
				CHECK(s, sync_run(&p, op, 1) == -EINVAL);
				heal(s, &p); /* it was to be written by some */
			}
		sync_leave(s, &p);
	}
	sync_afresh(s);
}

static void sqes_of_all_sorts(struct stage *s)
{
	struct sync_party p;
	struct quoit_sqe sqe, lock;

	if (!sync_open(s, &p, good("l", LOCK)))
		return;
	lock = sync_job(&p, QUOIT_SYNC_LOCK_IT, 0);
	for (unsigned i = 0; i < 4; i++) { /* handles that are none; more tensors than one */
		sqe = lock;
		sqe.tensor[i] = 77;
		CHECK(s, raw_run(&p.c, sqe) == (i ? -EINVAL : -EBADF));
		sqe.tensor[i] = UINT32_MAX;
		CHECK(s, raw_run(&p.c, sqe) < 0);
		sqe.tensor[i] = SYNC_TENSOR;
		if (i)
			CHECK(s, raw_run(&p.c, sqe) == -EINVAL);
	}
	for (unsigned i = 0; i < 4; i++) {
		sqe = lock;
		sqe.reserved[i] = 1;
		CHECK(s, raw_run(&p.c, sqe) == -EINVAL);
	}
	sqe = lock;
	sqe.device = 1;
	CHECK(s, raw_run(&p.c, sqe) == -ENODEV);
	sqe = lock;
	sqe.priority = QUOIT_PRIO_NR;
	CHECK(s, raw_run(&p.c, sqe) == -EINVAL);
	sqe = lock;
	sqe.flags = 0xff;
	CHECK(s, raw_run(&p.c, sqe) == -EINVAL);
	sqe = lock;
	sqe.reserved0 = 1;
	CHECK(s, raw_run(&p.c, sqe) == -EINVAL);
	/* nobody has the lock after all of that */
	CHECK(s, sync_run(&p, QUOIT_SYNC_UNLOCK, 0) == -EPERM);
	CHECK(s, !raw_run(&p.c, lock));
	CHECK(s, !sync_run(&p, QUOIT_SYNC_UNLOCK, 0));
	sync_leave(s, &p);
	sync_afresh(s);
}

static void tensors_that_lock_and_others_that_unlock(struct stage *s)
{
	struct sync_party p;
	struct quoit_sqe with, other;

	if (!sync_open(s, &p, sync_flagged(good("l", LOCK), QUOIT_SYNC_RECURSIVE)))
		return;
	CHECK(s, !raw_run(&p.c, raw_vector(SYNC_FRESH, 16, RAW_ARENA_NOT)));
	with = other = sync_job(&p, QUOIT_SYNC_LOCK_IT, 0);
	with.tensor[0] = SYNC_TENSOR;
	other.tensor[0] = SYNC_FRESH;
	CHECK(s, !raw_run(&p.c, with));
	with.function = other.function = QUOIT_SYNC_UNLOCK;
	CHECK(s, raw_run(&p.c, other) == -EPERM);
	CHECK(s, sync_run(&p, QUOIT_SYNC_UNLOCK, 0) == -EPERM);
	CHECK(s, !raw_run(&p.c, with));
	CHECK(s, raw_run(&p.c, with) == -EPERM);
	/* as often as it may be held; a 17th time it may not */
	for (unsigned i = 0; i < 16; i++)
		CHECK(s, !sync_run(&p, QUOIT_SYNC_LOCK_IT, 0));
	CHECK(s, sync_run(&p, QUOIT_SYNC_LOCK_IT, 0) == -EAGAIN);
	CHECK(s, sync_run(&p, QUOIT_SYNC_WAIT_CONDITION, 0) == -EDEADLK);
	for (unsigned i = 0; i < 16; i++)
		CHECK(s, !sync_run(&p, QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, sync_run(&p, QUOIT_SYNC_UNLOCK, 0) == -EPERM);
	/* it is freed while it has the lock: what has its memory is gone, the lock is not */
	with.function = QUOIT_SYNC_LOCK_IT;
	CHECK(s, !raw_run(&p.c, with));
	CHECK(s, !raw_run(&p.c, raw_job(QUOIT_OP_FREE, SYNC_TENSOR, 0, 0)));
	with.function = QUOIT_SYNC_UNLOCK;
	CHECK(s, raw_run(&p.c, with) == -EBADF);
	sync_leave(s, &p);
	sync_afresh(s);
}

static void words_of_conditions_and_semaphores(struct stage *s)
{
	struct sync_words w = good("s", SEMAPHORE);
	struct sync_party p;

	if (!sync_open(s, &p, good("l", LOCK)))
		return;
	CHECK(s, raw_run(&p.c, sync_notify(&p, 0, 1)) == -EPERM);
	CHECK(s, !sync_run(&p, QUOIT_SYNC_LOCK_IT, 0));
	for (unsigned i = QUOIT_CONDITIONS; i < 256; i++) {
		CHECK(s, sync_run(&p, QUOIT_SYNC_WAIT_CONDITION, i) == -EINVAL);
		CHECK(s, raw_run(&p.c, sync_notify(&p, (uint8_t)i, 1)) == -EINVAL);
	}
	CHECK(s, !raw_run(&p.c, sync_notify(&p, 7, 0)));
	CHECK(s, !raw_run(&p.c, sync_notify(&p, 7, UINT64_MAX)));
	CHECK(s, !sync_run(&p, QUOIT_SYNC_UNLOCK, 0));
	sync_leave(s, &p);
	w.most = 4;
	if (!sync_open(s, &p, w))
		return;
	CHECK(s, sync_run(&p, QUOIT_SYNC_TAKE, 5) == -EINVAL);
	CHECK(s, sync_run(&p, QUOIT_SYNC_TAKE, UINT64_MAX) == -EINVAL);
	CHECK(s, sync_run(&p, QUOIT_SYNC_GIVE, 1) == -EOVERFLOW);
	CHECK(s, sync_run(&p, QUOIT_SYNC_GIVE, UINT64_MAX) == -EOVERFLOW);
	CHECK(s, !sync_run(&p, QUOIT_SYNC_TAKE, 0) && !sync_run(&p, QUOIT_SYNC_GIVE, 0));
	CHECK(s, !sync_run(&p, QUOIT_SYNC_TAKE, 4));
	CHECK(s, sync_run(&p, QUOIT_SYNC_GIVE, 5) == -EOVERFLOW);
	CHECK(s, !sync_run(&p, QUOIT_SYNC_GIVE, 4));
	sync_leave(s, &p);
	w = sync_thing("s", SEMAPHORE, UINT64_MAX);
	if (!sync_open(s, &p, w))
		return;
	CHECK(s, sync_run(&p, QUOIT_SYNC_GIVE, 1) == -EOVERFLOW);
	CHECK(s, !sync_run(&p, QUOIT_SYNC_TAKE, UINT64_MAX));
	CHECK(s, !sync_run(&p, QUOIT_SYNC_GIVE, UINT64_MAX));
	CHECK(s, sync_run(&p, QUOIT_SYNC_GIVE, 1) == -EOVERFLOW);
	sync_leave(s, &p);
	sync_afresh(s);
}

/* ---- things and services ---- */

static void things_and_services_of_one_name(struct stage *s)
{
	static const char gate[QUOIT_NAME_BYTES] = "gate", lock[QUOIT_NAME_BYTES] = "lock",
			  other[QUOIT_NAME_BYTES] = "other";
	struct sync_words w = good("other", LOCK);
	struct sync_party p;
	struct serving v;
	uint32_t number;
	uint8_t function;

	if (!sync_open(s, &p, good("gate", LOCK)) || !serving_open(s, &v, "WR--"))
		return;
	CHECK(s, serving_ask(&v.c, gate, v.team.ring, 0, 0) == -EEXIST);
	CHECK(s, is_plain(v.c.text));
	CHECK(s, !serving_ask(&v.c, other, v.team.ring, 0, 0));
	CHECK(s, calling_ask(&p.c, gate, QUOIT_SERVICE_OWN, 0, 0, &number) == -EINVAL);
	CHECK(s, calling_ask(&p.c, gate, QUOIT_SERVICE_OWN, 0, 30, &number) == -EINVAL);
	CHECK(s, !calling_find(&p.c, p.number, lock, &function) && function == QUOIT_SYNC_LOCK_IT);
	CHECK(s, calling_find(&p.c, p.number, other, &function) == -ENOENT);
	for (unsigned i = 0; i < BAD_NAMES; i++)
		CHECK(s, calling_find(&p.c, p.number, bad_names[i], &function) < 0);
	for (unsigned kind = LOCK; kind < QUOIT_SYNC_TENSOR; kind++) {
		w = good("other", kind);
		CHECK(s, sync_ask(&p.c, &w, &number) == -EINVAL);
	}
	w = sync_flagged(good("other", LOCK), QUOIT_SYNC_MUST_BE_NEW);
	CHECK(s, sync_ask(&p.c, &w, &number) < 0);
	CHECK(s, !sync_run(&p, QUOIT_SYNC_LOCK_IT, 0));
	serving_leave(s, &v);
	CHECK(s, !sync_run(&p, QUOIT_SYNC_UNLOCK, 0));
	sync_leave(s, &p);
	sync_afresh(s);
	serving_afresh(s);
}

/* ---- many ---- */

#define USER_MOST 256u

static struct sync_words numbered(unsigned i)
{
	char name[QUOIT_NAME_BYTES] = "";

	snprintf(name, sizeof name, "n%u", i);
	return good(name, LOCK + i % KINDS);
}

static void more_than_a_user_may_have(struct stage *s)
{
	static const char one_more[QUOIT_NAME_BYTES] = "one-more";
	const unsigned sessions = USER_MOST / QUOIT_MAX_SERVICES;
	struct raw_client c[USER_MOST / QUOIT_MAX_SERVICES];
	struct sync_words w;
	struct serving v;
	uint32_t number;

	if (!serving_open(s, &v, "WR--"))
		return;
	for (unsigned i = 0; i < sessions; i++) {
		if (!stage_open(s, &c[i], &(struct raw_wish){.host_bytes = 1 << 20}))
			return;
		for (unsigned k = 0; k < QUOIT_MAX_SERVICES; k++) {
			w = numbered(i * QUOIT_MAX_SERVICES + k);
			CHECK(s, !sync_ask(&c[i], &w, &number) && number == k);
		}
		w = numbered(0);
		CHECK(s, sync_ask(&c[i], &w, &number) == (i ? -ENFILE : 0));
	}
	w = good("one-more", LOCK);
	CHECK(s, sync_ask(&v.c, &w, &number) == -ENFILE);
	CHECK(s, serving_ask(&v.c, one_more, v.team.ring, 0, 0) == -ENFILE);
	w = numbered(USER_MOST - 1); /* what is there can be opened */
	CHECK(s, !sync_ask(&v.c, &w, &number));
	for (unsigned i = 0; i < sessions; i++)
		CHECK(s, stage_leave(s, &c[i]) == QUOIT_DAEMON_CLIENTS_LEFT);
	w = sync_flagged(w, QUOIT_SYNC_MUST_EXIST); /* v has it */
	CHECK(s, !sync_ask(&v.c, &w, &number));
	serving_leave(s, &v);
	sync_afresh(s);
}

static void one_that_is_opened_again_and_again(struct stage *s)
{
	const unsigned n = stage_times(s, 2000, 100000);
	struct sync_words w = good("l", LOCK);
	struct sync_party p;
	uint32_t number;

	if (!sync_open(s, &p, w))
		return;
	for (unsigned i = 0; i < n && !s->bad; i++)
		CHECK(s, !sync_ask(&p.c, &w, &number) && number == p.number);
	for (unsigned i = 0; i < n && !s->bad; i++)
		CHECK(s, !calling_close(&p.c, p.number));
	CHECK(s, !sync_run(&p, QUOIT_SYNC_LOCK_IT, 0));
	CHECK(s, !calling_close(&p.c, p.number));
	CHECK(s, calling_close(&p.c, p.number) == -EBADF);
	sync_leave(s, &p);
	sync_afresh(s);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(names_of_all_sorts),
		STAGE_CASE(odd_words),
		STAGE_CASE(reserved_bits),
		STAGE_CASE(numbers_that_are_not_there),
		STAGE_CASE(functions_of_other_kinds),
		STAGE_CASE(sqes_of_all_sorts),
		STAGE_CASE(tensors_that_lock_and_others_that_unlock),
		STAGE_CASE(words_of_conditions_and_semaphores),
		STAGE_CASE(things_and_services_of_one_name),
		STAGE_CASE(more_than_a_user_may_have),
		STAGE_CASE(one_that_is_opened_again_and_again),
	};
	/* so that calls travel from reactor to reactor */
	static const char *const options[] = {"--reactors=3", NULL};
	static const struct stage_scene scene = {.options = options};

	return stage_main(argc, argv, &scene, cases, sizeof cases / sizeof *cases);
}
