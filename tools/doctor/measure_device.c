/* SPDX-License-Identifier: MIT */
/* measure_device.c - measure a small job on a device, and copies from and to it */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <quoit.h>

#include "bench/bench.h"
#include "measure.h"

#define COPY_BYTES  (UINT64_C(64) << 20)
#define HOST_BYTES  (UINT64_C(32) << 20)
#define PATIENCE_MS 30000 /* quoitd's --gpu-ms, after which it ends the device's process */
#define JOBS        200u
#define WARM        20u
#define COPIES      4u

static int run_once(struct quoit_ring *q, struct quoit_sqe sqe, double *ret_s)
{
	const double start = bench_now();
	quoit_job job;
	int err = quoit_start(q, sqe, &job);

	if (!err)
		err = quoit_wait(q, job, PATIENCE_MS);
	*ret_s = bench_now() - start;
	return err;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int time_jobs(struct quoit_ring *q, double *ret_us)
{
	quoit_tensor x = quoit_create_matrix(q, QUOIT_F32, 1, 2),
		     y = quoit_create_matrix(q, QUOIT_F32, 1, 2);
	double seconds[JOBS], warm;
	int err = run_once(q, quoit_fill(x, 1.0), &warm);

	for (unsigned i = 0; i < WARM && !err; i++)
		err = run_once(q, quoit_add_scalar(y, x, 1.0), &warm);
	for (unsigned i = 0; i < JOBS && !err; i++)
		err = run_once(q, quoit_add_scalar(y, x, 1.0), &seconds[i]);
	if (err)
		return err;
	qsort(seconds, JOBS, sizeof seconds[0], by_value);
	*ret_us = seconds[JOBS / 2] * 1e6;
	return 0;
}

/* The first copy also registers its memory; of the others, the fastest counts. */
static int time_copies(struct quoit_ring *q, struct quoit_sqe copy, double *ret_gb_s)
{
	double seconds, best = 0;
	int err = run_once(q, copy, &seconds);

	for (unsigned i = 0; i < COPIES && !err; i++) {
		err = run_once(q, copy, &seconds);
		if (!best || seconds < best)
			best = seconds;
	}
	*ret_gb_s = best > 0 ? (double)COPY_BYTES / best / 1e9 : 0;
	return err;
}

static int time_all(struct quoit_ring *q, struct measure_device *ret)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, COPY_BYTES / 4}};
	quoit_tensor here = quoit_create(q, &shape, QUOIT_CREATE_PINNED), there;
	double seconds;
	int err = quoit_use_device(q, 1);

	if (err) {
		snprintf(ret->text, sizeof ret->text, "%s", quoit_open_text());
		return err;
	}
	there = quoit_create(q, &shape, 0);
	err = time_jobs(q, &ret->job_us);
	if (!err)
		err = run_once(q, quoit_fill(here, 1.0), &seconds);
	if (!err)
		err = time_copies(q, quoit_copy(there, here), &ret->in_gb_s);
	if (!err)
		err = time_copies(q, quoit_copy(here, there), &ret->out_gb_s);
	return err;
}

int measure_device(const char *socket, struct measure_device *ret)
{
	const struct quoit_open_params params = {.socket = socket,
						 .name = "quoit doctor",
						 .host_bytes = HOST_BYTES + COPY_BYTES,
						 .pinned_bytes = COPY_BYTES,
						 .device_bytes = 2 * COPY_BYTES};
	struct quoit_session *s = NULL;
	struct quoit_ring *q;
	int err;

	*ret = (struct measure_device){0};
	err = quoit_open(&params, &s);
	if (err) {
		snprintf(ret->text, sizeof ret->text, "%s", quoit_open_text());
		return err;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = time_all(q, ret);
	(void)quoit_close(s, QUOIT_CLOSE_CANCEL);
	if (err && !*ret->text)
		snprintf(ret->text, sizeof ret->text, "%s", quoit_strerror(err));
	return err;
}
