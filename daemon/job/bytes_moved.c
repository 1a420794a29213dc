/* SPDX-License-Identifier: MIT */
/* bytes_moved.c - counts the bytes that a job has moved */
#include "bytes_moved.h"

#include "job.h"
#include "session/extent.h"
#include "session/tensor_bits.h"
#include "shape.h"

/* The bytes of the elements of these tensors. */
static uint64_t bytes_of(const struct session *s, const uint32_t *view, uint8_t tensors)
{
	uint64_t bytes = 0;

	for_each_tensor (i, tensors) {
		const struct view *v = &s->views[view[i]];

		bytes += view_bytes(v);
	}
	return bytes;
}

/* A NOP moves nothing: it only waits for what it says it reads. */
static uint64_t both(const struct session *s, const struct quoit_sqe *sqe, const uint32_t *view,
		     uint8_t reads, uint8_t writes)
{
	if (sqe->opcode == QUOIT_OP_NOP)
		return 0;
	return bytes_of(s, view, reads) + bytes_of(s, view, writes);
}

uint64_t bytes_moved_at_fetch(const struct session *s, const struct quoit_sqe *sqe,
			      const struct plan *plan)
{
	return both(s, sqe, plan->view, plan->reads, plan->writes);
}

/* Does it copy between two places, such as the host and a device? */
static bool goes_across(const struct session *s, const struct job *job)
{
	return job->sqe.opcode == QUOIT_OP_COPY && job->on_device &&
	       s->views[job->view[0]].device != s->views[job->view[1]].device;
}

uint64_t bytes_moved_by_job(const struct session *s, const struct job *job, int32_t res)
{
	if (job_names_file(job))
		return (uint32_t)res;
	if (job->orders_only)
		return 0;
	if (goes_across(s, job))
		return bytes_of(s, job->view, job->writes);
	return both(s, &job->sqe, job->view, job->reads, job->writes);
}
