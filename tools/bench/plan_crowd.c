/* SPDX-License-Identifier: MIT */
/* plan_crowd.c - measure a job's cost while other sessions are idle */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define CROWD_MOST  2000u
#define LEASE_BYTES (UINT64_C(1) << 20)
#define ARENA_BYTES 65536u
#define SETTLE_NS   50000000

/* Dependent additions on two vectors, in bursts. */
struct pattern {
	uint32_t entries;  /* of the ring */
	uint32_t burst;    /* additions in a burst; all are waited for */
	uint32_t pause_us; /* between two bursts */
	uint32_t bursts;
};

static const struct pattern patterns[] = {
	{256, 1, 0, 20000},     {256, 64, 0, 4000},    {64, 64, 100, 1500},
	{1024, 64, 1000, 1000}, {64, 5000, 1000, 200},
};

#define PATTERNS (sizeof patterns / sizeof patterns[0])

/* bench_series.depth: the pattern, and the number of other sessions. */
#define BESIDE(others, pattern) ((others) * (unsigned)PATTERNS + (pattern))

static void pause_ns(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
				      .tv_nsec = (long)(ns % 1000000000u)};

	if (ns)
		(void)nanosleep(&time, NULL);
}

/* ---- the others ---- */

static void close_crowd(struct quoit_session **crowd, unsigned count)
{
	while (count)
		quoit_close(crowd[--count], 0);
}

static int open_crowd(const char *socket, struct quoit_session **crowd, unsigned count)
{
	const struct quoit_open_params params = {.socket = socket,
						 .name = "crowd",
						 .host_bytes = LEASE_BYTES,
						 .arena_bytes = ARENA_BYTES,
						 .max_tensors = 64};
	struct quoit_ring *ring;

	for (unsigned i = 0; i < count; i++) {
		int err = quoit_open(&params, &crowd[i]);

		if (!err)
			err = quoit_open_ring(crowd[i], NULL, &ring);
		if (!err)
			continue;
		fprintf(stderr, "quoit bench: session %u of a crowd: %s\n", i, quoit_open_text());
		close_crowd(crowd, i);
		/* -EDQUOT: a small machine has no memory for that many sessions. */
		return err == -EDQUOT ? -ENOTSUP : err;
	}
	return 0;
}

/* ---- the one session that works ---- */

static int burst(struct quoit_ring *q, const quoit_tensor t[2], uint32_t count)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < count; i++)
		err = quoit_push(q, quoit_add_int(t[i % 2], t[(i + 1) % 2], 1));
	return err ? err : quoit_wait_all(q, QUOIT_FOREVER);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the bursts, in nanoseconds per addition; the first tenth of the bursts warms up. */
static int time_bursts(struct quoit_ring *q, const struct pattern *p, uint64_t bursts, double *ret)
{
	const quoit_tensor t[2] = {quoit_create_vector(q, QUOIT_I64, 4),
				   quoit_create_vector(q, QUOIT_I64, 4)};
	double *ns = calloc(bursts, sizeof *ns);
	int err = ns ? 0 : -ENOMEM;

	for (uint64_t i = 0; !err && i < bursts / 10; i++)
		err = burst(q, t, p->burst);
	for (uint64_t i = 0; !err && i < bursts; i++) {
		const double start = bench_now();

		err = burst(q, t, p->burst);
		ns[i] = (bench_now() - start) * 1e9 / p->burst;
		pause_ns(UINT64_C(1000) * p->pause_us);
	}
	if (!err) {
		qsort(ns, bursts, sizeof *ns, by_value);
		*ret = ns[bursts / 2];
	}
	free(ns);
	return err;
}

static int measure_crowd(const struct bench *b, const struct bench_series *s, double *ret)
{
	static struct quoit_session *crowd[CROWD_MOST];
	const struct pattern *p = &patterns[s->depth % PATTERNS];
	const unsigned others = s->depth / PATTERNS;
	const struct quoit_ring_params params = {.entries = p->entries};
	struct bench_client c;
	int err = bench_open(b, s->cores, &params, &c);

	if (err)
		return err;
	err = open_crowd(b->daemon[s->cores].socket, crowd, others);
	if (!err) {
		pause_ns(SETTLE_NS);
		err = time_bursts(c.ring, p, p->bursts * s->count, ret);
		close_crowd(crowd, others);
	}
	bench_close(&c);
	return err;
}

#define SERIES(name, pattern)                                                                        \
	{"alone_" name, "ns", BENCH_ALL_CORES, measure_crowd, BESIDE(0, pattern), 1},                \
		{"beside_66_" name, "ns", BENCH_ALL_CORES, measure_crowd, BESIDE(66, pattern), 1},   \
		{"beside_500_" name, "ns", BENCH_ALL_CORES, measure_crowd, BESIDE(500, pattern), 1}, \
	{                                                                                            \
		"beside_2000_" name, "ns", BENCH_ALL_CORES, measure_crowd,                           \
			BESIDE(CROWD_MOST, pattern), 1                                               \
	}

static const struct bench_series series[] = {
	SERIES("one", 0),    SERIES("64", 1),       SERIES("64_100us", 2),
	SERIES("64_1ms", 3), SERIES("5000_1ms", 4), {NULL},
};

#define RATIOS(name)                                                                               \
	{"crowd_66/" name, "beside_66_" name, "alone_" name},                                      \
		{"crowd_500/" name, "beside_500_" name, "alone_" name},                            \
	{                                                                                          \
		"crowd_2000/" name, "beside_2000_" name, "alone_" name                             \
	}

static const struct bench_ratio ratios[] = {
	RATIOS("one"),    RATIOS("64"),       RATIOS("64_100us"),
	RATIOS("64_1ms"), RATIOS("5000_1ms"), {NULL},
};

const struct bench_plan bench_crowd = {
	"crowd", "additions one by one and in bursts, beside 66, 500 and 2,000 idle sessions",
	5,       series,
	ratios,  {"--uid-connections=4096", "--uid-rings=4096", "--max-jobs=1024"}};
