/* SPDX-License-Identifier: MIT */
/* test_pinned_memory.c - tensors in the pinned region: the budget holds, and gaps do not matter. */
#include <errno.h>
#include <stdlib.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "daemon.h"

#define MIB      (UINT64_C(1) << 20)
#define REGION   (16 * MIB)
#define PATIENCE 500 /* times 10 ms */

struct fixture {
	struct daemon d;
	struct quoit_session *s;
	struct quoit_ring *q;
};

static struct fixture start_prepared(uint64_t pinned, const char *option,
				     daemon_prepare_fn *prepare)
{
	const char *options[] = {option, NULL};
	struct fixture f = {0};
	struct quoit_open_params p = {
		.host_bytes = 64 * MIB, .arena_bytes = 8 * MIB, .pinned_bytes = pinned};

	cr_assert_eq(daemon_start_prepared(&f.d, options, prepare), 0);
	p.socket = f.d.socket;
	cr_assert_eq(quoit_open(&p, &f.s), 0, "%s", quoit_open_text());
	cr_assert_eq(quoit_open_ring(f.s, NULL, &f.q), 0);
	return f;
}

static struct fixture start(uint64_t pinned, const char *option)
{
	return start_prepared(pinned, option, NULL);
}

static void stop(struct fixture *f)
{
	quoit_close(f->s, 0);
	daemon_stop(&f->d);
}

static quoit_tensor create(struct fixture *f, uint64_t bytes, unsigned flags)
{
	struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, (uint32_t)(bytes / 4)}};

	return quoit_create(f->q, &shape, flags);
}

static void expect_filled(struct fixture *f, quoit_tensor t, uint64_t bytes, int32_t value)
{
	int32_t *got = malloc(bytes);

	cr_assert_eq(quoit_read(f->q, t, got, bytes), 0);
	for (uint64_t i = 0; i < bytes / 4; i++)
		cr_assert_eq(got[i], value, "word %lu", (unsigned long)i);
	free(got);
}

static int run(struct fixture *f, struct quoit_sqe sqe)
{
	quoit_job job;
	int err = quoit_start(f->q, sqe, &job);

	return err ? err : quoit_wait(f->q, job, QUOIT_FOREVER);
}

Test(pinned_memory, reads_as_zeros_until_written_also_where_something_was)
{
	static const uint64_t sizes[] = {4, 4096, 65536, 65540, 4 * MIB};
	struct fixture f = start(REGION, NULL);

	for (unsigned i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
		uint64_t bytes = sizes[i % (sizeof sizes / sizeof sizes[0])];
		quoit_tensor t = create(&f, bytes, QUOIT_CREATE_PINNED);

		expect_filled(&f, t, bytes, 0);
		cr_assert_eq(run(&f, quoit_fill_int(t, -1)), 0);
		expect_filled(&f, t, bytes, -1);
		quoit_free(f.q, t);
	}
	stop(&f);
}

Test(pinned_memory, more_than_the_region_is_refused_with_both_numbers)
{
	static const struct {
		uint64_t region, bytes;
		int result;
	} row[] = {{0, 4, -ENOMEM},
		   {MIB, MIB, 0},
		   {MIB, MIB + 4, -ENOMEM},
		   {REGION, REGION, 0},
		   {REGION, 40 * MIB, -ENOMEM}};

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct fixture f = start(row[i].region, NULL);
		quoit_tensor t = create(&f, row[i].bytes, QUOIT_CREATE_PINNED);
		struct quoit_error error;
		quoit_job job;

		cr_assert_eq(quoit_start(f.q, quoit_fill_int(t, 1), &job), 0);
		cr_expect_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
		cr_expect_eq(quoit_get_result(f.q, job), row[i].result, "row %u", i);
		if (row[i].result && quoit_get_job_error(f.q, job, &error)) {
			cr_expect_eq(error.field, QUOIT_FIELD_MEMORY);
			cr_expect_eq(error.value[0], (row[i].bytes + 4095) / 4096 * 4096);
			cr_expect_eq(error.value[1], row[i].region);
		}
		quoit_free(f.q, t);
		t = create(&f, 4096, 0);
		cr_expect_eq(run(&f, quoit_fill_int(t, 1)), 0, "the pageable region has its own");
		stop(&f);
	}
}

Test(pinned_memory, deep_queue_that_fits_one_at_a_time_is_never_refused)
{
	struct fixture f = start(REGION, NULL);
	quoit_tensor sum = create(&f, 4, 0);

	for (int i = 0; i < 400; i++) {
		uint64_t bytes = (uint64_t)(i % 7 + 1) * MIB;
		quoit_tensor a = create(&f, bytes, QUOIT_CREATE_PINNED);
		quoit_tensor b = create(&f, bytes, i % 2 ? QUOIT_CREATE_PINNED : 0);

		quoit_push(f.q, quoit_fill_int(a, i));
		quoit_push(f.q, quoit_add_int(b, a, 1));
		quoit_push(f.q, quoit_amax(sum, b, QUOIT_AXIS_ALL));
		quoit_free(f.q, a);
		quoit_free(f.q, b);
	}
	cr_expect_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0);
	expect_filled(&f, sum, 4, 400);
	stop(&f);
}

Test(pinned_memory, scattered_free_bytes_are_moved_together)
{
	enum { PIECES = 16 };
	struct fixture f = start(REGION, NULL);
	quoit_tensor t[PIECES], large;

	for (int i = 0; i < PIECES; i++) {
		t[i] = create(&f, MIB, QUOIT_CREATE_PINNED);
		cr_assert_eq(run(&f, quoit_fill_int(t[i], i)), 0);
	}
	for (int i = 0; i < PIECES; i += 2)
		quoit_free(f.q, t[i]);
	large = create(&f, PIECES / 2 * MIB, QUOIT_CREATE_PINNED);
	cr_expect_eq(run(&f, quoit_fill_int(large, 77)), 0);
	for (int i = 1; i < PIECES; i += 2)
		expect_filled(&f, t[i], MIB, i);
	expect_filled(&f, large, PIECES / 2 * MIB, 77);
	stop(&f);
}

Test(pinned_memory, pieces_of_any_pattern_move_without_loss)
{
	enum { PIECES = 16, ROUNDS = 60, ADDS = 3 };
	struct fixture f = start(REGION, NULL);
	quoit_tensor t[PIECES];
	int32_t count[PIECES] = {0};
	uint32_t x = 1;

	for (int i = 0; i < PIECES; i++)
		t[i] = create(&f, MIB, QUOIT_CREATE_PINNED);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t freed = (x = x * 1664525u + 1013904223u) >> 16 | 1;
		quoit_tensor large;

		/* Some make room for a large one; jobs use the others all the while. */
		for (int i = 0; i < PIECES; i++)
			if (freed & 1u << i)
				quoit_free(f.q, t[i]);
		large = create(&f, (uint64_t)__builtin_popcount(freed & 0xffff) * MIB,
			       QUOIT_CREATE_PINNED);
		quoit_push(f.q, quoit_fill_int(large, round));
		for (int n = 0; n < ADDS * PIECES; n++)
			if (!(freed & 1u << n % PIECES)) {
				count[n % PIECES]++;
				quoit_push(f.q, quoit_add_int(t[n % PIECES], t[n % PIECES], 1));
			}
		quoit_free(f.q, large);
		for (int i = 0; i < PIECES; i++)
			if (freed & 1u << i) {
				t[i] = create(&f, MIB, QUOIT_CREATE_PINNED);
				quoit_push(f.q, quoit_fill_int(t[i], round));
				count[i] = round;
			}
	}
	for (int i = 0; i < PIECES; i++)
		expect_filled(&f, t[i], MIB, count[i]);
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0);
	stop(&f);
}

Test(pinned_memory, piece_does_not_move_under_a_job_that_runs)
{
	enum { ROUNDS = 20, OLDER = 6, LATER = 60 };
	struct fixture f = start(REGION, NULL);
	quoit_tensor older = create(&f, 4 * MIB, 0);

	for (int round = 0; round < ROUNDS; round++) {
		quoit_tensor gap = create(&f, 4 * MIB, QUOIT_CREATE_PINNED);
		quoit_tensor moves = create(&f, 2 * MIB, QUOIT_CREATE_PINNED);
		quoit_tensor large = create(&f, 12 * MIB, QUOIT_CREATE_PINNED);

		quoit_push(f.q, quoit_fill_int(gap, 1));
		quoit_push(f.q, quoit_fill_int(moves, 0));
		quoit_free(f.q, gap);
		cr_assert_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
		/* While these run the large one waits, and later ones may begin. */
		for (int i = 0; i < OLDER; i++)
			quoit_push(f.q, quoit_add_int(older, older, 1));
		quoit_push(f.q, quoit_fill_int(large, round));
		for (int i = 0; i < LATER; i++)
			quoit_push(f.q, quoit_add_int(moves, moves, 1));
		expect_filled(&f, moves, 2 * MIB, LATER);
		quoit_free(f.q, moves);
		quoit_free(f.q, large);
	}
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0);
	stop(&f);
}

/*
 * The large one becomes the oldest while the reactor is about to start later ones.  That happens
 * when a job ends that only waits, or when the large one is fetched together with later jobs that
 * run at their fetch.
 */
Test(pinned_memory, piece_does_not_move_under_a_job_that_is_about_to_start)
{
	enum { ROUNDS = 60, LATER = 20, ELEMENTS = 8 };
	struct fixture f = start(REGION, NULL);

	for (int round = 0; round < ROUNDS; round++) {
		quoit_tensor gap = create(&f, 4 * MIB, QUOIT_CREATE_PINNED);
		quoit_tensor moves = create(&f, 2 * MIB, QUOIT_CREATE_PINNED);
		quoit_tensor small = create(&f, ELEMENTS * 4, QUOIT_CREATE_PINNED);
		quoit_tensor large = create(&f, 12 * MIB, QUOIT_CREATE_PINNED);

		quoit_push(f.q, quoit_fill_int(gap, 1));
		quoit_push(f.q, quoit_fill_int(moves, 0));
		quoit_push(f.q, quoit_fill_int(small, 0));
		quoit_free(f.q, gap);
		cr_assert_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
		if (round % 2)
			quoit_push(f.q, quoit_with_link(quoit_nop(0), 4));
		quoit_push(f.q, quoit_fill_int(large, round));
		for (int i = 0; i < LATER; i++) {
			quoit_push(f.q, quoit_add_int(moves, moves, 1));
			quoit_push(f.q, quoit_add_int(small, small, 1));
		}
		expect_filled(&f, moves, 2 * MIB, LATER);
		expect_filled(&f, small, ELEMENTS * 4, LATER);
		quoit_free(f.q, moves);
		quoit_free(f.q, small);
		quoit_free(f.q, large);
	}
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0);
	stop(&f);
}

Test(pinned_memory, job_waits_until_both_kinds_of_bytes_are_there)
{
	struct fixture f = start(REGION, NULL);

	for (int i = 0; i < 200; i++) { /* 40 MiB are neither pinned nor the arena's */
		quoit_tensor pageable = create(&f, 30 * MIB, 0);
		quoit_tensor pinned = create(&f, 12 * MIB, QUOIT_CREATE_PINNED);
		struct quoit_shape shape = {.dtype = QUOIT_I32,
					    .dim = {1, 1, 1, 3 * MIB},
					    .stride = {3 * MIB, 3 * MIB, 3 * MIB, 1}};
		quoit_tensor part = quoit_view(f.q, pageable, &shape, 0);

		quoit_push(f.q, quoit_fill_int(i % 2 ? part : pinned, i));
		quoit_push(f.q, quoit_copy(i % 2 ? pinned : part, i % 2 ? part : pinned));
		if (i % 50 == 49)
			expect_filled(&f, i % 2 ? pinned : part, 12 * MIB, i);
		quoit_free(f.q, part);
		quoit_free(f.q, pageable);
		quoit_free(f.q, pinned);
	}
	cr_expect_eq(quoit_wait_all(f.q, QUOIT_FOREVER), 0);
	cr_expect_eq(quoit_count_failures(f.q, NULL), 0);
	stop(&f);
}

/* ---- locked and registered with io_uring ---- */

/* A value of the session's counter file: waits until it is `wanted`, for a limited time. */
static uint64_t await_counter(const struct fixture *f, unsigned counter, uint64_t wanted)
{
	struct quoit_info info;
	uint64_t value;
	int naps = 0;

	quoit_get_info(f->s, &info);
	do {
		(void)run((struct fixture *)(uintptr_t)f, quoit_nop(QUOIT_NO_TENSOR));
		value = daemon_session_counter(&f->d, info.session, counter);
	} while (value != wanted && naps++ < PATIENCE && !usleep(10000));
	return value;
}

/* KiB of the daemon's memory that the kernel holds on to. */
static uint64_t held_kib(const struct fixture *f)
{
	char path[64], line[128];
	unsigned long long kib = UINT64_MAX;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%d/status", (int)f->d.pid);
	status = fopen(path, "r");
	cr_assert(status);
	while (fgets(line, sizeof line, status))
		(void)sscanf(line, "VmPin: %llu", &kib);
	fclose(status);
	return kib;
}

static uint64_t await_held(const struct fixture *f, uint64_t wanted)
{
	for (int naps = 0; held_kib(f) != wanted && naps < PATIENCE; naps++)
		usleep(10000);
	return held_kib(f);
}

Test(pinned_memory, region_is_registered_whole_and_let_go_with_its_session)
{
	static const uint64_t regions[] = {4096, 4 * MIB, 4 * MIB + 4096, 33 * MIB};

	if (geteuid() != 0)
		cr_skip_test("how much may be locked depends on the user's limit");
	for (unsigned i = 0; i < sizeof regions / sizeof regions[0]; i++) {
		struct fixture f = start(regions[i], NULL);

		cr_expect_eq(await_counter(&f, QUOIT_SESSION_PINNED, regions[i]), regions[i]);
		cr_expect_eq(await_counter(&f, QUOIT_SESSION_PINNED_REGISTERED, regions[i]),
			     regions[i]);
		cr_expect_eq(await_counter(&f, QUOIT_SESSION_PINNED_LOCKED, regions[i]),
			     regions[i]);
		cr_expect_eq(held_kib(&f), regions[i] >> 10);
		quoit_close(f.s, 0);
		cr_expect_eq(await_held(&f, 0), 0);
		daemon_stop(&f.d);
	}
}

/* How much an ordinary user may lock and register. */
static rlim_t may_lock;

static void lower_limit(const struct daemon *d)
{
	struct rlimit limit = {may_lock, may_lock};

	if (daemon_log_to_file(d) < 0 || setrlimit(RLIMIT_MEMLOCK, &limit) < 0 ||
	    (geteuid() == 0 && prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0) < 0))
		_exit(126);
}

static struct fixture start_limited(uint64_t pinned, rlim_t limit)
{
	may_lock = limit;
	return start_prepared(pinned, "--log=info", lower_limit);
}

/* A limit is not a missing feature: quoitd only says what did not fit, and what would help. */
static const struct {
	const char *what;
	rlim_t may_lock;
	uint64_t pinned;
	unsigned pinned_lines, ring_lines;
} limits[] = {
	{"all fits", 8 * MIB, MIB, 0, 0},
	{"a ring fits", 1 * MIB, 16 * MIB, 1, 0},
	{"nothing fits", 8192, 16 * MIB, 1, 1},
};

Test(pinned_memory, only_what_cannot_be_locked_is_said)
{
	for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		struct fixture f = start_limited(limits[i].pinned, limits[i].may_lock);
		quoit_tensor t = create(&f, MIB, QUOIT_CREATE_PINNED);

		cr_expect_eq(run(&f, quoit_fill_int(t, 1)), 0);
		cr_expect_eq(daemon_log_count(&f.d, "unavailable: memlock", 0), 0);
#ifndef QUOIT_SANITIZE /* mlock does nothing under a sanitizer */
		cr_expect_eq(daemon_log_count(&f.d, "pinned memory are locked: Cannot allocate",
					      limits[i].pinned_lines),
			     limits[i].pinned_lines, "%s", limits[i].what);
		cr_expect_eq(daemon_log_count(&f.d, "KiB of ring 0 cannot be locked",
					      limits[i].ring_lines),
			     limits[i].ring_lines, "%s", limits[i].what);
		cr_expect_eq(daemon_log_count(&f.d, "LimitMEMLOCK=", limits[i].ring_lines) > 0,
			     limits[i].pinned_lines > 0, "%s", limits[i].what);
#endif
		stop(&f);
	}
}

Test(pinned_memory, what_the_limit_leaves_out_is_said_and_works_the_same)
{
	struct fixture f = start_limited(REGION, 6 * MIB);
	uint64_t words = 12 * MIB / 4;
	quoit_tensor t = create(&f, 12 * MIB, QUOIT_CREATE_PINNED);
	int32_t *got = malloc(12 * MIB);
	int fd = open(f.d.folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	int file = quoit_add_file(f.s, fd);

	cr_expect_eq(await_counter(&f, QUOIT_SESSION_PINNED_REGISTERED, 4 * MIB), 4 * MIB);
	cr_expect_eq(
		daemon_log_count(&f.d, "4096 of its 16384 KiB of pinned memory are registered", 1),
		1);
#ifndef QUOIT_SANITIZE /* mlock does nothing under a sanitizer */
	cr_expect_eq(await_counter(&f, QUOIT_SESSION_PINNED_LOCKED, 4 * MIB), 4 * MIB);
	cr_expect_eq(daemon_log_count(&f.d, "4096 of its 16384 KiB of pinned memory are locked", 1),
		     1);
#endif
	for (unsigned i = 0; i < words; i++)
		got[i] = (int32_t)i;
	cr_assert_eq(pwrite(fd, got, words * 4, 0), (ssize_t)(words * 4));
	cr_expect_eq(run(&f, quoit_read_file(t, file, 0)), (int)(words * 4));
	cr_expect_eq(run(&f, quoit_write_file(t, file, words * 4)), (int)(words * 4));
	memset(got, 0, words * 4);
	cr_assert_eq(pread(fd, got, words * 4, (off_t)(words * 4)), (ssize_t)(words * 4));
	for (unsigned i = 0; i < words; i++)
		cr_assert_eq(got[i], (int32_t)i, "word %u", i);
	free(got);
	close(fd);
	stop(&f);
}
