/* SPDX-License-Identifier: MIT */
/* plan_service.c - functions of another process, and what an idle one costs others */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define NAME    "quoit-bench"
#define WAIT_MS 10000u

/* ---- the process that serves ---- */

static int do_nothing(void *state, struct quoit_exec_call *call)
{
	(void)state;
	(void)call;
	return 0;
}

static const struct quoit_function functions[] = {
	{.name = "do_nothing", .access = "----", .run = do_nothing},
};

/* It ends with the process that measures. */
static _Noreturn void serve(const char *socket, pid_t parent)
{
	const struct quoit_open_params open = {.socket = socket, .name = "quoit bench service"};
	const struct quoit_serve_params params = {.lanes = 1};
	struct quoit_session *session;
	struct quoit_team *team;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || quoit_open(&open, &session) < 0 ||
	    quoit_serve(session, NAME, functions, 1, &params, &team) < 0)
		_exit(1);
	for (;;)
		pause();
}

static pid_t start_service(const struct bench *b, enum bench_cores cores)
{
	const pid_t self = getpid();
	pid_t pid = fork();

	if (!pid)
		serve(b->daemon[cores].socket, self);
	return pid < 0 ? -errno : pid;
}

static void end_service(pid_t pid)
{
	if (pid <= 0)
		return;
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

/* ---- a session that calls it ---- */

struct caller {
	struct bench_client client;
	pid_t server;
	int function;
};

static void close_caller(struct caller *c)
{
	if (c->client.session)
		bench_close(&c->client);
	end_service(c->server);
}

static int open_caller(const struct bench *b, enum bench_cores cores,
		       const struct quoit_ring_params *params, struct caller *ret)
{
	struct quoit_service *service;
	int err;

	*ret = (struct caller){.server = start_service(b, cores)};
	err = ret->server < 0 ? (int)ret->server : bench_open(b, cores, params, &ret->client);
	if (!err)
		err = quoit_open_service(ret->client.session, NAME, WAIT_MS, &service);
	if (!err) {
		ret->function = quoit_find_service_function(service, "do_nothing");
		err = ret->function < 0 ? ret->function : 0;
	}
	if (err)
		close_caller(ret);
	return err;
}

static struct quoit_sqe empty(const struct caller *c)
{
	return quoit_call(c->function, 0, 0, 0, 0);
}

static int measure_call(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct caller c;
	int err = open_caller(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = bench_repeat_each(c.client.ring, empty(&c), s->count, ret);
	close_caller(&c);
	return err;
}

static int measure_calls(const struct bench *b, const struct bench_series *s, double *ret)
{
	const struct quoit_ring_params ring = {.entries = 512};
	struct caller c;
	int err = open_caller(b, s->cores, &ring, &c);

	if (err)
		return err;
	err = bench_repeat_many(c.client.ring, empty(&c), s->count, ret);
	close_caller(&c);
	return err;
}

/* ---- what an idle service and an idle team cost others ---- */

static int open_idle_team(struct quoit_session *session)
{
	const struct quoit_team_params params = {.lanes = 1};
	struct quoit_team *team;

	return quoit_open_team(session, functions, 1, &params, &team);
}

static int measure_nop_beside(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct caller c = {0};
	int err = open_caller(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = open_idle_team(c.client.session);
	if (!err)
		err = bench_repeat_each(c.client.ring, quoit_nop(0), s->count, ret);
	close_caller(&c);
	return err;
}

static int measure_chain(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct caller c = {0};
	int err = open_caller(b, s->cores, NULL, &c);

	if (err)
		return err;
	err = open_idle_team(c.client.session);
	if (!err)
		err = bench_additions(b, s, ret);
	close_caller(&c);
	return err;
}

static const struct bench_series series[] = {
	{"call_service", "ns", BENCH_ALL_CORES, measure_call, 1, 20000},
	{"handovers", "ns", 0, bench_peer, .peer = {"handover", "20000"}, .peer_word = "ns"},
	{"calls_256", "ns", BENCH_ALL_CORES, measure_calls, 256, 200000},
	{"quoit_addition", "ns", BENCH_ALL_CORES, bench_additions, 192, 300000},
	{"addition_beside", "ns", BENCH_ALL_CORES, measure_chain, 192, 300000},
	{"nop", "ns", BENCH_ALL_CORES, bench_nops_each, 0, 100000},
	{"nop_beside", "ns", BENCH_ALL_CORES, measure_nop_beside, 1, 100000},
	{NULL},
};

static const struct bench_ratio ratios[] = {
	{"call_service/handovers", "call_service", "handovers"},
	{"calls_256/addition", "calls_256", "quoit_addition"},
	{"nop_beside/nop", "nop_beside", "nop"},
	{"addition_beside/addition", "addition_beside", "quoit_addition"},
	{NULL},
};

const struct bench_plan bench_service = {
	"service", "functions of another process, as jobs; others beside an idle one", 7, series,
	ratios};
