/* SPDX-License-Identifier: MIT */
/*
 * plan_wake.c - measure a rare small job on an idle daemon, and beside a flood of heavy ones
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "bench.h"

#define SIDE      1000u
#define PERIOD_NS 1000000 /* 1,000 jobs a second */
#define SETTLE_MS 200

/* ---- the flood: another process ---- */

struct flood {
	pid_t pid;
	uint64_t *done; /* number of products so far, in shared memory */
};

static int flood_products(const struct bench *b, uint64_t *done)
{
	struct bench_client c;
	quoit_tensor x, y;
	int err = bench_open(b, BENCH_ALL_CORES, NULL, &c);

	if (err)
		return err;
	x = quoit_create_matrix(c.ring, QUOIT_F32, SIDE, SIDE);
	y = quoit_create_matrix(c.ring, QUOIT_F32, SIDE, SIDE);
	err = quoit_push(c.ring, quoit_normal(x, 1, 0));
	while (!err) {
		err = quoit_push(c.ring, quoit_gemm(y, x, x, 0, 1.0, 0.0));
		if (!err)
			err = quoit_window(c.ring, 1, QUOIT_FOREVER);
		__atomic_fetch_add(done, 1, __ATOMIC_RELAXED);
	}
	return err;
}

/* The flood may run on any CPU, as another user's program would. */
static int flood_start(const struct bench *b, struct flood *f)
{
	pid_t parent = getpid();

	f->done = mmap(NULL, sizeof *f->done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (f->done == MAP_FAILED)
		return -errno;
	f->pid = fork();
	if (f->pid == 0) {
		cpu_set_t set;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		CPU_ZERO(&set);
		CPU_SET(b->client_cpu, &set);
		CPU_SET(b->server_cpu, &set);
		sched_setaffinity(0, sizeof set, &set);
		_exit(flood_products(b, f->done) != 0);
	}
	return f->pid < 0 ? -errno : 0;
}

static void flood_stop(struct flood *f)
{
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	munmap(f->done, sizeof *f->done);
}

static void settle(void)
{
	struct timespec t = {.tv_nsec = SETTLE_MS * 1000000};

	nanosleep(&t, NULL);
}

/* GFLOP/s over `seconds`. */
static double rate_of(uint64_t products, double seconds)
{
	return (double)products * 2.0 * SIDE * SIDE * SIDE / seconds / 1e9;
}

/* ---- the rare job ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

enum waiting { BY_POLLING, BY_SLEEPING };

/* One NOP, there and back, in microseconds. */
static int ping(struct quoit_ring *q, enum waiting waiting, double *ret)
{
	double start = bench_now();
	const struct quoit_cqe *cqe;
	int n;

	*quoit_get_sqe(q) = quoit_nop(QUOIT_NO_TENSOR);
	n = waiting == BY_SLEEPING ? quoit_wait_cqe(q, QUOIT_FOREVER) : quoit_flush(q);
	while (!n && !(n = quoit_peek(q, &cqe)))
		quoit_pause();
	*ret = (bench_now() - start) * 1e6;
	if (n > 0)
		quoit_release(q, (unsigned)n);
	return n < 0 ? n : 0;
}

/* p50 and p99 of `count` jobs. */
static int ping_many(struct quoit_ring *q, enum waiting waiting, uint64_t count, double *ret)
{
	double *sample = calloc(count, sizeof *sample);
	struct timespec next;
	int err = sample ? 0 : -ENOMEM;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (uint64_t i = 0; !err && i < count; i++) {
		next.tv_nsec += PERIOD_NS;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		err = ping(q, waiting, &sample[i]);
	}
	if (!err) {
		qsort(sample, count, sizeof *sample, by_value);
		ret[0] = sample[count / 2];
		ret[1] = sample[count * 99 / 100];
	}
	free(sample);
	return err;
}

/*
 * Fills four values: p50 and p99 of a client that polls, then of one that sleeps until it is woken.
 */
static int measure_pings(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct quoit_ring_params params = {.entries = 64, .flags = QUOIT_RING_RAW};
	struct bench_client c;
	int err = bench_open(b, s->cores, &params, &c);

	if (err)
		return err;
	err = ping_many(c.ring, BY_POLLING, s->count, ret);
	if (!err)
		err = ping_many(c.ring, BY_SLEEPING, s->count, ret + 2);
	bench_close(&c);
	return err;
}

/* ---- together ---- */

/* Fills six values: the four beside the flood, then the flood's rate without and with them. */
static int measure_beside(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct flood flood = {0};
	uint64_t before;
	double start;
	int err = flood_start(b, &flood);

	if (err)
		return err;
	settle();
	before = __atomic_load_n(flood.done, __ATOMIC_RELAXED);
	start = bench_now();
	while (bench_now() - start < (double)s->count * PERIOD_NS / 1e9)
		settle();
	ret[4] = rate_of(__atomic_load_n(flood.done, __ATOMIC_RELAXED) - before,
			 bench_now() - start);
	before = __atomic_load_n(flood.done, __ATOMIC_RELAXED);
	start = bench_now();
	err = measure_pings(b, s, ret);
	ret[5] = rate_of(__atomic_load_n(flood.done, __ATOMIC_RELAXED) - before,
			 bench_now() - start);
	flood_stop(&flood);
	return err ? err : ret[4] > 0 ? 0 : -ECHILD;
}

static const struct bench_series series[] = {
	{"idle_p50", "us", BENCH_ALL_CORES, measure_pings, .count = 1000},
	{"idle_p99", "us"},
	{"idle_asleep_p50", "us"},
	{"idle_asleep_p99", "us"},
	{"flooded_p50", "us", BENCH_ALL_CORES, measure_beside, .count = 1000},
	{"flooded_p99", "us"},
	{"flooded_asleep_p50", "us"},
	{"flooded_asleep_p99", "us"},
	{"flood_alone", "GFLOP/s"},
	{"flood_beside", "GFLOP/s"},
	{NULL},
};

static const struct bench_ratio ratios[] = {
	{"wake_p50/idle", "flooded_p50", "idle_p50"},
	{"wake_p99/idle", "flooded_p99", "idle_p99"},
	{"wake_flood_kept", "flood_beside", "flood_alone"},
	{NULL},
};

const struct bench_plan bench_wake = {
	"wake", "a job each millisecond, alone and beside another session's products", 5, series,
	ratios};
