/* SPDX-License-Identifier: MIT */
/* run.c - puts a job in, and waits for its end */
#include <errno.h>
#include <time.h>

#include "library.h"
#include "refusal.h"

#define BUSY_NAP_NS 1000000u /* quoitd is yet to fetch what was cancelled before */

int quoit_run_at(struct quoit_ring *q, struct quoit_sqe sqe, int timeout_ms, const char *here)
{
	quoit_job job;
	int err = quoit_start(q, sqe, &job);

	if (err)
		return err;
	err = quoit_wait_at(q, job, timeout_ms, here);
	if (err != -ETIME || quoit_get_result(q, job) == -EINVAL) /* the job's own end */
		return err;
	/* It may end just now, and then that is what has happened. */
	while (quoit_get_result(q, job) == -EINPROGRESS && quoit_cancel(q, job) == -EBUSY)
		(void)nanosleep(&(struct timespec){.tv_nsec = BUSY_NAP_NS}, NULL);
	err = quoit_wait_at(q, job, QUOIT_FOREVER, here);
	if (err != -ECANCELED)
		return err;
	return libquoit_refuse(q, -ETIME, "it was cancelled, since it had not happened in %d ms",
			       timeout_ms);
}
