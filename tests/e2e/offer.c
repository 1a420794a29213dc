/* SPDX-License-Identifier: MIT */
/* offer.c - processes that serve a service, or call one */
#include "offer.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define PATIENCE_MS 60000

struct offer *offer_make(void)
{
	struct offer *o =
		mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(o, MAP_FAILED);
	return o;
}

void offer_free(struct offer *o)
{
	munmap(o, sizeof *o);
}

/* ---- the functions ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void count(struct offer *o, uint64_t ns)
{
	uint64_t longest = __atomic_load_n(&o->longest_ns, __ATOMIC_SEQ_CST);

	__atomic_add_fetch(&o->ns, ns, __ATOMIC_SEQ_CST);
	while (ns > longest && !__atomic_compare_exchange_n(&o->longest_ns, &longest, ns, false,
							    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static int nap(void *state, struct quoit_exec_call *c)
{
	const uint64_t began = now_ns();
	struct offer *o = state;

	__atomic_add_fetch(&o->begun, 1, __ATOMIC_SEQ_CST);
	usleep((useconds_t)c->scalar[0].u);
	count(o, now_ns() - began);
	return 0;
}

static int pass(void *state, struct quoit_exec_call *c)
{
	struct offer *o = state;

	(void)c;
	__atomic_add_fetch(&o->begun, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&o->open, __ATOMIC_SEQ_CST))
		usleep(1000);
	return 0;
}

static int fail(void *state, struct quoit_exec_call *c)
{
	struct offer *o = state;

	(void)c;
	__atomic_add_fetch(&o->begun, 1, __ATOMIC_SEQ_CST);
	return -EDOM;
}

/* ---- processes ---- */

static bool become(struct offer_who who)
{
	const gid_t gid = who.uid;

	if (who.uid && (setgroups(who.group ? 1 : 0, &who.group) < 0 ||
			setresgid(gid, gid, gid) < 0 || setresuid(who.uid, who.uid, who.uid) < 0))
		return false;
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

static struct quoit_session *open_session(const char *socket)
{
	struct quoit_open_params p = {.socket = socket, .host_bytes = UINT64_C(4) << 20};
	struct quoit_session *s;

	return quoit_open(&p, &s) == 0 ? s : NULL;
}

static bool serve(struct offer *o, const char *socket, const char *name,
		  const struct quoit_serve_params *params)
{
	const struct quoit_function functions[] = {
		{.name = "nap", .access = "----", .run = nap, .state = o},
		{.name = "pass", .access = "----", .run = pass, .state = o},
		{.name = "fail", .access = "----", .run = fail, .state = o},
	};
	struct quoit_session *s = open_session(socket);
	struct quoit_team *team;

	return s && quoit_serve(s, name, functions, 3, params, &team) == 0;
}

static bool call(const char *socket, const char *name, unsigned calls)
{
	struct quoit_session *s = open_session(socket);
	struct quoit_service *service;
	struct quoit_ring *q;
	int nap_number;

	if (!s || quoit_open_ring(s, NULL, &q) || quoit_open_service(s, name, 0, &service))
		return false;
	nap_number = quoit_find_service_function(service, "nap");
	for (unsigned i = 0; i < calls; i++)
		if (quoit_push(q, quoit_call(nap_number, 0, 0, 0, 0)))
			return false;
	return quoit_wait_all(q, PATIENCE_MS) == 0;
}

/* In the child: say whether it is ready, and stay. */
static void stay(int ready, bool good)
{
	if (!good)
		fprintf(stderr, "%s\n", quoit_open_text());
	if (write(ready, &good, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t await(pid_t pid, int ready[2])
{
	bool good = false;

	close(ready[1]);
	cr_assert(read(ready[0], &good, 1) == 1 && good);
	close(ready[0]);
	return pid;
}

pid_t offer_serve(struct offer *o, const char *socket, const char *name,
		  const struct quoit_serve_params *params, struct offer_who who)
{
	int ready[2];
	pid_t pid;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		stay(ready[1], become(who) && serve(o, socket, name, params));
	return await(pid, ready);
}

pid_t offer_call(const char *socket, const char *name, unsigned calls, struct offer_who who)
{
	int ready[2];
	pid_t pid;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		stay(ready[1], become(who) && call(socket, name, calls));
	return await(pid, ready);
}

void offer_end(pid_t pid)
{
	cr_expect_eq(kill(pid, SIGKILL), 0);
	cr_expect_eq(waitpid(pid, NULL, 0), pid);
}
