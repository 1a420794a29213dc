/* SPDX-License-Identifier: MIT */
/* bytes_moved.h - how many bytes a successful job has moved: "bytes_moved" of quoit/stats.h */
#ifndef QUOITD_BYTES_MOVED_H
#define QUOITD_BYTES_MOVED_H

#include "validate.h"

/* Of a job that ran at its fetch; and of one of the table, which ended with this result. */
uint64_t bytes_moved_at_fetch(const struct session *s, const struct quoit_sqe *sqe,
			      const struct plan *plan);
uint64_t bytes_moved_by_job(const struct session *s, const struct job *job, int32_t res);

#endif
