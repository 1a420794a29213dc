/* SPDX-License-Identifier: MIT */
/*
 * hostile_sync_users.c - who may open a lock, a flag, a semaphore or a barrier, and who sees what of
 * it: case 114 of the threat model; for root only
 *
 * Mallory makes things, as a member of a group.  Alice is nobody, Bob another member.
 */
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "ctl_client.h"
#include "scenes.h"
#include "serving.h"
#include "syncing.h"

#define GROUP 4000003u

static const struct raw_wish wish = {.host_bytes = 1 << 20, .sq_entries = 8};

/* Who asks; clients of a member have the group besides their own. */
enum who { OWN, OTHER, MEMBER, ROOT, SERVICE, WHO };

static const struct {
	uid_t uid;
	bool is_member;
} who[WHO] = {
	[OWN] = {SCENE_MALLORY, true},      [OTHER] = {SCENE_ALICE, false},
	[MEMBER] = {SCENE_BOB, true},       [ROOT] = {0, false},
	[SERVICE] = {SCENE_SERVICE, false},
};

/* Bits of those who may. */
#define W(x) (1u << (x))
static const struct {
	uint32_t mode, gid;
	uint32_t may_open, may_see;
} row[] = {
	{0, 0, W(OWN) | W(ROOT), W(OWN) | W(ROOT) | W(SERVICE)},
	{QUOIT_SERVE_GROUP, GROUP, W(OWN) | W(MEMBER) | W(ROOT),
	 W(OWN) | W(MEMBER) | W(ROOT) | W(SERVICE)},
	{QUOIT_SERVE_OTHERS, 0, W(OWN) | W(OTHER) | W(MEMBER) | W(ROOT), W(WHO) - 1},
	{QUOIT_SERVE_GROUP | QUOIT_SERVE_OTHERS, GROUP, W(OWN) | W(OTHER) | W(MEMBER) | W(ROOT),
	 W(WHO) - 1},
};

/* From now on clients are these; quoitd sees user and groups of the moment in which they connect. */
static void become(struct stage *s, enum who x)
{
	const gid_t gid = GROUP;

	CHECK(s, !setgroups(who[x].is_member, &gid));
	raw_set_user(who[x].uid);
}

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

/* The thing as SERVICES shows it; false: it does not. */
static bool see(struct stage *s, enum who x, struct quoit_service_reply *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICES};
	struct raw_client c;
	int err;

	become(s, x);
	if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return false;
	err = raw_call_with(&c, &m, -1, NULL);
	*ret = m.service_reply;
	ctl_leave(s, &c);
	CHECK(s, !err || err == -ENOENT);
	return !err;
}

static unsigned count_callers(struct stage *s, enum who x, uint64_t service)
{
	struct quoit_ctl m;
	struct raw_client c;
	uint64_t next = 0;
	unsigned n = 0;

	become(s, x);
	if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return 0;
	for (;; n++) {
		m = (struct quoit_ctl){.type = QUOIT_CTL_CALLERS,
				       .services = {.service = service, .caller = next}};
		if (raw_call_with(&c, &m, -1, NULL))
			break;
		next = m.caller_reply.caller + 1;
	}
	ctl_leave(s, &c);
	return n;
}

/* ---- cases ---- */

static void try_to_see(struct stage *s, unsigned i, enum who x)
{
	struct quoit_service_reply seen = {0};

	if (!CHECK(s, see(s, x, &seen) == !!(row[i].may_see & W(x))) || !(row[i].may_see & W(x)))
		return;
	CHECK(s, seen.uid == SCENE_MALLORY && !strcmp(seen.name, "table") && !seen.servers &&
			 seen.mode == row[i].mode && seen.gid == row[i].gid &&
			 seen.kind >= QUOIT_SYNC_LOCK && seen.kind < QUOIT_SYNC_NR);
	CHECK(s, seen.known == (x == OWN || x == ROOT || x == SERVICE));
	CHECK(s, !seen.callers == !seen.known); /* how many others have it is not for all */
}

static void try_to_open(struct stage *s, unsigned i, enum who x, enum quoit_sync_kind kind)
{
	const bool may_open = row[i].may_open & W(x);
	const struct sync_words w = of_mallory(kind, kind == QUOIT_SYNC_BARRIER ? 2 : 0);
	struct sync_words other = w;
	struct raw_client c;
	uint32_t number;

	if (x == SERVICE) /* it opens no session */
		return;
	become(s, x);
	if (!stage_open(s, &c, &wish))
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

	for (unsigned i = 0; i < sizeof row / sizeof *row * 4 && !s->bad; i++) {
		const enum quoit_sync_kind kind = QUOIT_SYNC_LOCK + i % 4;
		struct sync_words w = of_mallory(kind, kind == QUOIT_SYNC_BARRIER ? 2 : 0);

		become(s, OWN);
		if (!sync_open_new(s, &p, with_mode(w, row[i / 4].mode, row[i / 4].gid)))
			return;
		for (enum who x = 0; x < WHO && !s->bad; x++) {
			try_to_see(s, i / 4, x);
			try_to_open(s, i / 4, x, kind);
		}
		sync_leave(s, &p);
	}
	become(s, OWN);
	sync_afresh(s);
}

/* An own one of the same name is another one: what is done to one does not touch the other. */
static void same_name_of_two_users(struct stage *s)
{
	const struct sync_words w = sync_thing("table", QUOIT_SYNC_LOCK, 0);
	struct sync_party mallory, alice;
	uint32_t number;

	become(s, OWN);
	if (!sync_open(s, &mallory, with_mode(w, QUOIT_SERVE_OTHERS, 0)))
		return;
	become(s, OTHER);
	if (!sync_open(s, &alice, sync_flagged(w, QUOIT_SYNC_MUST_BE_NEW)))
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
	become(s, OWN);
	sync_afresh(s);
}

/* Its maker goes; others that have it keep it, in its maker's name, and no new one takes it over. */
static void thing_whose_maker_goes(struct stage *s)
{
	struct sync_words w = of_mallory(QUOIT_SYNC_SEMAPHORE, 3);
	struct sync_party mallory, alice, bob;
	struct raw_client c;
	uint32_t number;

	become(s, OWN);
	if (!sync_open_new(s, &mallory, with_mode(w, QUOIT_SERVE_OTHERS, 0)))
		return;
	become(s, OTHER);
	if (!sync_open(s, &alice, w))
		return;
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_TAKE, 2));
	sync_leave(s, &mallory);
	become(s, MEMBER);
	if (!sync_open(s, &bob, w))
		return;
	sync_put(s, &bob, sync_job(&bob, QUOIT_SYNC_TAKE, 3));
	become(s, OWN); /* it cannot be made again with another mode, nor does its mode change */
	if (!sync_open(s, &mallory, with_mode(w, 0, 0)))
		return;
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_GIVE, 2));
	CHECK(s, !sync_result(&bob));
	sync_leave(s, &alice);
	sync_leave(s, &bob);
	sync_leave(s, &mallory);
	become(s, OTHER);
	if (!stage_open(s, &c, &wish))
		return;
	for (unsigned ms = 0; !sync_ask(&c, &w, &number) && ms < SYNC_PATIENCE_MS; ms++) {
		CHECK(s, !calling_close(&c, number));
		usleep(1000);
	}
	CHECK(s, sync_ask(&c, &w, &number) == -ENOENT);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	become(s, OWN);
	sync_afresh(s);
}

/* Own sessions that have it, and those of own things; root and quoitd's own user see all. */
static void who_sees_those_that_have_it(struct stage *s)
{
	static const unsigned sees[WHO] = {
		[OWN] = 3, [OTHER] = 1, [MEMBER] = 1, [ROOT] = 3, [SERVICE] = 3};
	const struct sync_words w = of_mallory(QUOIT_SYNC_FLAG, 0);
	struct quoit_service_reply seen = {0};
	struct sync_party mallory, alice, bob;

	become(s, OWN);
	if (!sync_open_new(s, &mallory, with_mode(w, QUOIT_SERVE_OTHERS, 0)))
		return;
	become(s, OTHER);
	if (!sync_open(s, &alice, w))
		return;
	become(s, MEMBER);
	if (!sync_open(s, &bob, w))
		return;
	sync_put(s, &bob, sync_job(&bob, QUOIT_SYNC_WAIT_FLAG, 0));
	sync_await_waiting(s, &mallory, 1);
	CHECK(s, see(s, OTHER, &seen) && !seen.waiting && !seen.callers);
	for (enum who x = 0; x < WHO; x++)
		CHECK(s, count_callers(s, x, seen.service) == sees[x]);
	CHECK(s, !sync_run(&alice, QUOIT_SYNC_SET_FLAG, 0));
	CHECK(s, !sync_result(&bob));
	sync_leave(s, &mallory);
	sync_leave(s, &alice);
	sync_leave(s, &bob);
	become(s, OWN);
	sync_afresh(s);
}

/* What another user opens is its own: it cannot use up what the maker may have. */
static void others_that_open_a_lot(struct stage *s)
{
	const struct sync_words w = of_mallory(QUOIT_SYNC_LOCK, 0);
	struct sync_party p, alice[20];

	become(s, OWN);
	if (!sync_open_new(s, &p, with_mode(w, QUOIT_SERVE_OTHERS, 0)))
		return;
	CHECK(s, !sync_run(&p, QUOIT_SYNC_LOCK_IT, 0));
	become(s, OTHER);
	for (unsigned i = 0; i < 20; i++) {
		if (!sync_open(s, &alice[i], w))
			return;
		for (unsigned k = 0; k < 100; k++)
			sync_put(s, &alice[i], sync_job(&alice[i], QUOIT_SYNC_LOCK_IT, 0));
	}
	sync_await_waiting(s, &p, 2000);
	become(s, OWN);
	sync_afresh(s);
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
	STAGE_CASE(who_may_open_and_see),   STAGE_CASE(same_name_of_two_users),
	STAGE_CASE(thing_whose_maker_goes), STAGE_CASE(who_sees_those_that_have_it),
	STAGE_CASE(others_that_open_a_lot),
};

int main(int argc, char **argv)
{
	static const char *const options[] = {"--reactors=2", NULL};
	const struct stage_scene service = {.options = options, .prepare = scene_as_service};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	if (stage_has_users())
		stage_play(&stage, &service, cases, sizeof cases / sizeof *cases);
	else
		stage_skip(&stage, cases, sizeof cases / sizeof *cases,
			   "only root can be several users");
	return stage_end(&stage);
}
