/* SPDX-License-Identifier: MIT */
/* plan_idle.c - measure the cost of an idle daemon with a hundred idle sessions */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define SESSIONS    100u
#define LEASE_BYTES (UINT64_C(1) << 20)

static int open_sessions(const char *socket, struct quoit_session **list)
{
	struct quoit_open_params params = {.socket = socket,
					   .name = "idle",
					   .host_bytes = LEASE_BYTES,
					   .arena_bytes = 65536,
					   .max_tensors = 64};
	struct quoit_ring *ring;
	int err = 0;

	for (unsigned i = 0; !err && i < SESSIONS; i++) {
		err = quoit_open(&params, &list[i]);
		if (!err)
			err = quoit_open_ring(list[i], NULL, &ring);
	}
	return err;
}

static int cpu_seconds(pid_t pid, double *ret)
{
	struct timespec t;
	clockid_t clock;
	int err = clock_getcpuclockid(pid, &clock);

	if (err || clock_gettime(clock, &t) < 0)
		return err ? -err : -errno;
	*ret = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
	return 0;
}

/* Percent of one core over `count` seconds, the first of which is not counted. */
static int measure_idle(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct quoit_session *list[SESSIONS] = {NULL};
	const struct bench_daemon *d = &b->daemon[s->cores];
	double before = 0, after = 0, start;
	int err = open_sessions(d->socket, list);

	sleep(1);
	start = bench_now();
	if (!err)
		err = cpu_seconds(d->pid, &before);
	if (!err)
		sleep((unsigned)s->count);
	if (!err)
		err = cpu_seconds(d->pid, &after);
	*ret = 100 * (after - before) / (bench_now() - start);
	for (unsigned i = 0; i < SESSIONS; i++)
		quoit_close(list[i], 0);
	return err;
}

static const struct bench_series series[] = {
	{"idle_cpu", "%", BENCH_ALL_CORES, measure_idle, .count = 10},
	{NULL},
};

static const struct bench_ratio ratios[] = {{NULL}};

const struct bench_plan bench_idle = {
	"idle", "CPU time of quoitd with 100 idle sessions, over 10 s", 1, series, ratios};
