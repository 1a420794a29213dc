/* SPDX-License-Identifier: MIT */
/*
 * keyspace_torture.c - processes that change the same few keys, wait for each other's changes, and are
 * killed: case 113 of the threat model
 *
 * Afterwards there must be one order of all calls in which each has said what was true (key_check.c), and
 * nothing may be left in quoitd, which has one reactor, or two.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked.h"
#include "key_load.h"
#include "leftovers.h"
#include "stage.h"

#define PATIENCE_MS 60000u

struct play {
	struct daemon d;
	struct key_load *l;
	pid_t pid[KEY_WORKERS];
	unsigned kills;
};

static bool goes_well(struct stage *s, const struct play *p)
{
	for (unsigned i = 0; i < KEY_WORKERS; i++)
		if (*p->l->hand[i].wrong) {
			printf("  process %u:\n", i);
			stage_check(s, false, __FILE__, __LINE__, p->l->hand[i].wrong);
		}
	return !s->bad;
}

static bool begin(struct stage *s, struct play *p, const char *reactors, uint32_t longest,
		  bool may_die)
{
	const char *const options[] = {"--reactors", reactors, NULL};

	*p = (struct play){.d.pid = -1};
	if (!CHECK(s, !daemon_start(&p->d, options)))
		return false;
	p->l = key_load_new(p->d.socket, longest, may_die);
	if (!CHECK(s, p->l != NULL))
		return false;
	for (unsigned i = 0; i < KEY_WORKERS; i++)
		p->pid[i] = key_load_start(p->l, i);
	return true;
}

/* Until so many more calls have ended. */
static void let_run(struct stage *s, const struct play *p, uint64_t calls)
{
	const uint64_t until = key_load_ended(p->l) + calls;

	for (unsigned ms = 0; key_load_ended(p->l) < until && goes_well(s, p); ms++) {
		if (!CHECK(s, ms < PATIENCE_MS))
			return;
		usleep(1000);
	}
}

static void kill_some(struct stage *s, struct play *p, unsigned kills)
{
	for (unsigned n = 0; n < kills && goes_well(s, p); n++) {
		unsigned i = stage_random(s, KEY_WORKERS);

		let_run(s, p, 100);
		usleep(stage_random(s, 1000));
		forked_kill(s, p->pid[i]);
		p->kills++;
		p->pid[i] = key_load_start(p->l, i);
	}
}

static void end(struct stage *s, struct play *p)
{
	const char *wrong;

	atomic_store(&p->l->stop, true);
	for (unsigned i = 0; i < KEY_WORKERS; i++)
		forked_await_exit(s, p->pid[i]);
	(void)goes_well(s, p);
	wrong = key_load_check(p->l, p->kills);
	if (wrong)
		stage_check(s, false, __FILE__, __LINE__, wrong);
	leftovers_await_none(s, &p->d);
	key_load_free(p->l);
	daemon_stop(&p->d);
}

/* ---- cases ---- */

static void all_go_on(struct stage *s, const char *reactors, uint32_t longest)
{
	struct play p;

	if (!begin(s, &p, reactors, longest, false))
		return;
	let_run(s, &p, stage_times(s, 10000, 200000));
	end(s, &p);
}

static void small_values(struct stage *s)
{
	all_go_on(s, "1", 64);
	all_go_on(s, "2", 64);
}

static void values_of_many_sizes(struct stage *s)
{
	all_go_on(s, "1", QUOIT_VALUE_BYTES);
	all_go_on(s, "2", QUOIT_VALUE_BYTES);
}

static void with_deaths(struct stage *s, const char *reactors, uint32_t longest)
{
	struct play p;

	if (!begin(s, &p, reactors, longest, true))
		return;
	kill_some(s, &p, stage_times(s, 20, 400));
	end(s, &p);
}

static void those_who_are_killed(struct stage *s)
{
	with_deaths(s, "1", 64);
	with_deaths(s, "2", 4096);
	with_deaths(s, "2", QUOIT_VALUE_BYTES);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(small_values),
		STAGE_CASE(values_of_many_sizes),
		STAGE_CASE(those_who_are_killed),
	};

	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof *cases);
}
