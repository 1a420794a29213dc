/* SPDX-License-Identifier: MIT */
/*
 * service_torture.c - callers and processes that serve, which are killed, closed and started again
 *
 * Callers know what each call must bring, and how often it may have run: one that is lost, ends
 * twice, runs twice, or brings another's result shows.  quoitd has one reactor, or several, between
 * which calls travel.  At the end nothing of all that is left.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#include "forked.h"
#include "leftovers.h"
#include "service_load.h"
#include "stage.h"

#define PATIENCE_MS 60000u

/* The allocator's caches may keep this; a sanitizer's own memory is not quoitd's. */
#ifdef QUOIT_SANITIZE
#define SLACK UINT64_MAX / 2
#else
#define SLACK (UINT64_C(4) << 20)
#endif

struct play {
	struct daemon d;
	struct load *l;
	pid_t caller[LOAD_CALLERS], server[LOAD_SERVERS];
};

/* ---- the play ---- */

static bool begin(struct stage *s, struct play *p, const char *reactors, uint32_t may)
{
	const char *const options[] = {"--reactors", reactors, NULL};

	*p = (struct play){.d.pid = -1};
	if (!CHECK(s, !daemon_start(&p->d, options)))
		return false;
	p->l = load_new(p->d.socket, may);
	if (!CHECK(s, p->l != NULL))
		return false;
	for (unsigned i = 0; i < LOAD_SERVERS; i++)
		p->server[i] = load_server(p->l, i);
	for (unsigned i = 0; i < LOAD_CALLERS; i++)
		p->caller[i] = load_caller(p->l, i);
	return true;
}

static bool goes_well(struct stage *s, const struct play *p)
{
	for (unsigned i = 0; i < LOAD_CALLERS; i++)
		if (*p->l->caller[i].wrong)
			stage_check(s, false, __FILE__, __LINE__, p->l->caller[i].wrong);
	return !s->bad;
}

/* Until so many more calls have ended. */
static void let_run(struct stage *s, const struct play *p, uint64_t calls)
{
	const uint64_t until = load_ended(p->l) + calls;

	for (unsigned ms = 0; load_ended(p->l) < until && goes_well(s, p); ms++) {
		if (!CHECK(s, ms < PATIENCE_MS))
			return;
		usleep(1000);
	}
}

static void await_server(struct stage *s, const struct play *p, unsigned i)
{
	for (unsigned ms = 0; !atomic_load(&p->l->server[i].serves); ms++) {
		if (!CHECK(s, ms < PATIENCE_MS))
			return;
		usleep(1000);
	}
}

static void end(struct stage *s, struct play *p)
{
	atomic_store(&p->l->stop, true);
	for (unsigned i = 0; i < LOAD_CALLERS; i++)
		forked_await_exit(s, p->caller[i]);
	for (unsigned i = 0; i < LOAD_SERVERS; i++) {
		atomic_store(&p->l->server[i].leave, true);
		forked_await_exit(s, p->server[i]);
	}
	(void)goes_well(s, p);
	leftovers_await_none(s, &p->d);
	load_free(p->l);
	daemon_stop(&p->d);
}

/* ---- cases ---- */

static void all_go_on(struct stage *s, const char *reactors)
{
	struct play p;

	if (!begin(s, &p, reactors, 0))
		return;
	let_run(s, &p, stage_times(s, 3000, 1000000));
	end(s, &p);
}

static void load_on_one_reactor(struct stage *s)
{
	all_go_on(s, "1");
}

static void load_across_reactors(struct stage *s)
{
	all_go_on(s, "4");
}

static void kill_servers(struct stage *s, const char *reactors)
{
	const unsigned kills = stage_times(s, 20, 100);
	struct play p;

	if (!begin(s, &p, reactors, LOAD_MAY_DIE))
		return;
	for (unsigned n = 0; n < kills && !s->bad; n++) {
		unsigned i = stage_random(s, LOAD_SERVERS);

		await_server(s, &p, i);
		let_run(s, &p, 100);
		usleep(stage_random(s, 2000));
		forked_kill(s, p.server[i]);
		p.server[i] = load_server(p.l, i);
	}
	end(s, &p);
}

static void servers_that_are_killed(struct stage *s)
{
	kill_servers(s, "1");
}

static void servers_that_are_killed_across_reactors(struct stage *s)
{
	kill_servers(s, "4");
}

/* What they have waits; deadlines hold, and all else goes to the others. */
static void servers_that_are_stopped_for_a_while(struct stage *s)
{
	const unsigned rounds = stage_times(s, 15, 300);
	struct play p;

	if (!begin(s, &p, "3", LOAD_MAY_LATE))
		return;
	for (unsigned i = 0; i < LOAD_SERVERS; i++)
		await_server(s, &p, i);
	for (unsigned n = 0; n < rounds && !s->bad; n++) {
		pid_t pid = p.server[stage_random(s, LOAD_SERVERS)];

		let_run(s, &p, 50);
		CHECK(s, !kill(pid, SIGSTOP));
		usleep(stage_random(s, 20000));
		CHECK(s, !kill(pid, SIGCONT));
	}
	end(s, &p);
}

/* All of them, at times: calls wait for somebody who serves, and none fails. */
static void servers_that_close_and_start_again(struct stage *s)
{
	const unsigned rounds = stage_times(s, 15, 200);
	struct play p;

	if (!begin(s, &p, "3", 0))
		return;
	for (unsigned n = 0; n < rounds && !s->bad; n++) {
		unsigned many = n % 3 ? 1 : LOAD_SERVERS, first = stage_random(s, LOAD_SERVERS);

		let_run(s, &p, 100);
		for (unsigned k = 0; k < many; k++) {
			unsigned i = (first + k) % LOAD_SERVERS;

			await_server(s, &p, i);
			atomic_store(&p.l->server[i].leave, true);
			forked_await_exit(s, p.server[i]);
		}
		for (unsigned k = 0; k < many; k++)
			p.server[(first + k) % LOAD_SERVERS] =
				load_server(p.l, (first + k) % LOAD_SERVERS);
	}
	end(s, &p);
}

static void callers_that_are_killed(struct stage *s)
{
	const unsigned kills = stage_times(s, 20, 300);
	struct play p;

	if (!begin(s, &p, "3", 0))
		return;
	for (unsigned n = 0; n < kills && !s->bad; n++) {
		unsigned i = stage_random(s, LOAD_CALLERS);

		let_run(s, &p, 60);
		usleep(stage_random(s, 2000));
		forked_kill(s, p.caller[i]);
		p.caller[i] = load_caller(p.l, i);
	}
	end(s, &p);
}

static void all_at_once(struct stage *s)
{
	const unsigned rounds = stage_times(s, 20, 500);
	struct play p;

	if (!begin(s, &p, "4", LOAD_MAY_DIE | LOAD_MAY_CANCEL | LOAD_MAY_LATE))
		return;
	for (unsigned n = 0; n < rounds && !s->bad; n++) {
		unsigned i = stage_random(s, LOAD_SERVERS), k = stage_random(s, LOAD_CALLERS);

		let_run(s, &p, 50);
		if (n % 4 == 0) {
			forked_kill(s, p.caller[k]);
			p.caller[k] = load_caller(p.l, k);
			continue;
		}
		await_server(s, &p, i);
		if (n % 4 == 1) {
			atomic_store(&p.l->server[i].leave, true);
			forked_await_exit(s, p.server[i]);
		} else {
			forked_kill(s, p.server[i]);
		}
		p.server[i] = load_server(p.l, i);
	}
	end(s, &p);
}

static int nothing(void *state, struct quoit_exec_call *c)
{
	(void)state;
	(void)c;
	return 0;
}

/* One session serves and another calls, each for a moment. */
static void registrations_and_their_ends(struct stage *s)
{
	static const struct quoit_function f = {.name = "f", .access = "----", .run = nothing};
	const struct quoit_serve_params params = {.lanes = 1, .flags = QUOIT_TEAM_UNPINNED};
	const unsigned rounds = stage_times(s, 300, 10000);
	struct play p = {.d.pid = -1};
	const char *const options[] = {"--reactors", "2", NULL};
	struct census before, now;
	char text[120] = "";

	if (!CHECK(s, !daemon_start(&p.d, options)))
		return;
	for (unsigned n = 0; n < rounds && !s->bad; n++) {
		const struct quoit_open_params open = {.socket = p.d.socket,
						       .arena_bytes = UINT64_C(1) << 16};
		struct quoit_session *server, *caller;
		struct quoit_service *service;
		struct quoit_team *team;
		struct quoit_ring *q;
		quoit_job job;

		if (n == 50)
			census_take(p.d.pid, &before);
		if (!CHECK(s, !quoit_open(&open, &server)) ||
		    !CHECK(s, !quoit_open(&open, &caller)) ||
		    !CHECK(s, !quoit_serve(server, "brief", &f, 1, &params, &team)) ||
		    !CHECK(s, !quoit_open_service(caller, "brief", 1000, &service)) ||
		    !CHECK(s, !quoit_open_ring(caller, NULL, &q)))
			return;
		CHECK(s,
		      !quoit_start(
			      q, quoit_call(quoit_find_service_function(service, "f"), 0, 0, 0, 0),
			      &job));
		CHECK(s, !quoit_wait(q, job, (int)PATIENCE_MS));
		if (n % 2)
			CHECK(s, !quoit_close_service(service));
		if (n % 3)
			CHECK(s, !quoit_close_team(team));
		CHECK(s, !quoit_close(n % 5 ? server : caller, 0));
		CHECK(s, !quoit_close(n % 5 ? caller : server, 0));
	}
	leftovers_await_none(s, &p.d);
	for (unsigned ms = 0; ms < 2000; ms += 10) {
		census_take(p.d.pid, &now);
		if (census_is_back(&before, &now, SLACK, text, sizeof text))
			break;
		usleep(10000);
	}
	if (!CHECK(s, census_is_back(&before, &now, SLACK, text, sizeof text)))
		printf("  %s\n", text);
	daemon_stop(&p.d);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(load_on_one_reactor),
		STAGE_CASE(load_across_reactors),
		STAGE_CASE(servers_that_are_killed),
		STAGE_CASE(servers_that_are_killed_across_reactors),
		STAGE_CASE(servers_that_are_stopped_for_a_while),
		STAGE_CASE(servers_that_close_and_start_again),
		STAGE_CASE(callers_that_are_killed),
		STAGE_CASE(all_at_once),
		STAGE_CASE(registrations_and_their_ends),
	};

	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof *cases);
}
