/* SPDX-License-Identifier: MIT */
/* fetch_team.c - takes what a team returns */
#include "fetch_team.h"

#include <errno.h>

#include "backend/program/backend_call.h"
#include "backend/service/servers.h"
#include "fetch_job.h"
#include "job/completion.h"
#include "observe/latency.h"

/* False: it was refused, by a CQE. */
static bool fetch_return(struct ring *ring, uint32_t index)
{
	const struct quoit_sqe *from = &ring->sqes[index & (ring->layout.sq_entries - 1)];
	struct session *s = ring->session;
	struct quoit_sqe sqe;
	struct fault fault;
	int err;

	quoit_ring_copy((uint64_t *)&sqe, (const uint64_t *)from, sizeof sqe / sizeof(uint64_t));
	if (sqe.opcode == QUOIT_OP_RETURN)
		err = ring->team->server ? server_return(s->reactor, ring, &sqe, &fault)
					 : call_return(s->reactor, ring, &sqe, &fault);
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
	uint32_t first = index;
	bool good = true;

	/*
	 * A return posts calls, and one that is refused needs a slot of the same CQ.  There surely
	 * is one for the first that is refused (backend_call.c).
	 */
	for (; index != end && (good || completion_credits(ring) > 0); index++)
		good &= fetch_return(ring, index);
	latency_count_jobs(ring->session, QUOIT_OP_RETURN, index - first);
	return index;
}
