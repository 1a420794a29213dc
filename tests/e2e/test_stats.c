/* SPDX-License-Identifier: MIT */
/* test_stats.c - test what the counter files tell about open jobs, and what they hide */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "client.h"
#include "daemon.h"
#include "executor.h"

#define MS 1000 /* for usleep */

/* Longer than a busy machine needs to notice it. */
#define NAP_MS 3000

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t counter(const struct house *h, unsigned which)
{
	struct quoit_info info;

	quoit_get_info(h->s, &info);
	return daemon_session_counter(&h->d, info.session, which);
}

/* Wait until the counter has this value; false after five seconds. */
static bool becomes(const struct house *h, unsigned which, uint64_t value)
{
	for (int i = 0; i < 500; i++) {
		if (counter(h, which) == value)
			return true;
		usleep(10 * MS);
	}
	return false;
}

/* ---- what jobs wait for ---- */

Test(stats, a_job_behind_another_ones_output_waits_for_data)
{
	struct house h = house_open(8);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 16);

	house_submit(h.q, house_nap(&h, t, NAP_MS, SLEEP_WELL), 1);
	house_submit(h.q, quoit_add_scalar(t, t, 1), 2);
	house_submit(h.q, quoit_add_scalar(t, t, 1), 3);
	cr_expect(becomes(&h, QUOIT_SESSION_WAIT_DATA, 2));
	cr_expect(becomes(&h, QUOIT_SESSION_RUNNING, 1));
	cr_expect_eq(counter(&h, QUOIT_SESSION_QUEUED), 2);
	cr_expect_eq(counter(&h, QUOIT_SESSION_WAIT_MEMORY), 0);
	cr_expect_eq(counter(&h, QUOIT_SESSION_WAIT_TURN), 0);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(house_reap(h.q, NULL).res, 0);
	cr_expect(becomes(&h, QUOIT_SESSION_WAIT_DATA, 0));
	house_close(&h);
}

Test(stats, a_job_that_the_lease_has_no_bytes_for_waits_for_memory)
{
	struct house h = house_open(16);
	struct quoit_info info;
	quoit_tensor large, more;
	uint32_t half;

	quoit_get_info(h.s, &info);
	half = (uint32_t)(info.host_bytes / 3 * 2 / sizeof(float));
	large = quoit_create_vector(h.q, QUOIT_F32, half);
	house_submit(h.q, house_nap(&h, large, NAP_MS, SLEEP_WELL), 1);
	cr_assert_eq(quoit_free(h.q, large), 0);
	cr_assert(
		becomes(&h, QUOIT_SESSION_RUNNING, 1)); /* it, too, waits for its pages at first */
	more = quoit_create_vector(h.q, QUOIT_F32, half);
	house_submit(h.q, quoit_fill(more, 1), 2);
	cr_expect(becomes(&h, QUOIT_SESSION_WAIT_MEMORY, 1));
	cr_expect_eq(counter(&h, QUOIT_SESSION_WAIT_DATA), 0);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(house_reap(h.q, NULL).res, 0);
	cr_expect(becomes(&h, QUOIT_SESSION_WAIT_MEMORY, 0));
	cr_expect_gt(counter(&h, QUOIT_SESSION_MEMORY_TICKS), 0);
	house_close(&h);
}

/* ---- how many, for how long ---- */

Test(stats, queue_ticks_are_jobs_times_time)
{
	struct house h = house_open(8);
	quoit_tensor t = quoit_create_vector(h.q, QUOIT_F32, 16);
	const struct quoit_totals *totals = daemon_totals(&h.d);
	uint64_t before = now_ns(), hz, ticks, after;
	double all;

	house_submit(h.q, house_nap(&h, t, NAP_MS, SLEEP_WELL), 1);
	house_submit(h.q, quoit_add_scalar(t, t, 1), 2);
	house_submit(h.q, quoit_add_scalar(t, t, 1), 3);
	cr_expect(becomes(&h, QUOIT_SESSION_WAIT_DATA, 2));
	all = NAP_MS * 1e6 - (double)(now_ns() - before); /* from here on all three are open */
	cr_expect_eq(house_reap(h.q, NULL).res, 0);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(house_reap(h.q, NULL).res, 0);
	after = now_ns();
	cr_assert_not_null(totals);
	hz = totals->header.tsc_hz;
	cr_expect(becomes(&h, QUOIT_SESSION_QUEUED, 0));
	ticks = counter(&h, QUOIT_SESSION_QUEUE_TICKS);
	cr_expect_geq((double)ticks * 1e9, 0.99 * 3 * all * (double)hz);
	cr_expect_leq((double)ticks * 1e9, 1.01 * 3 * (double)(after - before) * (double)hz);
	ticks = counter(&h, QUOIT_SESSION_BUSY_TICKS);
	cr_expect_geq((double)ticks * 1e9, 0.99 * all * (double)hz);
	cr_expect_leq((double)ticks * 1e9, 1.01 * (double)(after - before) * (double)hz);
	daemon_totals_unmap(totals);
	house_close(&h);
}

Test(stats, the_deepest_queue_is_remembered)
{
	struct house h = house_open(256);
	struct quoit_sqe nop = quoit_nop(QUOIT_NO_TENSOR);

	for (int i = 0; i < 48; i++)
		*quoit_get_sqe(h.q) = nop;
	cr_assert_eq(quoit_flush(h.q), 0);
	cr_expect(becomes(&h, QUOIT_SESSION_CQ_DEPTH, 48));
	for (int i = 0; i < 48; i++)
		cr_expect_eq(house_reap(h.q, NULL).res, 0);
	house_submit(h.q, nop, 1);
	cr_expect_eq(house_reap(h.q, NULL).res, 0);
	cr_expect(becomes(&h, QUOIT_SESSION_CQ_DEPTH, 0));
	cr_expect_eq(counter(&h, QUOIT_SESSION_CQ_MOST), 48);
	cr_expect_eq(counter(&h, QUOIT_SESSION_SQ_MOST), 48);
	cr_expect_eq(counter(&h, QUOIT_SESSION_SQ_DEPTH), 0);
	house_close(&h);
}

/* quoitd has a fast path for single jobs without flags. */
Test(stats, jobs_that_come_alone_are_counted_as_others_are)
{
	struct house h = house_open(64);
	uint64_t jobs = 3000;

	for (uint64_t i = 1; i <= jobs; i++) {
		struct quoit_sqe nop = quoit_nop(QUOIT_NO_TENSOR);

		nop.flags = i % 3 ? 0 : QUOIT_SQE_QUIET;
		house_submit(h.q, nop, i);
		if (nop.flags) {
			usleep(10); /* so that it is not fetched with the next one */
		} else {
			struct quoit_cqe cqe = house_reap(h.q, NULL);

			cr_assert_eq(cqe.user_data, i);
			cr_assert_eq(cqe.res, 0);
		}
	}
	cr_expect(becomes(&h, QUOIT_SESSION_DONE, jobs));
	cr_expect(becomes(&h, QUOIT_SESSION_CQ_DEPTH, 0));
	cr_expect_eq(counter(&h, QUOIT_SESSION_SUBMITTED), jobs);
	house_close(&h);
}

/* ---- cores ---- */

/* Do the cores' tiles and the reactors' tiles become equal, and not zero? */
static bool cores_agree(const struct quoit_totals *t)
{
	uint64_t of_cores = 0, of_reactors = 0;

	for (uint32_t i = 0; i < t->header.cores; i++)
		of_cores += t->core[i].value[QUOIT_CORE_TILE_TICKS];
	for (uint32_t i = 0; i < t->header.reactors; i++)
		of_reactors += t->reactor[i].value[QUOIT_REACTOR_TILE_TICKS];
	return of_cores && of_cores == of_reactors;
}

Test(stats, cores_and_reactors_say_the_same_of_tiles)
{
	const struct quoit_totals *t;
	struct client c;
	bool agree = false;

	client_open(&c, NULL, NULL);
	t = daemon_totals(&c.d);
	cr_assert_not_null(t);
	cr_expect_eq((long)t->header.cores, sysconf(_SC_NPROCESSORS_ONLN));
	client_busy(&c, client_large(&c), 20);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	for (int i = 0; i < 500 && !agree; i++) {
		usleep(10 * MS);
		agree = cores_agree(t);
	}
	cr_expect(agree);
	daemon_totals_unmap(t);
	client_close(&c);
}

Test(stats, time_of_cores_is_charged_while_a_job_runs)
{
	uint64_t charged = 0, before;
	struct quoit_info info;
	struct client c;
	quoit_job job;

	client_open(&c, NULL, NULL);
	quoit_get_info(c.s, &info);
	before = daemon_session_counter(&c.d, info.session, QUOIT_SESSION_CORE_TICKS);
	job = client_start(&c, client_giant(&c));
	while (quoit_wait_n(c.q, &job, 1, 1, 1) == -ETIME && charged < 1000000)
		charged = daemon_session_counter(&c.d, info.session, QUOIT_SESSION_CORE_TICKS) -
			  before;
	cr_expect_geq(charged, 1000000, "%llu ticks", (unsigned long long)charged);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	client_close(&c);
}

/* ---- what all users may see ---- */

/* Read the totals all the time, as a spy would, while a job ends every few milliseconds. */
Test(stats, the_totals_change_ten_times_a_second_at_most)
{
	struct house h = house_open(8);
	const struct quoit_totals *t = daemon_totals(&h.d);
	static struct quoit_reactor_block seen[QUOIT_MAX_REACTORS];
	size_t size;
	uint64_t until = now_ns() + 1000000000u, before = now_ns(), elapsed;
	unsigned changes = 0;

	cr_assert_not_null(t);
	size = t->header.reactors * sizeof seen[0];
	for (unsigned i = 0; now_ns() < until; i++) {
		if (memcmp(seen, t->reactor, size)) {
			memcpy(seen, t->reactor, size);
			changes++;
		}
		if (i % 8 == 0)
			cr_assert_eq(house_run(h.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
		usleep(MS / 2);
	}
	elapsed = now_ns() - before;
	cr_expect_gt(changes, 1, "they are not copied out at all");
	cr_expect_leq(changes, t->header.reactors * (elapsed / 100000000 + 2), "%u", changes);
	daemon_totals_unmap(t);
	house_close(&h);
}
