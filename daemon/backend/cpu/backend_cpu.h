/* SPDX-License-Identifier: MIT */
/* backend_cpu.h - runs jobs on the host's cores: in the reactor, or as tiles for workers. */
#ifndef QUOITD_BACKEND_CPU_H
#define QUOITD_BACKEND_CPU_H

#include "session/session.h"
#include "worker.h"

/* Fill in an operation's arguments: addresses, and inputs stretched as its rule says. */
void cpu_arguments(const struct session *s, const struct quoit_sqe *sqe, uint8_t tensors,
		   const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], struct op_args *ret);

/* Clear the whole buffers of the tensors whose bits are in `zero`. */
void cpu_clear(struct session *s, const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], uint8_t zero);

/*
 * Run an operation here and now, after clearing the buffers of `zero` (bits).  0 or -errno; error
 * then has its field and values.
 */
int cpu_run(struct session *s, const struct quoit_sqe *sqe, uint8_t tensors,
	    const uint32_t view[QUOIT_MAX_TENSORS_PER_JOB], uint8_t zero,
	    struct quoit_error *error);

/* Hand a job to the workers.  0, or -EBUSY: its user has no place left (worker_admits). */
int cpu_publish(struct session *s, struct job *job, struct worker_port *port);

/* The same behind a work that runs (worker_follow).  -EALREADY: that one has just ended. */
int cpu_publish_behind(struct session *s, struct job *job, struct worker_port *port,
		       struct work *ahead);

/* Note that workers have the job. */
void cpu_begin(struct session *s, struct job *job, uint64_t now);

/* The result of a work that has ended; error as in cpu_run. */
int cpu_result(const struct work *work, struct quoit_error *error);

#endif
