/* SPDX-License-Identifier: MIT */
/* near.c - see which of two processes a service's calls go to, one on each of two nodes */
#include "near.h"

#include <quoit.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME    "where"
#define CALLS   8
#define SOON_MS 60000 /* the machine is emulated */

static bool pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof set, &set);
}

/* ---- the processes that serve ---- */

/* The output is state's number, after scalar[0] milliseconds. */
static int where(void *state, struct quoit_exec_call *call)
{
	usleep((useconds_t)call->scalar[0].i * 1000);
	*(float *)call->tensor[0].data = (float)*(unsigned *)state;
	return 0;
}

static int serve(const char *socket, unsigned cpu, int say)
{
	const struct quoit_function functions[] = {
		{.name = NAME, .access = "W---", .run = where, .state = &cpu}};
	const struct quoit_open_params params = {.socket = socket};
	const struct quoit_serve_params one = {.lanes = 1};
	struct quoit_session *s;
	struct quoit_team *team;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!pin(cpu) || quoit_open(&params, &s) < 0 ||
	    quoit_serve(s, NAME, functions, 1, &one, &team) < 0 || write(say, "", 1) != 1)
		return 1;
	for (;;)
		pause();
}

static pid_t start(const char *socket, unsigned cpu)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (!pid)
		_exit(serve(socket, cpu, ready[1]));
	close(ready[1]);
	if (pid > 0 && read(ready[0], &byte, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

/* ---- the process that calls ---- */

struct caller {
	struct quoit_session *s;
	struct quoit_ring *q;
	int function;
};

static bool enter(struct caller *c, const char *socket)
{
	const struct quoit_open_params params = {.socket = socket, .shared_bytes = 1 << 20};
	struct quoit_service *service;

	if (quoit_open(&params, &c->s) < 0 || quoit_open_ring(c->s, NULL, &c->q) < 0 ||
	    quoit_open_service(c->s, NAME, SOON_MS, &service) < 0)
		return false;
	c->function = quoit_find_service_function(service, NAME);
	return c->function >= 0;
}

static quoit_tensor ask(struct caller *c, int64_t milliseconds)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
	quoit_tensor t = quoit_create(c->q, &shape, QUOIT_CREATE_SHARED);

	(void)quoit_push(c->q,
			 quoit_with_scalars(quoit_call(c->function, t, 0, 0, 0), milliseconds, 0));
	return t;
}

/* The CPU of the process that had the call; -1: the call failed. */
static int hear(struct caller *c, quoit_tensor t)
{
	float cpu = -1;

	return quoit_read(c->q, t, &cpu, sizeof cpu) < 0 ? -1 : (int)cpu;
}

static const char *call(const char *socket, unsigned cpu, unsigned other)
{
	struct caller c;
	quoit_tensor long_one, next;

	if (!pin(cpu) || !enter(&c, socket))
		return "no session that calls";
	for (unsigned i = 0; i < CALLS; i++)
		if (hear(&c, ask(&c, 0)) != (int)cpu)
			return "a call went to the other node, or failed";
	long_one = ask(&c, 1000);
	next = ask(&c, 0);
	if (hear(&c, next) != (int)other)
		return "a call waited for the near process, or failed";
	if (hear(&c, long_one) != (int)cpu)
		return "a long call went to the other node, or failed";
	quoit_close(c.s, 0);
	return NULL;
}

const char *calls_go_to_the_near_process(const char *socket, const unsigned cpu[2])
{
	pid_t servers[2] = {start(socket, cpu[0]), start(socket, cpu[1])};
	const char *wrong = servers[0] > 0 && servers[1] > 0 ? NULL : "a process does not serve";

	for (unsigned i = 0; i < 4 && !wrong; i++)
		wrong = call(socket, cpu[i % 2], cpu[1 - i % 2]);
	for (unsigned i = 0; i < 2; i++)
		if (servers[i] > 0) {
			kill(servers[i], SIGKILL);
			waitpid(servers[i], NULL, 0);
		}
	return wrong;
}
