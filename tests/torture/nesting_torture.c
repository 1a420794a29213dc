/* SPDX-License-Identifier: MIT */
/*
 * nesting_torture.c - functions that call their own service and another one, many at a time and one
 * within another, with too few threads: case 102 of the threat model
 *
 * Each call has a deadline, and each ends: with the number of functions that it has run, or with one
 * of the errors that are allowed.  At the end nothing is left, and each service serves still.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#include "forked.h"
#include "leftovers.h"
#include "stage.h"

#define SERVICES    2u
#define SERVERS     4u /* half of them for each service */
#define CALLERS     3u
#define FAN_MOST    4u
#define PATIENCE_MS 60000u
#define WAIT_MS     60000u /* for somebody who serves */
#define DEADLINE_US 100000u

static const char *const names[SERVICES] = {"left", "right"};

/* What all processes see. */
struct nest {
	char socket[100];
	atomic_bool stop, leave; /* those that call; those that serve */
	atomic_bool may_die;     /* processes that serve are killed */
	atomic_uint serving;
	atomic_uint ended, good, deadlocks, late, wrong;
};

struct play {
	struct daemon d;
	struct nest *n;
	pid_t server[SERVERS], caller[CALLERS];
};

/* ---- the function ---- */

static struct quoit_session *session; /* of this process */
static struct nest *nest;
static int function[SERVICES];
static atomic_bool can_call; /* it has found these */

static bool is_allowed(int err)
{
	return err == -EDEADLK || err == -ETIME ||
	       (atomic_load(&nest->may_die) && (err == -QUOIT_EEXEC || err == -ECANCELED));
}

/*
 * Calls `fan` functions of both services by turns, each a level deeper, and waits for all of them.
 * Returns how many functions have run, or the first error.
 */
static int tree(void *state, struct quoit_exec_call *c)
{
	static _Thread_local struct quoit_ring *q;
	const unsigned level = (unsigned)c->scalar[0].u, fan = (unsigned)c->scalar[1].u;
	quoit_job job[FAN_MOST];
	int sum = 1, first = 0;

	(void)state;
	if (!level)
		return 1;
	while (!atomic_load(&can_call))
		usleep(100);
	if (!q && quoit_open_ring(session, NULL, &q))
		return -ENFILE;
	for (unsigned i = 0; i < fan; i++) {
		struct quoit_sqe call = quoit_call(function[(level + i) % SERVICES], 0, 0, 0, 0);
		int err = quoit_start(
			q,
			quoit_with_deadline(quoit_with_scalars(call, level - 1, fan), DEADLINE_US),
			&job[i]);

		if (err)
			job[i] = 0;
		first = first ? first : err;
	}
	for (unsigned i = 0; i < fan; i++) {
		int ran = job[i] ? quoit_wait(q, job[i], QUOIT_FOREVER) : 0;

		sum += ran;
		first = first ? first : ran < 0 ? ran : 0;
	}
	/* A function has no words for a process that died. */
	return first == -QUOIT_EEXEC ? -ECANCELED : first ? first : sum;
}

/* ---- processes ---- */

static int open_services(void)
{
	struct quoit_service *service;

	for (unsigned i = 0; i < SERVICES; i++) {
		if (quoit_open_service(session, names[i], WAIT_MS, &service))
			return 11;
		function[i] = quoit_find_service_function(service, "tree");
	}
	atomic_store(&can_call, true);
	return 0;
}

static int serve(unsigned number)
{
	static const struct quoit_function functions[] = {
		{.name = "tree", .access = "----", .run = tree}};
	const struct quoit_serve_params params = {.lanes = 1 + number / SERVICES,
						  .flags = QUOIT_TEAM_UNPINNED};
	struct quoit_team *team;
	int err;

	if (quoit_serve(session, names[number % SERVICES], functions, 1, &params, &team))
		return 12;
	err = open_services();
	atomic_fetch_add(&nest->serving, 1);
	while (!err && !atomic_load(&nest->leave))
		usleep(1000);
	return err ? err : quoit_close(session, 0) ? 13 : 0;
}

static unsigned functions_of(unsigned levels, unsigned fan)
{
	unsigned sum = 1, width = 1;

	for (unsigned i = 0; i < levels; i++)
		sum += width *= fan;
	return sum;
}

static void call_once(struct quoit_ring *q, unsigned seed)
{
	const unsigned fan = 1 + seed % FAN_MOST;
	const unsigned levels = fan == 1 ? seed % 10000 : seed / FAN_MOST % 5;
	const struct quoit_sqe call = quoit_call(function[seed / 7 % SERVICES], 0, 0, 0, 0);
	int res = quoit_run(q, quoit_with_scalars(call, levels, fan), QUOIT_FOREVER);

	atomic_fetch_add(&nest->good, res > 0);
	atomic_fetch_add(&nest->deadlocks, res == -EDEADLK);
	atomic_fetch_add(&nest->late, res == -ETIME);
	if (res > 0 ? (unsigned)res != functions_of(levels, fan) : !is_allowed(res)) {
		atomic_fetch_add(&nest->wrong, 1);
		fprintf(stderr, "  %u levels of %u calls: %d, not %u\n", levels, fan, res,
			functions_of(levels, fan));
	}
	atomic_fetch_add(&nest->ended, 1);
}

static int call(unsigned number)
{
	struct quoit_ring *q;
	uint64_t random = number + 1;
	int err = open_services();

	if (!err && quoit_open_ring(session, NULL, &q))
		err = 14;
	while (!err && !atomic_load(&nest->stop)) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		call_once(q, (unsigned)(random >> 40));
	}
	return err ? err : quoit_close(session, 0) ? 15 : 0;
}

static pid_t start(struct nest *n, int (*run)(unsigned number), unsigned number)
{
	const struct quoit_open_params params = {.socket = n->socket, .host_bytes = 4u << 20};
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nest = n;
	if (quoit_open(&params, &session))
		_exit(10);
	_exit(run(number));
}

/* ---- the play ---- */

static void await(struct stage *s, const atomic_uint *count, unsigned least)
{
	for (unsigned ms = 0; atomic_load(count) < least; ms++) {
		if (!CHECK(s, ms < PATIENCE_MS))
			return;
		usleep(1000);
	}
}

static bool begin(struct stage *s, struct play *p, const char *reactors)
{
	const char *const options[] = {"--reactors", reactors, NULL};

	*p = (struct play){.d.pid = -1};
	p->n = mmap(NULL, sizeof *p->n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!CHECK(s, p->n != MAP_FAILED) || !CHECK(s, !daemon_start(&p->d, options)))
		return false;
	snprintf(p->n->socket, sizeof p->n->socket, "%s", p->d.socket);
	for (unsigned i = 0; i < SERVERS; i++)
		p->server[i] = start(p->n, serve, i);
	await(s, &p->n->serving, SERVERS);
	for (unsigned i = 0; i < CALLERS; i++)
		p->caller[i] = start(p->n, call, i);
	return true;
}

static void end(struct stage *s, struct play *p)
{
	atomic_store(&p->n->stop, true);
	for (unsigned i = 0; i < CALLERS; i++)
		forked_await_exit(s, p->caller[i]);
	atomic_store(&p->n->leave, true);
	for (unsigned i = 0; i < SERVERS; i++)
		forked_await_exit(s, p->server[i]);
	CHECK(s, !atomic_load(&p->n->wrong));
	leftovers_await_none(s, &p->d);
	daemon_stop(&p->d);
	munmap(p->n, sizeof *p->n);
}

/* ---- cases ---- */

static void call_on(struct stage *s, const char *reactors)
{
	struct play p;

	if (!begin(s, &p, reactors))
		return;
	await(s, &p.n->ended, stage_times(s, 200, 20000));
	CHECK(s, atomic_load(&p.n->good) && atomic_load(&p.n->deadlocks));
	end(s, &p);
}

static void nesting_on_one_reactor(struct stage *s)
{
	call_on(s, "1");
}

static void nesting_across_reactors(struct stage *s)
{
	call_on(s, "4");
}

static void nesting_while_servers_are_killed(struct stage *s)
{
	const unsigned kills = stage_times(s, 8, 200);
	struct play p;

	if (!begin(s, &p, "2"))
		return;
	atomic_store(&p.n->may_die, true);
	for (unsigned i = 0; i < kills && !s->bad; i++) {
		const unsigned victim = stage_random(s, SERVERS),
			       served = atomic_load(&p.n->serving);

		await(s, &p.n->ended, atomic_load(&p.n->ended) + 10);
		usleep(stage_random(s, 5000));
		forked_kill(s, p.server[victim]);
		p.server[victim] = start(p.n, serve, victim);
		await(s, &p.n->serving, served + 1);
	}
	end(s, &p);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(nesting_on_one_reactor),
		STAGE_CASE(nesting_across_reactors),
		STAGE_CASE(nesting_while_servers_are_killed),
	};

	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof *cases);
}
