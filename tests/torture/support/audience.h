/* SPDX-License-Identifier: MIT */
/*
 * audience.h - several users before what Mallory shares by a name: who may use it, and who sees what
 * of it; for root only
 *
 * Mallory makes it, as a member of a group.  Alice is nobody, Bob another member.
 */
#ifndef TORTURE_AUDIENCE_H
#define TORTURE_AUDIENCE_H

#include "scenes.h"
#include "stage.h"

#define AUDIENCE_GROUP 4000003u

/* Who asks; clients of a member have the group besides their own. */
enum audience { OWN, OTHER, MEMBER, ROOT, SERVICE, AUDIENCE };

/* Who may do what with something of this mode and group. */
struct audience_row {
	uint32_t mode, gid;
	bool may_use[AUDIENCE], may_see[AUDIENCE];
};

#define AUDIENCE_ROWS 4u
extern const struct audience_row audience_row[AUDIENCE_ROWS];

/* From now on clients are these; quoitd sees user and groups of the moment in which they connect. */
void audience_become(struct stage *s, enum audience x);

/* Become these, and open one of their sessions. */
bool audience_open(struct stage *s, enum audience x, struct raw_client *c);

/* The first thing that SERVICES shows them.  False: it shows none. */
bool audience_see(struct stage *s, enum audience x, struct quoit_service_reply *ret);

/* How many sessions that have this open CALLERS shows them. */
unsigned audience_count_callers(struct stage *s, enum audience x, uint64_t service);

/* Run a program of such cases, or skip them; quoitd's options may be NULL.  Its exit status. */
int audience_main(int argc, char **argv, const char *const *options, const struct stage_case *cases,
		  unsigned count);

#endif
