/* SPDX-License-Identifier: MIT */
/* session_team.c - the functions of teams and of services */
#include "session_team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services.h"
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

static const struct service_functions *functions_of_service(const struct session *s, uint8_t team)
{
	const struct caller *c = s->services.caller[team - QUOIT_TEAM_SERVICE];

	return c && !c->closing ? &c->service->functions : NULL;
}

/* A ring that serves a service has the functions for other sessions. */
static const struct ring_team *own_team(const struct session *s, uint8_t ring)
{
	const struct ring *r = team_ring(s, ring);

	return r && !r->team->serves ? r->team : NULL;
}

const struct function *team_function(const struct session *s, uint8_t team, uint8_t number)
{
	if (number >= team_functions(s, team))
		return NULL;
	return team < QUOIT_TEAM_SERVICE ? &own_team(s, team)->function[number]
					 : &functions_of_service(s, team)->function[number];
}

const struct function *team_function_of(const struct session *s, const struct job *job)
{
	const uint8_t team = job->sqe.team, number = job->sqe.function;

	if (team < QUOIT_TEAM_SERVICE)
		return &team_ring(s, team)->team->function[number];
	return &s->services.caller[team - QUOIT_TEAM_SERVICE]->service->functions.function[number];
}

uint32_t team_functions(const struct session *s, uint8_t team)
{
	const struct service_functions *f;
	const struct ring_team *own;

	if (team >= QUOIT_TEAM_SERVICE + QUOIT_MAX_SERVICES)
		return 0;
	if (team < QUOIT_TEAM_SERVICE) {
		own = own_team(s, team);
		return own ? own->functions : 0;
	}
	f = functions_of_service(s, team);
	return f ? atomic_load_explicit(&f->count, memory_order_acquire) : 0;
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
	if (ring->team->serves) {
		snprintf(ask->text, sizeof ask->text,
			 "ring %u serves a service already: add functions before SERVE", ask->ring);
		return -EBUSY;
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
