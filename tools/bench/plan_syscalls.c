/* SPDX-License-Identifier: MIT */
/* plan_syscalls.c - count the system calls for a million jobs, of all sides together */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "bench_count.h"

#define NAME    "quoit-bench-syscalls"
#define WAIT_MS 10000u

/* What the client has open, and what it does so often. */
struct load {
	struct bench_client client;
	pid_t server; /* of the function that it calls; 0: none */
	struct quoit_sqe call;
};

/* How a series gets and runs its load. */
struct kind {
	int (*open)(const struct bench *b, const struct bench_series *s, struct load *ret);
	int (*run)(const struct load *l, unsigned depth, uint64_t count);
};

/* ---- NOPs ---- */

static int open_nops(const struct bench *b, const struct bench_series *s, struct load *ret)
{
	const struct quoit_ring_params params = {.entries = 1024, .flags = QUOIT_RING_RAW};

	return bench_open(b, s->cores, &params, &ret->client);
}

static int run_nops(const struct load *l, unsigned depth, uint64_t count)
{
	return bench_run_nops(l->client.ring, depth, count);
}

/* ---- calls of functions ---- */

static int do_nothing(void *state, struct quoit_exec_call *call)
{
	(void)state;
	(void)call;
	return 0;
}

static const struct quoit_function functions[] = {
	{.name = "do_nothing", .access = "----", .run = do_nothing},
};

/*
 * The function runs on a CPU of its own, since on that of one of the others all would take turns.
 * -ENOTSUP: there is none.
 */
static int go_apart(const struct bench *b)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned i = 0; i < CPU_SETSIZE; i++)
		if ((int)i != b->client_cpu && (int)i != b->server_cpu)
			CPU_SET(i, &set);
	return sched_setaffinity(0, sizeof set, &set) < 0 ? -ENOTSUP : 0;
}

static void come_back(const struct bench *b)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)b->client_cpu, &set);
	(void)sched_setaffinity(0, sizeof set, &set);
}

static int open_ring(const struct bench *b, const struct bench_series *s, uint32_t flags,
		     struct load *ret)
{
	const struct quoit_ring_params params = {.entries = 512, .flags = flags};

	return bench_open(b, s->cores, &params, &ret->client);
}

static int open_team(struct load *l, const struct quoit_team_params *params)
{
	struct quoit_team *team;
	int err = quoit_open_team(l->client.session, functions, 1, params, &team);

	if (!err)
		l->call = quoit_call(quoit_find_function(team, "do_nothing"), 0, 0, 0, 0);
	return err;
}

/* The thread that waits runs them. */
static int open_waiter(const struct bench *b, const struct bench_series *s, struct load *ret)
{
	const struct quoit_team_params none = {.flags = QUOIT_TEAM_NO_LANES};
	int err = open_ring(b, s, 0, ret);

	return err ? err : open_team(ret, &none);
}

static int open_lane(const struct bench *b, const struct bench_series *s, struct load *ret)
{
	const struct quoit_team_params lane = {.lanes = 1, .flags = QUOIT_TEAM_UNPINNED};
	int err = open_ring(b, s, QUOIT_RING_NO_CALLS, ret);

	if (!err)
		err = go_apart(b);
	if (!err)
		err = open_team(ret, &lane);
	come_back(b);
	return err;
}

static _Noreturn void serve(const struct bench *b, const struct bench_series *s)
{
	const struct quoit_open_params open = {.socket = b->daemon[s->cores].socket};
	const struct quoit_serve_params lane = {.lanes = 1, .flags = QUOIT_TEAM_UNPINNED};
	struct quoit_session *session;
	struct quoit_team *team;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (go_apart(b) || quoit_open(&open, &session) ||
	    quoit_serve(session, NAME, functions, 1, &lane, &team))
		_exit(1);
	for (;;)
		pause();
}

static int open_service(const struct bench *b, const struct bench_series *s, struct load *ret)
{
	struct quoit_service *service;
	int err = go_apart(b);

	come_back(b);
	if (err)
		return err;
	ret->server = fork();
	if (!ret->server)
		serve(b, s);
	err = ret->server < 0 ? -errno : open_ring(b, s, 0, ret);
	if (!err)
		err = quoit_open_service(ret->client.session, NAME, WAIT_MS, &service);
	if (!err)
		ret->call =
			quoit_call(quoit_find_service_function(service, "do_nothing"), 0, 0, 0, 0);
	return err;
}

static int run_calls(const struct load *l, unsigned depth, uint64_t count)
{
	double ns;

	(void)depth; /* 256 */
	return bench_repeat_many(l->client.ring, l->call, count, &ns);
}

/* ---- counting ---- */

static void close_load(struct load *l)
{
	if (l->client.session)
		bench_close(&l->client);
	if (l->server > 0 && !kill(l->server, SIGKILL))
		(void)waitpid(l->server, NULL, 0);
}

static int run_counted(const struct bench_series *s, const struct kind *k, const struct load *l,
		       struct bench_count *c, uint64_t ret[BENCH_COUNT_PROCESSES])
{
	int err = k->run(l, s->depth, s->count / 10), wrong;

	if (err)
		return err;
	bench_count_begin();
	err = k->run(l, s->depth, s->count);
	wrong = bench_count_end(c, ret);
	return err ? err : wrong;
}

/* *ret: the client's calls, quoitd's, and the server's. */
static int count(const struct bench *b, const struct bench_series *s, const struct kind *k,
		 uint64_t ret[BENCH_COUNT_PROCESSES])
{
	struct bench_count *c = NULL;
	struct load load = {.server = 0};
	int err = k->open(b, s, &load);

	if (!err)
		err = bench_count_open(
			(const pid_t[]){getpid(), b->daemon[s->cores].pid, load.server}, &c);
	if (!err)
		err = run_counted(s, k, &load, c, ret);
	bench_count_close(c);
	close_load(&load);
	return err;
}

/* *ret: calls of both sides, the client's, and quoitd's. */
static int measure_nops(const struct bench *b, const struct bench_series *s, double *ret)
{
	static const struct kind nops = {open_nops, run_nops};
	uint64_t calls[BENCH_COUNT_PROCESSES];
	int err = count(b, s, &nops, calls);

	if (err)
		return err;
	ret[0] = (double)(calls[0] + calls[1]);
	ret[1] = (double)calls[0];
	ret[2] = (double)calls[1];
	return 0;
}

static int measure(const struct bench *b, const struct bench_series *s, const struct kind *k,
		   double *ret)
{
	uint64_t calls[BENCH_COUNT_PROCESSES];
	int err = count(b, s, k, calls);

	if (!err)
		*ret = (double)(calls[0] + calls[1] + calls[2]);
	return err;
}

static int measure_waiter(const struct bench *b, const struct bench_series *s, double *ret)
{
	static const struct kind calls = {open_waiter, run_calls};

	return measure(b, s, &calls, ret);
}

static int measure_lane(const struct bench *b, const struct bench_series *s, double *ret)
{
	static const struct kind calls = {open_lane, run_calls};

	return measure(b, s, &calls, ret);
}

static int measure_service(const struct bench *b, const struct bench_series *s, double *ret)
{
	static const struct kind calls = {open_service, run_calls};

	return measure(b, s, &calls, ret);
}

static const struct bench_series series[] = {
	{"syscalls", "calls", BENCH_ALL_CORES, measure_nops, 256, 1000000},
	{"syscalls_client", "calls"},
	{"syscalls_daemon", "calls"},
	{"syscalls_waiter", "calls", BENCH_ALL_CORES, measure_waiter, 256, 1000000},
	{"syscalls_lane", "calls", BENCH_ALL_CORES, measure_lane, 256, 1000000},
	{"syscalls_service", "calls", BENCH_ALL_CORES, measure_service, 256, 1000000},
	{NULL},
};

static const struct bench_ratio ratios[] = {{NULL}};

const struct bench_plan bench_syscalls = {
	"syscalls", "system calls of all sides over 10^6 jobs, 256 in flight; needs root", 5,
	series, ratios};
