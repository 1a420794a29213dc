/* SPDX-License-Identifier: MIT */
/* probes.c - the semaphores of quoitd's probes, and which starts are reported */
#include "probes.h"

#include "ops/optable.h"
#include "record.h"

/* Weak, because a test also links libquoit's probes, and one name is in both. */
#define DEFINE(name)                                                                               \
	__attribute__((section(".probes"), aligned(QUOIT_LINE), weak)) PROBE_SEMAPHORE(name) = {0}

DEFINE(fetch);
DEFINE(refuse);
DEFINE(start);
DEFINE(end);
DEFINE(post);
DEFINE(wake);

/* Does this start only clear buffers, for a job that then goes to another executor or a file? */
static bool is_only_cleared(const struct job *job)
{
	return job_host_zero(job) &&
	       (job->executor != NO_EXECUTOR || optable_find(job->sqe.opcode)->flags & OP_FILE);
}

void probe_start_traced(const struct session *s, const struct job *job)
{
	uint32_t place = record_place(s, job);

	/* A failed job may still be sent, to clear what others will read. */
	if (place != QUOIT_TRACE_NOWHERE && !job->failed && !is_only_cleared(job))
		probe_start_at(s, job, place);
}
