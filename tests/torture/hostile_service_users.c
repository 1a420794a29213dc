/* SPDX-License-Identifier: MIT */
/*
 * hostile_service_users.c - who may call a service, and who sees what of it: case 114 of the threat
 * model; for root only
 *
 * Mallory serves, as a member of a group.  Alice is nobody, Bob another member.
 */
#include <errno.h>
#include <grp.h>
#include <string.h>

#include "ctl_client.h"
#include "scenes.h"
#include "serving.h"

#define GROUP 4000003u

static const char name[QUOIT_NAME_BYTES] = "table";

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
	uint32_t may_call, may_see;
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

/* The service as SERVICES shows it; false: it does not. */
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

/* How many callers CALLERS shows of this service. */
static unsigned count_callers(struct stage *s, enum who x, uint64_t service)
{
	struct quoit_ctl m;
	struct raw_client c;
	uint64_t next = 0;
	unsigned n = 0;

	become(s, x);
	if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return 0;
	for (;;) {
		m = (struct quoit_ctl){.type = QUOIT_CTL_CALLERS,
				       .services = {.service = service, .caller = next}};
		if (raw_call_with(&c, &m, -1, NULL))
			break;
		CHECK(s, m.caller_reply.service == service);
		next = m.caller_reply.caller + 1;
		n++;
	}
	ctl_leave(s, &c);
	return n;
}

static void try_one(struct stage *s, unsigned i, enum who x)
{
	const bool may_call = row[i].may_call & W(x);
	struct quoit_service_reply seen;
	struct raw_client c;
	uint32_t number;
	int err;

	if (!CHECK(s, see(s, x, &seen) == !!(row[i].may_see & W(x))))
		return;
	if (row[i].may_see & W(x))
		CHECK(s, seen.uid == SCENE_MALLORY && !strcmp(seen.name, name) &&
				 seen.mode == row[i].mode && seen.gid == row[i].gid &&
				 seen.servers == 1);
	if (x == SERVICE) /* it opens no session */
		return;
	become(s, x);
	if (!stage_open(s, &c, &wish))
		return;
	err = calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number);
	CHECK(s, err == (may_call ? 0 : -ENOENT));
	if (x != OWN)
		CHECK(s, calling_ask(&c, name, QUOIT_SERVICE_OWN, 0, 0, &number) == -ENOENT);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void who_may_call_and_see(struct stage *s)
{
	for (unsigned i = 0; i < sizeof row / sizeof *row && !s->bad; i++) {
		struct serving v;

		become(s, OWN);
		if (!serving_open(s, &v, "WR--") ||
		    !CHECK(s, !serving_ask(&v.c, name, v.team.ring, row[i].mode, row[i].gid)))
			return;
		for (enum who x = 0; x < WHO && !s->bad; x++)
			try_one(s, i, x);
		serving_leave(s, &v);
	}
	become(s, OWN);
	serving_afresh(s);
}

/* Own callers, and callers of own services; root and quoitd's own user see all. */
static void who_sees_callers(struct stage *s)
{
	static const unsigned sees[WHO] = {
		[OWN] = 2, [OTHER] = 1, [MEMBER] = 1, [ROOT] = 2, [SERVICE] = 2};
	struct quoit_service_reply seen = {0};
	struct raw_client alice, bob;
	struct serving v;
	uint32_t number;

	become(s, OWN);
	if (!serving_open(s, &v, "WR--"))
		return;
	CHECK(s, !serving_ask(&v.c, name, v.team.ring, QUOIT_SERVE_OTHERS, 0));
	become(s, OTHER);
	if (!stage_open(s, &alice, &wish))
		return;
	CHECK(s, !calling_ask(&alice, name, SCENE_MALLORY, 0, 0, &number));
	become(s, MEMBER);
	if (!stage_open(s, &bob, &wish))
		return;
	CHECK(s, !calling_ask(&bob, name, SCENE_MALLORY, 0, 0, &number));
	CHECK(s, see(s, OWN, &seen) && seen.callers == 2);
	for (enum who x = 0; x < WHO; x++)
		CHECK(s, count_callers(s, x, seen.service) == sees[x]);
	CHECK(s, stage_leave(s, &alice) == QUOIT_DAEMON_CLIENTS_LEFT);
	CHECK(s, stage_leave(s, &bob) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_leave(s, &v);
	become(s, OWN);
	serving_afresh(s);
}

/* The names of two users are two services, and none can take the other's over. */
static void same_name_of_two_users(struct stage *s)
{
	struct serving own, other;
	struct raw_client c;
	uint32_t number;

	become(s, OWN);
	if (!serving_open(s, &own, "WR--"))
		return;
	CHECK(s, !serving_ask(&own.c, name, own.team.ring, QUOIT_SERVE_OTHERS, 0));
	become(s, OTHER);
	if (!serving_open(s, &other, "R---") || !stage_open(s, &c, &wish))
		return;
	CHECK(s, calling_ask(&c, name, QUOIT_SERVICE_OWN, 0, 0, &number) == -ENOENT);
	CHECK(s, !serving_ask(&other.c, name, other.team.ring, 0, 0)); /* other functions */
	CHECK(s, !calling_ask(&c, name, QUOIT_SERVICE_OWN, 0, 0, &number) && number == 0);
	CHECK(s, !calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number) && number == 1);
	serving_leave(s, &own);
	CHECK(s, calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number) == -ENOENT);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_leave(s, &other);
	become(s, OWN);
	serving_afresh(s);
}

/* Another server of the service may be started with another mode, which counts from then on. */
static void mode_that_changes(struct stage *s)
{
	struct serving first, second;
	struct raw_client c;
	uint32_t number;

	become(s, OWN);
	if (!serving_open(s, &first, "WR--") || !serving_open(s, &second, "WR--"))
		return;
	CHECK(s, !serving_ask(&first.c, name, first.team.ring, QUOIT_SERVE_OTHERS, 0));
	become(s, OTHER);
	if (!stage_open(s, &c, &wish))
		return;
	CHECK(s, !calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number));
	CHECK(s, !calling_close(&c, number));
	CHECK(s, !serving_ask(&second.c, name, second.team.ring, 0, 0));
	CHECK(s, calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number) == -ENOENT);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	serving_leave(s, &first);
	serving_leave(s, &second);
	become(s, OWN);
	serving_afresh(s);
}

static const struct stage_case cases[] = {
	STAGE_CASE(who_may_call_and_see),
	STAGE_CASE(who_sees_callers),
	STAGE_CASE(same_name_of_two_users),
	STAGE_CASE(mode_that_changes),
};

int main(int argc, char **argv)
{
	const struct stage_scene service = {.prepare = scene_as_service};
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
