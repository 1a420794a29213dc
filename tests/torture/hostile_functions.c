/* SPDX-License-Identifier: MIT */
/*
 * hostile_functions.c - functions of a team that end their process, and signals to its threads:
 * case 119 of the threat model
 *
 * Each program is a process of its own.  quoitd takes its end as that of any client, whatever it
 * holds and wherever its threads are.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#include "scenes.h"
#include "stage.h"

#define MIB   (UINT64_C(1) << 20)
#define LANES 2u
#define CALLS 200u

/* ---- the functions ---- */

/* Atomic for a sanitizer of threads, which does not see that quoitd keeps calls apart. */
static int add_one(void *state, struct quoit_exec_call *c)
{
	(void)state;
	__atomic_add_fetch((int32_t *)c->tensor[0].data, 1, __ATOMIC_RELAXED);
	return 0;
}

static int call_exit(void *state, struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	exit(7);
}

static int call_abort(void *state, struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	abort();
}

/* Not a tail call, and each one takes a page. */
static __attribute__((noinline)) int overflow(unsigned depth)
{
	volatile char page[4096];

	page[depth % sizeof page] = 1;
	return depth ? overflow(depth - 1) + page[depth % sizeof page] : 0;
}

static int overflow_stack(void *state, struct quoit_exec_call *c)
{
	(void)state;
	return overflow((unsigned)c->scalar[0].u) & 1;
}

static const struct quoit_function functions[] = {
	{.name = "add_one", .access = "M---", .run = add_one},
	{.name = "exit", .access = "----", .run = call_exit},
	{.name = "abort", .access = "----", .run = call_abort},
	{.name = "overflow", .access = "----", .run = overflow_stack},
};

/* ---- a program ---- */

struct program {
	struct quoit_session *s;
	struct quoit_team *team;
	struct quoit_ring *q;
	quoit_tensor held, number;
};

static quoit_tensor create(struct quoit_ring *q)
{
	const struct quoit_shape shape = {.dtype = QUOIT_I32, .dim = {1, 1, 1, 1}};

	return quoit_create(q, &shape, QUOIT_CREATE_SHARED);
}

/* It holds one tensor, and jobs wait for that.  False: it cannot. */
static bool begin(struct program *p, const char *socket)
{
	const struct quoit_open_params open = {.socket = socket,
					       .host_bytes = 4 * MIB,
					       .arena_bytes = MIB,
					       .shared_bytes = 64 << 10};
	const struct quoit_team_params params = {.lanes = LANES};
	const struct quoit_ring_params ring = {.flags = QUOIT_RING_NO_CALLS};
	void *at;

	if (quoit_open(&open, &p->s) || quoit_open_ring(p->s, &ring, &p->q) ||
	    quoit_open_team(p->s, functions, 4, &params, &p->team))
		return false;
	p->held = create(p->q);
	p->number = create(p->q);
	return !quoit_acquire(p->q, p->held, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at) &&
	       !quoit_push(p->q, quoit_fill_int(p->held, 1));
}

static struct quoit_sqe call(const struct program *p, const char *name, quoit_tensor t)
{
	return quoit_call(quoit_find_function(p->team, name), t, 0, 0, 0);
}

static bool call_often(struct program *p)
{
	for (unsigned i = 0; i < CALLS; i++)
		if (quoit_push(p->q, call(p, "add_one", p->number)))
			return false;
	return !quoit_flush(p->q);
}

/* The process that is to end in the function; it does not return. */
static void end_in(const char *socket, const char *function)
{
	const struct rlimit no_core = {0, 0};
	struct program p;
	quoit_job job;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would report it */
	(void)signal(SIGABRT, SIG_DFL);
	if (stage_has_users())
		scene_become(SCENE_MALLORY);
	if (!begin(&p, socket) || !call_often(&p) ||
	    quoit_start(p.q, quoit_with_scalars(call(&p, function, 0), 1u << 24, 0), &job))
		_exit(1);
	(void)!quoit_wait(p.q, job, QUOIT_FOREVER);
	_exit(2);
}

static void expect_end(struct stage *s, const char *function, bool (*is_right)(int status))
{
	for (uint32_t i = 0; i < stage_times(s, 3, 200) && !s->bad; i++) {
		int status = 0;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0)
			end_in(s->daemon.socket, function);
		CHECK(s, waitpid(pid, &status, 0) == pid);
		CHECK(s, is_right(status));
		stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	}
}

static bool is_exit(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static bool is_abort(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static bool is_fault(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void exit_in_a_function_ends_the_program(struct stage *s)
{
	expect_end(s, "exit", is_exit);
}

static void abort_in_a_function_ends_the_program(struct stage *s)
{
	expect_end(s, "abort", is_abort);
}

static void stack_overflow_in_a_function_ends_the_program(struct stage *s)
{
	expect_end(s, "overflow", is_fault);
}

/* ---- signals ---- */

static _Atomic uint32_t handled, handled_elsewhere;

static void handle(int number)
{
	(void)number;
	handled++;
	handled_elsewhere += gettid() != getpid();
}

struct sender {
	_Atomic bool stop;
	pid_t first, last; /* threads of lanes have numbers between these, or near */
};

/* To the process, of which any thread may take it that has not blocked it. */
static void *send_signals(void *arg)
{
	struct sender *sender = arg;
	sigset_t all;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!sender->stop) {
		(void)kill(getpid(), SIGUSR1);
		for (pid_t t = sender->first; t <= sender->last; t++)
			(void)syscall(SYS_tgkill, getpid(), t, SIGUSR2);
		usleep(50);
	}
	return NULL;
}

/* 0: all calls were run while signals came, and the main thread alone has handled them. */
static int be_signalled(const char *socket)
{
	const struct sigaction action = {.sa_handler = handle};
	struct sender sender = {0};
	struct program p;
	pthread_t thread;
	int32_t number = 0;
	int err = 0;

	if (stage_has_users())
		scene_become(SCENE_MALLORY);
	(void)sigaction(SIGUSR1, &action, NULL);
	(void)sigaction(SIGUSR2, &action, NULL);
	sender.first = gettid() + 1;
	if (!begin(&p, socket))
		return 1;
	sender.last = gettid() + 20;
	if (pthread_create(&thread, NULL, send_signals, &sender))
		return 2;
	for (unsigned i = 0; i < 20 && !err; i++)
		err = !call_often(&p) || quoit_wait_tensor(p.q, p.number, QUOIT_FOREVER);
	while (!handled)
		usleep(1000);
	sender.stop = true;
	pthread_join(thread, NULL);
	if (err || quoit_read(p.q, p.number, &number, sizeof number) || number != 20 * CALLS)
		return 3;
	if (handled_elsewhere)
		return 4;
	return quoit_close(p.s, 0) ? 5 : 0;
}

static void signals_are_for_threads_of_the_program(struct stage *s)
{
	for (uint32_t i = 0; i < stage_times(s, 2, 100) && !s->bad; i++) {
		int status = 0;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		if (pid == 0)
			_exit(be_signalled(s->daemon.socket));
		CHECK(s, waitpid(pid, &status, 0) == pid);
		if (!CHECK(s, status == 0))
			printf("status %#x\n", (unsigned)status);
		stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
	}
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(exit_in_a_function_ends_the_program),
		STAGE_CASE(abort_in_a_function_ends_the_program),
		STAGE_CASE(stack_overflow_in_a_function_ends_the_program),
		STAGE_CASE(signals_are_for_threads_of_the_program),
	};

	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof *cases);
}
