/* SPDX-License-Identifier: MIT */
/* probes.c - the semaphores of quoitd's probes, and which starts are told */
#include "probes.h"

#include "optable.h"
#include "record.h"

/* Weak: a test has libquoit's probes, too, and there is one of the same name. */
#define DEFINE(name)                                                                               \
	__attribute__((section(".probes"), aligned(QUOIT_LINE), weak)) PROBE_SEMAPHORE(name) = {0}

DEFINE(fetch);
DEFINE(refuse);
DEFINE(start);
DEFINE(end);
DEFINE(post);
DEFINE(wake);

/* Are only buffers cleared now, for a job that then goes to somebody else? */
static bool is_only_cleared(const struct job *job)
{
	return job_host_zero(job) &&
	       (job->executor != NO_EXECUTOR || optable_find(job->sqe.opcode)->flags & OP_FILE);
}

void probe_start_traced(const struct session *s, const struct job *job)
{
	uint32_t place = record_place(s, job);

	/* One that has failed may be sent to clear what others will read. */
	if (place != QUOIT_TRACE_NOWHERE && !job->failed && !is_only_cleared(job))
		probe_start_at(s, job, place);
}
