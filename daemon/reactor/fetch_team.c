/* SPDX-License-Identifier: MIT */
/* fetch_team.c - takes what a team returns */
#include "fetch_team.h"

#include <errno.h>

#include "backend/program/backend_call.h"
#include "backend/service/servers.h"
#include "base/tsc.h"
#include "fetch_job.h"
#include "job/completion.h"
#include "observe/latency.h"

/* A slot is a line in the cache of the thread that returned: it is asked for so far ahead. */
#define AHEAD 4u

static const struct quoit_sqe *slot(const struct ring *ring, uint32_t index)
{
	return &ring->sqes[index & (ring->layout.sq_entries - 1)];
}

/* False: it was refused, by a CQE. */
static bool fetch_return(struct ring *ring, uint32_t index, uint64_t now)
{
	struct session *s = ring->session;
	struct quoit_sqe sqe;
	struct fault fault;
	int err;

	quoit_ring_copy((uint64_t *)&sqe, (const uint64_t *)slot(ring, index),
			sizeof sqe / sizeof(uint64_t));
	if (sqe.opcode == QUOIT_OP_RETURN)
		err = ring->team->server ? server_return(s->reactor, ring, &sqe, now, &fault)
					 : call_return(s->reactor, ring, &sqe, now, &fault);
	else
		err = refuse(&fault, -EINVAL, QUOIT_FIELD_OPCODE, sqe.opcode, QUOIT_OP_RETURN);
	if (err < 0)
		(void)fetch_refuse_control(ring, &sqe, index, err, &fault);
	else
		s->jobs_done++;
	return !err;
}

uint32_t fetch_returns(struct ring *ring, uint32_t index, uint32_t end)
{
	const uint32_t first = index;
	bool good = true;
	uint64_t now;

	for (uint32_t i = index; i != end && i - index < AHEAD; i++)
		__builtin_prefetch(slot(ring, i));
	now = tsc_after_loads();
	/*
	 * A return that is refused needs a slot of the CQ, where calls are posted, too.  There
	 * surely is one for the first that is refused (backend_call.c).
	 */
	for (; index != end && (good || completion_credits(ring) > 0); index++) {
		if (end - index > AHEAD)
			__builtin_prefetch(slot(ring, index + AHEAD));
		good &= fetch_return(ring, index, now);
	}
	if (!ring->team->server)
		call_post(ring->session->reactor, ring);
	latency_count_jobs(ring->session, QUOIT_OP_RETURN, index - first);
	return index;
}
