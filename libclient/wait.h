/* SPDX-License-Identifier: MIT */
/* wait.h - waits for jobs, with their call sites (site.h) */
#ifndef LIBQUOIT_WAIT_H
#define LIBQUOIT_WAIT_H

#include <stdint.h>

#include "public.h"

/* 0 if the ring allows waits, else -errno.  Forgets the failure of the last wait. */
int libquoit_wait_begin(struct quoit_ring *q);

/*
 * Wait for one job: its result.  The slot is free afterwards, but still has its contents.  If
 * several jobs of one wait fail, the first failure is kept for quoit_get_wait_error.
 */
int libquoit_wait_job(struct quoit_ring *q, quoit_job job, uint64_t deadline, const char *here);

/* Publish, sleep until any job has ended, and count the wait under `here`. */
int libquoit_wait_progress(struct quoit_ring *q, const char *here);

#endif
