/* SPDX-License-Identifier: MIT */
/* audience.c - several users before what one of them shares by a name */
#include "audience.h"

#include <errno.h>
#include <grp.h>

#include "ctl_client.h"

static const struct {
	uid_t uid;
	bool is_member;
} who[AUDIENCE] = {
	[OWN] = {SCENE_MALLORY, true},      [OTHER] = {SCENE_ALICE, false},
	[MEMBER] = {SCENE_BOB, true},       [ROOT] = {0, false},
	[SERVICE] = {SCENE_SERVICE, false},
};

const struct audience_row audience_row[AUDIENCE_ROWS] = {
	{0, 0, {[OWN] = true, [ROOT] = true}, {[OWN] = true, [ROOT] = true, [SERVICE] = true}},
	{QUOIT_SERVE_GROUP,
	 AUDIENCE_GROUP,
	 {[OWN] = true, [MEMBER] = true, [ROOT] = true},
	 {[OWN] = true, [MEMBER] = true, [ROOT] = true, [SERVICE] = true}},
	{QUOIT_SERVE_OTHERS,
	 0,
	 {[OWN] = true, [OTHER] = true, [MEMBER] = true, [ROOT] = true},
	 {true, true, true, true, true}},
	{QUOIT_SERVE_GROUP | QUOIT_SERVE_OTHERS,
	 AUDIENCE_GROUP,
	 {[OWN] = true, [OTHER] = true, [MEMBER] = true, [ROOT] = true},
	 {true, true, true, true, true}},
};

void audience_become(struct stage *s, enum audience x)
{
	const gid_t gid = AUDIENCE_GROUP;

	CHECK(s, !setgroups(who[x].is_member, &gid));
	raw_set_user(who[x].uid);
}

bool audience_open(struct stage *s, enum audience x, struct raw_client *c)
{
	const struct raw_wish wish = {.host_bytes = 1 << 20, .sq_entries = 8};

	audience_become(s, x);
	return stage_open(s, c, &wish);
}

bool audience_see(struct stage *s, enum audience x, struct quoit_service_reply *ret)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICES};
	struct raw_client c;
	int err;

	audience_become(s, x);
	if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return false;
	err = raw_call_with(&c, &m, -1, NULL);
	*ret = m.service_reply;
	ctl_leave(s, &c);
	CHECK(s, !err || err == -ENOENT);
	return !err;
}

unsigned audience_count_callers(struct stage *s, enum audience x, uint64_t service)
{
	struct quoit_ctl m;
	struct raw_client c;
	uint64_t next = 0;
	unsigned n = 0;

	audience_become(s, x);
	if (!CHECK(s, !raw_connect(&c, s->daemon.socket)))
		return 0;
	for (;; n++) {
		m = (struct quoit_ctl){.type = QUOIT_CTL_CALLERS,
				       .services = {.service = service, .caller = next}};
		if (raw_call_with(&c, &m, -1, NULL))
			break;
		CHECK(s, m.caller_reply.service == service);
		next = m.caller_reply.caller + 1;
	}
	ctl_leave(s, &c);
	return n;
}

int audience_main(int argc, char **argv, const char *const *options, const struct stage_case *cases,
		  unsigned count)
{
	const struct stage_scene service = {.options = options, .prepare = scene_as_service};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	if (stage_has_users())
		stage_play(&stage, &service, cases, count);
	else
		stage_skip(&stage, cases, count, "only root can be several users");
	return stage_end(&stage);
}
