/* SPDX-License-Identifier: MIT */
/* test_fork.c - a child has none of its parent's session, is told so, and opens its own */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"
#include "inherited.h"
#include "process.h"

#define SOON_MS 10000 /* for what comes in milliseconds, on a busy machine */
#define SOON_S  60u

/* ---- children ---- */

/* Expect that a child exits with this status, which it does not if a call blocks. */
static void expect_end(pid_t pid, int status)
{
	int got;

	cr_assert_gt(pid, 0);
	cr_assert_eq(waitpid(pid, &got, 0), pid);
	cr_expect(WIFEXITED(got) && WEXITSTATUS(got) == status, "status %#x", (unsigned)got);
}

static pid_t fork_child(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		alarm(SOON_S);
	return pid;
}

static _Noreturn void leave(const char *bad)
{
	if (*bad)
		fprintf(stderr, "not refused: %s\n", bad);
	_exit(*bad != '\0');
}

/* ---- what a child has ---- */

Test(fork, child_is_refused_by_each_call_and_the_parent_goes_on)
{
	struct inherited i = inherited_begin();
	pid_t pid = fork_child();

	if (!pid)
		leave(inherited_try(&i, true));
	expect_end(pid, 0);
	inherited_end(&i);
}

Test(fork, child_that_closes_nothing_does_no_harm)
{
	struct inherited i = inherited_begin();
	pid_t pid = fork_child();

	if (!pid)
		leave(inherited_try(&i, false));
	expect_end(pid, 0);
	inherited_end(&i);
}

/* With a session of its own beside the parent's: send what the parent's job receives. */
static const char *live(const struct inherited *i)
{
	const struct quoit_open_params params = {.socket = i->f.d.socket, .shared_bytes = MIB};
	const struct quoit_function add = {
		.name = "add_one", .access = "M---", .run = calls_add_one};
	struct quoit_session *s;
	struct quoit_ring *q;
	struct quoit_team *team;
	quoit_tensor t;
	int32_t got[N];

	if (quoit_open(&params, &s) || quoit_open_ring(s, NULL, &q) ||
	    quoit_open_team(s, &add, 1, &(struct quoit_team_params){.lanes = 1}, &team))
		return "a session of its own";
	t = create(q, N, QUOIT_CREATE_SHARED);
	if (quoit_push(q, quoit_fill_int(t, 41)) ||
	    quoit_push(q, quoit_call(quoit_find_function(team, "add_one"), t, 0, 0, 0)) ||
	    quoit_read(q, t, got, sizeof got) || got[N - 1] != 42)
		return "a call of its own team";
	if (quoit_run(q, quoit_lock(quoit_open_lock(s, "lock", NULL), 0), 20) != -ETIME)
		return "the lock, which is the parent's";
	t = create(q, 1, 0);
	if (quoit_push(q, quoit_fill_int(t, 43)) ||
	    quoit_run(q, quoit_send(quoit_open_queue(s, "queue", NULL), t), SOON_MS))
		return "the queue";
	if (quoit_close_team(team) || quoit_close(s, 0))
		return "the end of its session";
	return "";
}

Test(fork, child_opens_a_session_of_its_own)
{
	struct inherited i = inherited_begin();
	int32_t got = 0;
	pid_t pid = fork_child();

	if (!pid) {
		const char *bad = live(&i);

		leave(*bad ? bad : inherited_try(&i, true));
	}
	expect_end(pid, 0);
	cr_expect_eq(quoit_wait(i.f.p, i.waits, SOON_MS), 0);
	cr_expect_eq(quoit_read(i.f.p, i.into, &got, sizeof got), 0);
	cr_expect_eq(got, 43);
	inherited_end(&i);
}

/* ---- a ring of a child's own, which two of its threads use ---- */

struct second {
	struct quoit_ring *waits, *own; /* the first thread waits on one of them */
	int flag;
	int got;
};

static void *push_when_it_sleeps(void *arg)
{
	struct second *second = arg;

	while (process_state(getpid()) != 'S')
		usleep(1000);
	second->got = quoit_push(second->waits, quoit_nop(0));
	(void)!quoit_run(second->own, quoit_set_flag(second->flag, 0), SOON_MS);
	return NULL;
}

static const char *use_by_two(const struct inherited *i)
{
	const struct quoit_open_params params = {.socket = i->f.d.socket};
	struct quoit_session *s;
	struct second second;
	pthread_t thread;

	if (quoit_open(&params, &s) || quoit_open_ring(s, NULL, &second.waits) ||
	    quoit_open_ring(s, NULL, &second.own))
		return "a session of its own";
	second.flag = quoit_open_flag(s, "child", NULL);
	if (pthread_create(&thread, NULL, push_when_it_sleeps, &second) ||
	    quoit_run(second.waits, quoit_wait_flag(second.flag, 0), SOON_MS) ||
	    pthread_join(thread, NULL))
		return "the wait";
	return second.got == -EBUSY ? "" : "a push by another thread";
}

Test(fork, child_notices_that_two_threads_use_its_ring)
{
	struct inherited i = inherited_begin();
	pid_t pid;

	/* so that the parent's thread, which the child's goes on from, has slept in a wait */
	cr_assert_eq(quoit_run(i.f.q, quoit_wait_flag(i.flag, 0), 20), -ETIME);
	pid = fork_child();
	if (!pid)
		leave(use_by_two(&i));
	expect_end(pid, 0);
	inherited_end(&i);
}

/* ---- locks that other threads hold at the fork ---- */

struct hammer {
	struct inherited *i;
	uint32_t stop;
};

/* Opens, closes, allocates, describes: each takes locks of the session for a moment. */
static void *hammer(void *arg)
{
	struct hammer *h = arg;
	struct quoit_session *s = h->i->f.s;
	struct quoit_service *service;
	struct quoit_ring *q;
	char text[300];

	while (!__atomic_load_n(&h->stop, __ATOMIC_RELAXED)) {
		if (quoit_open_ring(s, NULL, &q))
			continue;
		if (quoit_run(q, quoit_unlock(h->i->flag, 0), SOON_MS) >= 0)
			abort(); /* a flag cannot be unlocked */
		(void)quoit_strerror_wait(q, -EINVAL, text, sizeof text);
		quoit_dealloc(s, quoit_alloc(s, 64));
		if (!quoit_open_service(s, "own", 0, &service))
			quoit_close_service(service);
		quoit_close_ring(q);
	}
	return NULL;
}

Test(fork, child_waits_for_no_lock_that_another_thread_held)
{
	struct inherited i = inherited_begin();
	struct hammer h = {.i = &i};
	pthread_t thread[2];

	for (unsigned k = 0; k < 2; k++)
		cr_assert_eq(pthread_create(&thread[k], NULL, hammer, &h), 0);
	for (unsigned k = 0; k < 100; k++) {
		pid_t pid = fork_child();

		if (!pid)
			leave(inherited_try(&i, true));
		expect_end(pid, 0);
	}
	__atomic_store_n(&h.stop, 1, __ATOMIC_RELAXED);
	for (unsigned k = 0; k < 2; k++)
		pthread_join(thread[k], NULL);
	inherited_end(&i);
}

/* ---- a function that forks ---- */

/* What a function that forks does; its child says by the status whether it was as it must be. */
struct forker {
	const char *socket;
	int (*in_child)(struct forker *f); /* not 0: the child's exit status; 0: it returns */
	pid_t child;
};

static int fork_in_function(void *state, struct quoit_exec_call *c)
{
	struct forker *f = state;
	pid_t pid;

	if (c->piece > 1) /* two pieces fork */
		return 0;
	pid = fork_child();
	if (!pid) {
		int status = f->in_child(f);

		if (status)
			_exit(status);
		return 0;
	}
	__atomic_store_n(&f->child, pid, __ATOMIC_RELEASE);
	return 0;
}

static uint32_t two_pieces(void *state, const struct quoit_exec_call *c)
{
	(void)state;
	return c->scalar[0].u ? 2 : 1;
}

static int return_at_once(struct forker *f)
{
	(void)f;
	return 0;
}

/* The child is in no function, so it may close what it opens; and all its jobs end before. */
static int open_and_close(struct forker *f)
{
	const struct quoit_open_params params = {.socket = f->socket, .shared_bytes = MIB};
	const struct quoit_function add = {
		.name = "add_one", .access = "M---", .run = calls_add_one};
	struct quoit_session *s;
	struct quoit_ring *q;
	struct quoit_team *team;
	quoit_tensor t;
	int err = quoit_open(&params, &s);

	if (err || quoit_open_ring(s, NULL, &q) || quoit_open_team(s, &add, 1, NULL, &team))
		return 1;
	t = create(q, N, QUOIT_CREATE_SHARED);
	if (quoit_push(q, quoit_fill_int(t, 1)) ||
	    quoit_run(q, quoit_call(quoit_find_function(team, "add_one"), t, 0, 0, 0), SOON_MS))
		return 2;
	if (quoit_close_team(team))
		return 3;
	return quoit_close(s, 0) ? 4 : 7;
}

static const struct quoit_function *forks(struct forker *f)
{
	static struct quoit_function function;

	function = (struct quoit_function){.name = "forks",
					   .access = "----",
					   .run = fork_in_function,
					   .pieces = two_pieces,
					   .state = f};
	return &function;
}

static struct quoit_sqe call_of(int function, uint64_t pieces)
{
	return quoit_with_scalars(quoit_call(function, 0, 0, 0, 0), pieces, 0);
}

Test(fork, child_of_a_function_has_a_life_of_its_own)
{
	struct fixture f = begin();
	struct forker forker = {.socket = f.d.socket, .in_child = open_and_close};
	struct quoit_team *team;

	cr_assert_eq(quoit_open_team(f.s, forks(&forker), 1,
				     &(struct quoit_team_params){.lanes = 1}, &team),
		     0);
	cr_expect_eq(run(f.q, call_of(quoit_find_function(team, "forks"), 0)), 0);
	expect_end(__atomic_load_n(&forker.child, __ATOMIC_ACQUIRE), 7);
	cr_expect_eq(run(f.q, call_of(quoit_find_function(team, "forks"), 0)), 0);
	expect_end(__atomic_load_n(&forker.child, __ATOMIC_ACQUIRE), 7);
	end(&f);
}

/* The thread that waits runs the function: in the child the wait ends, and says so. */
static void expect_wait_to_end(uint64_t pieces)
{
	struct fixture f = begin();
	struct forker forker = {.in_child = return_at_once};
	struct quoit_team *team;
	quoit_job job;
	pid_t test = getpid();
	int err;

	cr_assert_eq(quoit_open_team(f.s, forks(&forker), 1,
				     &(struct quoit_team_params){.flags = QUOIT_TEAM_NO_LANES},
				     &team),
		     0);
	job = start(f.q, call_of(quoit_find_function(team, "forks"), pieces));
	err = quoit_wait(f.q, job, SOON_MS);
	if (getpid() != test)
		_exit(err != -EOWNERDEAD ? 1 : quoit_close(f.s, 0) ? 2 : 8);
	cr_expect_eq(err, 0);
	expect_end(forker.child, 8);
	if (pieces) { /* and the child of the first one */
		int status;

		cr_expect_gt(waitpid(-1, &status, 0), 0);
		cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 8, "%#x", (unsigned)status);
	}
	end(&f);
}

Test(fork, wait_ends_in_the_child_of_a_function_that_it_ran)
{
	expect_wait_to_end(0);
}

Test(fork, wait_ends_in_the_children_of_pieces_that_it_ran)
{
	expect_wait_to_end(2);
}

Test(fork, thread_that_serves_ends_in_the_child)
{
	struct fixture f = begin();
	struct forker forker = {.in_child = return_at_once};
	struct quoit_service *service;
	struct quoit_team *team;
	quoit_job job;
	pid_t test = getpid();
	int n;

	cr_assert_eq(quoit_serve(f.s, "forks", forks(&forker), 1,
				 &(struct quoit_serve_params){.flags = QUOIT_TEAM_NO_LANES}, &team),
		     0);
	cr_assert_eq(quoit_open_service(f.s, "forks", SOON_MS, &service), 0);
	job = start(f.q, call_of(quoit_find_service_function(service, "forks"), 0));
	do
		n = quoit_serve_team(team, SOON_MS / 100);
	while (!n);
	if (getpid() != test)
		_exit(n != -EOWNERDEAD ? 1 : quoit_close(f.s, 0) ? 2 : 9);
	cr_expect_eq(n, 1);
	cr_expect_eq(quoit_wait(f.q, job, SOON_MS), 0);
	expect_end(forker.child, 9);
	end(&f);
}

static void exit_six(void)
{
	_exit(6);
}

/* Before the handlers that the child has inherited, and which know nothing of it. */
static int return_and_exit(struct forker *f)
{
	(void)f;
	return atexit(exit_six);
}

/* A lane has nothing to return to: the child's only thread ends, and so the child does. */
Test(fork, child_that_returns_in_a_lane_ends)
{
	const struct quoit_ring_params idly = {.flags = QUOIT_RING_NO_CALLS};
	struct fixture f = begin_with(SHARED, &idly);
	struct forker forker = {.in_child = return_and_exit};
	struct quoit_team *team;

	cr_assert_eq(quoit_open_team(f.s, forks(&forker), 1,
				     &(struct quoit_team_params){.lanes = 1}, &team),
		     0);
	cr_expect_eq(run(f.q, call_of(quoit_find_function(team, "forks"), 0)), 0);
	expect_end(__atomic_load_n(&forker.child, __ATOMIC_ACQUIRE), 6);
	end(&f);
}

/* ---- a function that closes its own session ---- */

static int close_session(void *state, struct quoit_exec_call *c)
{
	struct quoit_session *const *s = state;

	(void)c;
	return quoit_close(*s, 0);
}

Test(fork, function_cannot_close_the_session_that_runs_it)
{
	struct fixture f = begin();
	const struct quoit_function closes = {
		.name = "close", .access = "----", .run = close_session, .state = &f.s};
	struct quoit_team *team;

	cr_assert_eq(quoit_open_team(f.s, &closes, 1, NULL, &team), 0);
	cr_expect_eq(run(f.q, quoit_call(quoit_find_function(team, "close"), 0, 0, 0, 0)),
		     -EDEADLK);
	end(&f);
}
