/* SPDX-License-Identifier: MIT */
/* team_inside.c - the functions that a thread is in, since each that waits for jobs runs others */
#include <errno.h>
#include <sys/socket.h>

#include "library.h"
#include "mine.h"
#include "refusal.h"
#include "serve.h"
#include "team.h"

static _Thread_local struct team_inside inside;

struct team_inside libquoit_team_enter(struct quoit_team *t)
{
	const struct team_inside outer = inside;

	inside = (struct team_inside){outer.depth + 1, t->session->mine, t};
	return outer;
}

void libquoit_team_leave(struct team_inside outer)
{
	inside = outer;
}

unsigned libquoit_team_depth(void)
{
	if (UNLIKELY(inside.depth) && !libquoit_is_mine(inside.mine))
		inside.depth = 0;
	return inside.depth;
}

void libquoit_team_forget(const uint32_t *mine)
{
	if (inside.mine == mine)
		inside = (struct team_inside){0};
}

struct quoit_team *libquoit_team_suspend(const struct quoit_ring *q)
{
	const unsigned depth = libquoit_team_depth();

	if (!depth || depth >= TEAM_DEPTH_MOST || q->no_calls || !inside.team->serve)
		return NULL;
	libquoit_team_waits(inside.team, 1);
	return inside.team;
}

void libquoit_team_wake_quoitd(const struct quoit_team *t)
{
	(void)send(t->ring->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void libquoit_team_resume(struct quoit_team *t)
{
	libquoit_team_waits(t, -1);
}

static int refuse_depth(struct quoit_ring *q)
{
	return libquoit_refuse(q, -EDEADLK,
			       "this thread is in %u functions, each of which waits for a call: it "
			       "runs no more of them",
			       TEAM_DEPTH_MOST);
}

static int refuse_suspended(struct quoit_ring *q)
{
	return libquoit_refuse(
		q, -EDEADLK,
		"%u functions of service '%s' wait in this process already: one that "
		"runs may make no more calls",
		TEAM_SUSPENDED_MOST, inside.team->serve->name);
}

int libquoit_team_check_call(struct quoit_ring *q, const struct quoit_sqe *sqe)
{
	const unsigned depth = libquoit_team_depth();
	const unsigned service = sqe->team - QUOIT_TEAM_SERVICE;

	if (LIKELY(!depth))
		return 0;
	/* What a lock and its kin are asked, no thread of ours answers. */
	if (sqe->team >= QUOIT_TEAM_SERVICE && service < QUOIT_MAX_SERVICES &&
	    __atomic_load_n(&q->session->sync[service].kind, __ATOMIC_RELAXED))
		return 0;
	if (depth >= TEAM_DEPTH_MOST)
		return refuse_depth(q);
	if (inside.team->serve &&
	    __atomic_load_n(&inside.team->suspended, __ATOMIC_RELAXED) >= TEAM_SUSPENDED_MOST)
		return refuse_suspended(q);
	return 0;
}
