/* SPDX-License-Identifier: MIT */
/* session_team.c - the functions of a team */
#include "session_team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

struct ring_team *team_new(void)
{
	struct ring_team *team = calloc(1, sizeof *team);

	for (unsigned i = 0; team && i < QUOIT_PRIO_NR; i++)
		team->waiting[i].head = NIL;
	return team;
}

struct ring *team_ring(const struct session *s, uint8_t ring)
{
	struct ring *r = ring < s->ring_count ? s->rings[ring] : NULL;

	return r && r->team ? r : NULL;
}

const struct function *team_function(const struct session *s, uint8_t ring, uint8_t number)
{
	const struct ring *r = team_ring(s, ring);

	return r && number < r->team->functions ? &r->team->function[number] : NULL;
}

static bool has_name(const struct ring_team *team, const char *name)
{
	for (uint32_t i = 0; i < team->functions; i++)
		if (!strcmp(team->function[i].name, name))
			return true;
	return false;
}

int team_add(struct session *s, struct function_ask *ask)
{
	struct ring *ring = ask->ring < QUOIT_MAX_RINGS ? team_ring(s, (uint8_t)ask->ring) : NULL;
	struct function *f;

	if (!ring || ring->closing) {
		snprintf(ask->text, sizeof ask->text,
			 "ring %u is no team's: the session has none "
			 "of that number, or it was opened without QUOIT_RING_CALLS",
			 ask->ring);
		return -EBADF;
	}
	if (has_name(ring->team, ask->name)) {
		snprintf(ask->text, sizeof ask->text, "the team has a function '%s' already",
			 ask->name);
		return -EEXIST;
	}
	if (ring->team->functions == QUOIT_MAX_FUNCTIONS) {
		snprintf(ask->text, sizeof ask->text, "a team has at most %u functions",
			 QUOIT_MAX_FUNCTIONS);
		return -ENFILE;
	}
	f = &ring->team->function[ring->team->functions];
	f->row = *optable_row(QUOIT_OP_CALL);
	memcpy(f->row.access, ask->access, sizeof ask->access);
	optable_read_access(&f->row);
	memcpy(f->name, ask->name, sizeof f->name);
	ask->number = ring->team->functions++;
	return 0;
}
