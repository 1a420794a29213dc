/* SPDX-License-Identifier: MIT */
/* plan_syscalls.c - count the system calls for a million jobs, of all sides together */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "bench.h"
#include "bench_trace.h"

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

/*
 * The client waits for its tracer, warms up, and then sets `counting`.  The tracer must see the one
 * marking call, or its count cannot be trusted.
 */
static int run_client(const struct bench *b, const struct bench_series *s, const struct kind *k,
		      struct bench_trace *trace)
{
	struct load load = {.server = 0};
	int err = k->open(b, s, &load);

	trace->server = !err && load.server > 0 ? load.server : 0;
	__atomic_store_n(&trace->ready, 1, __ATOMIC_RELEASE);
	while (!err && !__atomic_load_n(&trace->go, __ATOMIC_SEQ_CST))
		quoit_pause();
	if (!err)
		err = k->run(&load, s->depth, s->count / 10);
	__atomic_store_n(&trace->counting, 1, __ATOMIC_SEQ_CST);
	if (!err)
		err = k->run(&load, s->depth, s->count);
	/* last, because its stop would let the daemon fall asleep */
	(void)syscall(BENCH_TRACE_MARK);
	__atomic_store_n(&trace->counting, 0, __ATOMIC_SEQ_CST);
	close_load(&load);
	return err;
}

static int trace_client(const struct bench *b, const struct bench_series *s, const struct kind *k,
			struct bench_trace_counts *ret)
{
	struct bench_trace *trace = mmap(NULL, sizeof *trace, PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t client;
	int err;

	if (trace == MAP_FAILED)
		return -errno;
	client = fork();
	if (client == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		trace->result = run_client(b, s, k, trace);
		_exit(0);
	}
	err = client < 0 ? -errno : bench_trace_count(b->daemon[s->cores].pid, client, trace, ret);
	munmap(trace, sizeof *trace);
	return err ? err : ret->marks == 1 ? 0 : -EBADMSG;
}

static double all_of(const struct bench_trace_counts *c)
{
	return (double)(c->client - c->marks + c->daemon + c->server);
}

/* *ret: calls of both sides without the mark, the client's, the daemon's, and the mark. */
static int measure_nops(const struct bench *b, const struct bench_series *s, double *ret)
{
	static const struct kind nops = {open_nops, run_nops};
	struct bench_trace_counts counts;
	int err = trace_client(b, s, &nops, &counts);

	if (err)
		return err;
	ret[0] = all_of(&counts);
	ret[1] = (double)(counts.client - counts.marks);
	ret[2] = (double)counts.daemon;
	ret[3] = (double)counts.marks;
	return 0;
}

static int measure(const struct bench *b, const struct bench_series *s, const struct kind *k,
		   double *ret)
{
	struct bench_trace_counts counts;
	int err = trace_client(b, s, k, &counts);

	if (!err)
		*ret = all_of(&counts);
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
	{"seeded_call_seen", "calls"},
	{"syscalls_waiter", "calls", BENCH_ALL_CORES, measure_waiter, 256, 1000000},
	{"syscalls_lane", "calls", BENCH_ALL_CORES, measure_lane, 256, 1000000},
	{"syscalls_service", "calls", BENCH_ALL_CORES, measure_service, 256, 1000000},
	{NULL},
};

static const struct bench_ratio ratios[] = {{NULL}};

const struct bench_plan bench_syscalls = {
	"syscalls", "system calls of all sides over 10^6 jobs, 256 in flight, by ptrace", 5, series,
	ratios};
