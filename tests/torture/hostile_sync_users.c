/* SPDX-License-Identifier: MIT */
/*
 * hostile_sync_users.c - who may open a lock, a flag, a semaphore, a barrier, a queue or a keyspace, and
 * who sees what of it: case 114 of the threat model; for root only
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "audience.h"
#include "serving.h"
#include "syncing.h"

#define KINDS (QUOIT_SYNC_TENSOR - QUOIT_SYNC_LOCK) /* all that SYNC makes */

/* Mallory's thing, for those who ask for it by its user. */
static struct sync_words of_mallory(enum quoit_sync_kind kind, uint64_t value)
{
	struct sync_words w = sync_thing("table", kind, value);

	w.uid = SCENE_MALLORY;
	return w;
}

static struct sync_words with_mode(struct sync_words w, uint32_t mode, gid_t gid)
{
	w.mode = mode;
	w.gid = gid;
	return w;
}

/* Become these, and open it. */
static bool open_as(struct stage *s, enum audience x, struct sync_party *p, struct sync_words w)
{
	audience_become(s, x);
	return sync_open(s, p, w);
}

/* Mallory makes it, for all. */
static bool make_for_all(struct stage *s, struct sync_party *mallory, struct sync_words w)
{
	audience_become(s, OWN);
	return sync_open_new(s, mallory, with_mode(w, QUOIT_SERVE_OTHERS, 0));
}

static void try_afresh(struct stage *s)
{
	audience_become(s, OWN);
	sync_afresh(s);
}

/* ---- cases ---- */

static void try_to_see(struct stage *s, const struct audience_row *row, enum audience x)
{
	struct quoit_service_reply seen = {0};

	if (!CHECK(s, audience_see(s, x, &seen) == row->may_see[x]) || !row->may_see[x])
		return;
	CHECK(s, seen.uid == SCENE_MALLORY && !strcmp(seen.name, "table") && !seen.servers &&
			 seen.mode == row->mode && seen.gid == row->gid &&
			 seen.kind >= QUOIT_SYNC_LOCK && seen.kind < QUOIT_SYNC_NR);
	CHECK(s, seen.known == (x == OWN || x == ROOT || x == SERVICE));
	CHECK(s, !seen.callers == !seen.known); /* how many others have it is not for all */
}

static void try_to_open(struct stage *s, bool may_open, enum audience x, enum quoit_sync_kind kind)
{
	const struct sync_words w = of_mallory(kind, kind == QUOIT_SYNC_BARRIER ? 2 : 0);
	struct sync_words other = w;
	struct raw_client c;
	uint32_t number;

	if (x == SERVICE) /* it opens no session */
		return;
	if (!audience_open(s, x, &c))
		return;
	/* whoever may not open it does not learn of what kind it is, and that it is there */
	other.kind = kind == QUOIT_SYNC_LOCK ? QUOIT_SYNC_FLAG : QUOIT_SYNC_LOCK;
	other.value = 0;
	CHECK(s, sync_ask(&c, &other, &number) == (may_open ? -EINVAL : -ENOENT));
	other = sync_flagged(w, QUOIT_SYNC_MUST_BE_NEW);
	CHECK(s, sync_ask(&c, &other, &number) == (may_open ? -EEXIST : -ENOENT));
	other = sync_flagged(w, QUOIT_SYNC_MUST_EXIST);
	CHECK(s, sync_ask(&c, &other, &number) == (may_open ? 0 : -ENOENT));
	CHECK(s, sync_ask(&c, &w, &number) == (may_open ? 0 : -ENOENT));
	other = w;
	strcpy(other.name, "another"); /* nobody makes things of another user */
	CHECK(s, sync_ask(&c, &other, &number) == (x == OWN ? 0 : -ENOENT));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Every kind with every mode, for everybody. */
static void who_may_open_and_see(struct stage *s)
{
	struct sync_party p;

	for (unsigned i = 0; i < AUDIENCE_ROWS * KINDS && !s->bad; i++) {
		const struct audience_row *row = &audience_row[i / KINDS];
		const enum quoit_sync_kind kind = QUOIT_SYNC_LOCK + i % KINDS;
		struct sync_words w = of_mallory(kind, kind == QUOIT_SYNC_BARRIER ? 2 : 0);

		audience_become(s, OWN);
		if (!sync_open_new(s, &p, with_mode(w, row->mode, row->gid)))
			return;
		for (enum audience x = 0; x < AUDIENCE && !s->bad; x++) {
			try_to_see(s, row, x);
			try_to_open(s, row->may_use[x], x, kind);
		}
		sync_leave(s, &p);
	}
	try_afresh(s);
}

/* What this audience may do with a keyspace: each of its operations. */
static void try_keys(struct stage *s, enum audience x, bool may_open, bool may_write)
{
	struct sync_party p;
	int32_t refused = may_write ? 0 : -EACCES;

	audience_become(s, x);
	if (!may_open) {
		struct raw_client c;
		uint32_t number;
		const struct sync_words w = of_mallory(QUOIT_SYNC_KEYSPACE, 0);

		if (audience_open(s, x, &c)) {
			CHECK(s, sync_ask(&c, &w, &number) == -ENOENT);
			CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
		}
		return;
	}
	if (!sync_open(s, &p, of_mallory(QUOIT_SYNC_KEYSPACE, 0)))
		return;
	CHECK(s, !raw_run(&p.c, raw_vector(SYNC_FRESH, 16, 4096)));
	strcpy((char *)p.c.arena, "key");
	for (enum quoit_sync_op op = QUOIT_SYNC_PUT; op <= QUOIT_SYNC_WATCH; op++) {
		const bool writes = op == QUOIT_SYNC_PUT || op == QUOIT_SYNC_DELETE;

		CHECK(s,
		      sync_run(&p, op, writes ? QUOIT_ANY_REVISION : 0) == (writes ? refused : 0));
		if (op == QUOIT_SYNC_DELETE && may_write) /* it is there for the next one */
			CHECK(s, !sync_run(&p, QUOIT_SYNC_PUT, 0));
	}
	sync_leave(s, &p);
}

/* Every operation of a keyspace with every mode, for everybody; those who may only read do no more. */
static void who_may_do_what_with_keys(struct stage *s)
{
	struct sync_party own;

	for (unsigned i = 0; i < AUDIENCE_ROWS * 2 && !s->bad; i++) {
		const struct audience_row *row = &audience_row[i / 2];
		const bool read_only = i % 2;
		struct sync_words w = of_mallory(QUOIT_SYNC_KEYSPACE, 0);

		w = sync_flagged(with_mode(w, row->mode, row->gid),
				 read_only ? QUOIT_SYNC_OTHERS_READ : 0);
		audience_become(s, OWN);
		if (!sync_open_new(s, &own, w))
			return;
		strcpy((char *)own.c.arena, "key");
		CHECK(s, !sync_run(&own, QUOIT_SYNC_PUT, 0));
		for (enum audience x = 0; x < SERVICE && !s->bad; x++)
			try_keys(s, x, row->may_use[x], !read_only || x == OWN || x == ROOT);
		sync_leave(s, &own);
	}
	try_afresh(s);
}

/* An own one of the same name is another one: what is done to one does not touch the other. */
static void same_name_of_two_users(struct stage *s)
{
	const struct sync_words w = sync_thing("table", QUOIT_SYNC_LOCK, 0);
	struct sync_party mallory, alice;
	uint32_t number;

	if (!open_as(s, OWN, &mallory, with_mode(w, QUOIT_SERVE_OTHERS, 0)) ||
	    !open_as(s, OTHER, &alice, sync_flagged(w, QUOIT_SYNC_MUST_BE_NEW)))
		return;
	CHECK(s, !sync_run(&mallory, QUOIT_SYNC_LOCK_IT, 0));
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_LOCK_IT, 0));
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, sync_run(&alice, QUOIT_SYNC_UNLOCK, 0) == -EPERM);
	/* by its user's name she gets the other's, as its mode allows */
	number = alice.number;
	CHECK(s, !calling_close(&alice.c, number));
	CHECK(s, !sync_ask(&alice.c,
			   &(struct sync_words){
				   .name = "table", .uid = SCENE_MALLORY, .kind = QUOIT_SYNC_LOCK},
			   &alice.number));
	CHECK(s, sync_run(&alice, QUOIT_SYNC_UNLOCK, 0) == -EPERM); /* she does not hold it */
	sync_put(s, &alice, sync_job(&alice, QUOIT_SYNC_LOCK_IT, 0));
	CHECK(s, !sync_run(&mallory, QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_result(&alice));
	stage_die(s, &alice.c); /* and does not keep it */
	CHECK(s, sync_run(&mallory, QUOIT_SYNC_LOCK_IT, 0) == QUOIT_OWNER_DIED);
	sync_leave(s, &mallory);
	try_afresh(s);
}

/* Its maker goes; others that have it keep it, in its maker's name, and no new one takes it over. */
static void thing_whose_maker_goes(struct stage *s)
{
	struct sync_words w = of_mallory(QUOIT_SYNC_SEMAPHORE, 3);
	struct sync_party mallory, alice, bob;
	struct raw_client c;
	uint32_t number;

	if (!make_for_all(s, &mallory, w) || !open_as(s, OTHER, &alice, w))
		return;
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_TAKE, 2));
	sync_leave(s, &mallory);
	if (!open_as(s, MEMBER, &bob, w))
		return;
	sync_put(s, &bob, sync_job(&bob, QUOIT_SYNC_TAKE, 3));
	/* it cannot be made again with another mode, nor does its mode change */
	if (!open_as(s, OWN, &mallory, with_mode(w, 0, 0)))
		return;
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_GIVE, 2));
	CHECK(s, !sync_result(&bob));
	sync_leave(s, &alice);
	sync_leave(s, &bob);
	sync_leave(s, &mallory);
	if (!audience_open(s, OTHER, &c))
		return;
	for (unsigned ms = 0; !sync_ask(&c, &w, &number) && ms < SYNC_PATIENCE_MS; ms++) {
		CHECK(s, !calling_close(&c, number));
		usleep(1000);
	}
	CHECK(s, sync_ask(&c, &w, &number) == -ENOENT);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	try_afresh(s);
}

/* Own sessions that have it, and those of own things; root and quoitd's own user see all. */
static void who_sees_those_that_have_it(struct stage *s)
{
	static const unsigned sees[AUDIENCE] = {
		[OWN] = 3, [OTHER] = 1, [MEMBER] = 1, [ROOT] = 3, [SERVICE] = 3};
	const struct sync_words w = of_mallory(QUOIT_SYNC_FLAG, 0);
	struct quoit_service_reply seen = {0};
	struct sync_party mallory, alice, bob;

	if (!make_for_all(s, &mallory, w) || !open_as(s, OTHER, &alice, w) ||
	    !open_as(s, MEMBER, &bob, w))
		return;
	sync_put(s, &bob, sync_job(&bob, QUOIT_SYNC_WAIT_FLAG, 0));
	sync_await_waiting(s, &mallory, 1);
	CHECK(s, audience_see(s, OTHER, &seen) && !seen.waiting && !seen.callers);
	for (enum audience x = 0; x < AUDIENCE; x++)
		CHECK(s, audience_count_callers(s, x, seen.service) == sees[x]);
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_SET_FLAG, 0));
	CHECK(s, !sync_result(&bob));
	sync_leave(s, &mallory);
	sync_leave(s, &alice);
	sync_leave(s, &bob);
	try_afresh(s);
}

/* What another user opens is its own: it cannot use up what the maker may have. */
static void others_that_open_a_lot(struct stage *s)
{
	const struct sync_words w = of_mallory(QUOIT_SYNC_LOCK, 0);
	struct sync_party p, alice[20];

	if (!make_for_all(s, &p, w))
		return;
	CHECK(s, !sync_run(&p, QUOIT_SYNC_LOCK_IT, 0));
	audience_become(s, OTHER);
	for (unsigned i = 0; i < 20; i++) {
		if (!sync_open(s, &alice[i], w))
			return;
		for (unsigned k = 0; k < 100; k++)
			sync_put(s, &alice[i], sync_job(&alice[i], QUOIT_SYNC_LOCK_IT, 0));
	}
	sync_await_waiting(s, &p, 2000);
	try_afresh(s);
	for (unsigned i = 0; i < 20; i++)
		if (i % 2)
			sync_leave(s, &alice[i]);
		else
			stage_die(s, &alice[i].c);
	sync_await_waiting(s, &p, 0);
	CHECK(s, !sync_run(&p, QUOIT_SYNC_UNLOCK, 0));
	CHECK(s, !sync_run(&p, QUOIT_SYNC_LOCK_IT, 0));
	sync_leave(s, &p);
}

static const struct stage_case cases[] = {
	STAGE_CASE(who_may_open_and_see),        STAGE_CASE(who_may_do_what_with_keys),
	STAGE_CASE(same_name_of_two_users),      STAGE_CASE(thing_whose_maker_goes),
	STAGE_CASE(who_sees_those_that_have_it), STAGE_CASE(others_that_open_a_lot),
};

int main(int argc, char **argv)
{
	static const char *const options[] = {"--reactors=2", NULL};

	return audience_main(argc, argv, options, cases, sizeof cases / sizeof *cases);
}
