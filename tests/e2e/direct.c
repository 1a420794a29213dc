/* SPDX-License-Identifier: MIT */
/* direct.c - open sessions in GPU-direct mode, and run small jobs there */
#include "direct.h"

#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

struct quoit_session *direct_session(const struct device_room *r, bool direct)
{
	struct quoit_open_params p = {.socket = r->daemon.socket,
				      .host_bytes = UINT64_C(32) << 20,
				      .pinned_bytes = UINT64_C(1) << 20,
				      .device_bytes = UINT64_C(64) << 20,
				      .flags = direct ? QUOIT_OPEN_DIRECT : 0};
	struct quoit_session *s;

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	return s;
}

struct quoit_ring *direct_ring(struct quoit_session *s, unsigned device)
{
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(s, NULL, &q), 0);
	cr_assert_eq(quoit_use_device(q, device), 0);
	return q;
}

struct device_room direct_open(const char *faults, const char *option)
{
	const char *options[] = {"--gpu=soft", "--log=error", option, NULL};
	struct device_room r = {0};
	struct quoit_info info;

	setenv("QUOIT_SOFT_FAULTS", faults, 1);
	room_adapt(options);
	cr_assert_eq(daemon_start(&r.daemon, options), 0);
	r.s = direct_session(&r, true);
	r.q = direct_ring(r.s, 0);
	r.d = direct_ring(r.s, 1);
	quoit_get_info(r.s, &info);
	cr_assert(info.direct);
	return r;
}

struct quoit_device_desc direct_device(const struct device_room *r)
{
	struct quoit_device_desc d;

	cr_assert_eq(quoit_query_device(r->s, 1, &d), 0);
	return d;
}

int direct_finish(struct quoit_ring *q, quoit_job job, struct quoit_error *ret)
{
	int res;

	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, DIRECT_PATIENCE_MS), 1);
	res = quoit_get_result(q, job);
	if (ret)
		(void)quoit_get_job_error(q, job, ret);
	quoit_detach(q, job);
	return res;
}

int direct_run(struct quoit_ring *q, struct quoit_sqe sqe, struct quoit_error *ret)
{
	quoit_job job;

	cr_assert_eq(quoit_start(q, sqe, &job), 0);
	return direct_finish(q, job, ret);
}

uint64_t direct_bring_up_by(const struct device_room *r, quoit_tensor x)
{
	struct quoit_device_desc before = direct_device(r), now = before;

	for (int i = 0; i < DIRECT_PATIENCE_MS && now.jobs_direct == before.jobs_direct; i++) {
		if (i)
			usleep(1000);
		cr_assert_eq(direct_run(r->d, quoit_fill(x, i), NULL), 0);
		now = direct_device(r);
	}
	cr_assert_gt(now.jobs_direct, before.jobs_direct, "no consumer came up");
	return now.jobs_streamed - before.jobs_streamed;
}

void direct_bring_up(const struct device_room *r)
{
	quoit_tensor x = quoit_create_vector(r->d, QUOIT_F32, 2);

	(void)direct_bring_up_by(r, x);
	quoit_free(r->d, x);
}

void direct_expect_works(const struct device_room *r, int n)
{
	quoit_tensor x = quoit_create_vector(r->d, QUOIT_F32, 3);
	float got[3];

	cr_assert_eq(direct_run(r->d, quoit_fill(x, 2.0), NULL), 0);
	for (int i = 0; i < n; i++)
		cr_assert_eq(direct_run(r->d, quoit_add_scalar(x, x, 1.0), NULL), 0, "job %d", i);
	cr_assert_eq(quoit_read(r->d, x, got, sizeof got), 0);
	cr_expect(got[0] == (float)n + 2 && got[2] == (float)n + 2, "%f", (double)got[0]);
	quoit_free(r->d, x);
}
