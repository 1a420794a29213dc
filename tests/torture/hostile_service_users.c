/* SPDX-License-Identifier: MIT */
/*
 * hostile_service_users.c - who may call a service, and who sees what of it: case 114 of the threat
 * model; for root only
 */
#include <errno.h>
#include <string.h>

#include "audience.h"
#include "serving.h"

static const char name[QUOIT_NAME_BYTES] = "table";

/* Mallory serves this to all. */
static bool serve_all(struct stage *s, struct serving *v)
{
	audience_become(s, OWN);
	return serving_open(s, v, "WR--") &&
	       CHECK(s, !serving_ask(&v->c, name, v->team.ring, QUOIT_SERVE_OTHERS, 0));
}

/* One of them calls what Mallory serves. */
static bool call_as(struct stage *s, enum audience x, struct raw_client *c)
{
	uint32_t number;

	return audience_open(s, x, c) &&
	       CHECK(s, !calling_ask(c, name, SCENE_MALLORY, 0, 0, &number));
}

static void leave(struct stage *s, struct raw_client *c)
{
	CHECK(s, stage_leave(s, c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void try_afresh(struct stage *s)
{
	audience_become(s, OWN);
	serving_afresh(s);
}

static void try_one(struct stage *s, const struct audience_row *row, enum audience x)
{
	struct quoit_service_reply seen;
	struct raw_client c;
	uint32_t number;
	int err;

	if (!CHECK(s, audience_see(s, x, &seen) == row->may_see[x]))
		return;
	if (row->may_see[x])
		CHECK(s, seen.uid == SCENE_MALLORY && !strcmp(seen.name, name) &&
				 seen.mode == row->mode && seen.gid == row->gid &&
				 seen.servers == 1);
	if (x == SERVICE) /* it opens no session */
		return;
	if (!audience_open(s, x, &c))
		return;
	err = calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number);
	CHECK(s, err == (row->may_use[x] ? 0 : -ENOENT));
	if (x != OWN)
		CHECK(s, calling_ask(&c, name, QUOIT_SERVICE_OWN, 0, 0, &number) == -ENOENT);
	leave(s, &c);
}

static void who_may_call_and_see(struct stage *s)
{
	for (unsigned i = 0; i < AUDIENCE_ROWS && !s->bad; i++) {
		const struct audience_row *row = &audience_row[i];
		struct serving v;

		audience_become(s, OWN);
		if (!serving_open(s, &v, "WR--") ||
		    !CHECK(s, !serving_ask(&v.c, name, v.team.ring, row->mode, row->gid)))
			return;
		for (enum audience x = 0; x < AUDIENCE && !s->bad; x++)
			try_one(s, row, x);
		serving_leave(s, &v);
	}
	try_afresh(s);
}

/* Own callers, and callers of own services; root and quoitd's own user see all. */
static void who_sees_callers(struct stage *s)
{
	static const unsigned sees[AUDIENCE] = {
		[OWN] = 2, [OTHER] = 1, [MEMBER] = 1, [ROOT] = 2, [SERVICE] = 2};
	struct quoit_service_reply seen = {0};
	struct raw_client alice, bob;
	struct serving v;

	if (!serve_all(s, &v) || !call_as(s, OTHER, &alice) || !call_as(s, MEMBER, &bob))
		return;
	CHECK(s, audience_see(s, OWN, &seen) && seen.callers == 2);
	for (enum audience x = 0; x < AUDIENCE; x++)
		CHECK(s, audience_count_callers(s, x, seen.service) == sees[x]);
	leave(s, &alice);
	leave(s, &bob);
	serving_leave(s, &v);
	try_afresh(s);
}

/* The names of two users are two services, and none can take the other's over. */
static void same_name_of_two_users(struct stage *s)
{
	struct serving own, other;
	struct raw_client c;
	uint32_t number;

	if (!serve_all(s, &own) || !audience_open(s, OTHER, &c) || !serving_open(s, &other, "R---"))
		return;
	CHECK(s, calling_ask(&c, name, QUOIT_SERVICE_OWN, 0, 0, &number) == -ENOENT);
	CHECK(s, !serving_ask(&other.c, name, other.team.ring, 0, 0)); /* other functions */
	CHECK(s, !calling_ask(&c, name, QUOIT_SERVICE_OWN, 0, 0, &number) && number == 0);
	CHECK(s, !calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number) && number == 1);
	serving_leave(s, &own);
	CHECK(s, calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number) == -ENOENT);
	leave(s, &c);
	serving_leave(s, &other);
	try_afresh(s);
}

/* Another server of the service may be started with another mode, which counts from then on. */
static void mode_that_changes(struct stage *s)
{
	struct serving first, second;
	struct raw_client c;
	uint32_t number;

	if (!serve_all(s, &first) || !serving_open(s, &second, "WR--") ||
	    !audience_open(s, OTHER, &c))
		return;
	CHECK(s, !calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number));
	CHECK(s, !calling_close(&c, number));
	CHECK(s, !serving_ask(&second.c, name, second.team.ring, 0, 0));
	CHECK(s, calling_ask(&c, name, SCENE_MALLORY, 0, 0, &number) == -ENOENT);
	leave(s, &c);
	serving_leave(s, &first);
	serving_leave(s, &second);
	try_afresh(s);
}

static const struct stage_case cases[] = {
	STAGE_CASE(who_may_call_and_see),
	STAGE_CASE(who_sees_callers),
	STAGE_CASE(same_name_of_two_users),
	STAGE_CASE(mode_that_changes),
};

int main(int argc, char **argv)
{
	return audience_main(argc, argv, NULL, cases, sizeof cases / sizeof *cases);
}
