/* SPDX-License-Identifier: MIT */
/* hostile_neighbours.c - sessions that leave nothing for others */
#include <pthread.h>
#include <stdio.h>

#include "stage.h"

#define MIB         (UINT64_C(1) << 20)
#define PATIENCE_MS 60000

/* More than quoitd has places for long jobs, with the four that each session may take. */
#define CROWD 8u

#define LONG_ENTRIES  16u
#define LONG_ELEMENTS (256u << 10) /* TANH of these takes a few tenths of a millisecond */

/* The canary gets so many rounds done. */
static void check_canary(struct stage *s, unsigned rounds)
{
	for (unsigned i = 0; i < rounds && !s->bad; i++) {
		const char *word = canary_check(&s->canary);

		if (!CHECK(s, !word))
			printf("  the canary: %s\n", word);
	}
}

/* ---- long jobs ---- */

struct flood {
	struct raw_client client;
	pthread_t thread;
	_Atomic bool stop;
	bool good;
};

/* Keep the ring full of long jobs of the highest priority, none of which waits for another. */
static void *flood_long(void *arg)
{
	struct flood *f = arg;
	uint32_t next = 0, open = 0;
	struct quoit_cqe cqe;

	f->good = true;
	while (f->good && (!f->stop || open)) {
		while (!f->stop && open < LONG_ENTRIES) {
			struct quoit_sqe job = raw_job(QUOIT_OP_TANH, 1 + next, 1 + next, 0);

			job.priority = QUOIT_PRIO_HIGH;
			next = (next + 1) % LONG_ENTRIES;
			if (!raw_submit(&f->client, &job))
				break;
			open++;
		}
		f->good = !raw_reap(&f->client, PATIENCE_MS, &cqe, NULL) && !cqe.res;
		open--;
	}
	return NULL;
}

static bool open_flood(struct stage *s, struct flood *f)
{
	static const struct raw_wish wish = {
		.host_bytes = 32 * MIB, .max_tensors = 64, .sq_entries = LONG_ENTRIES};

	*f = (struct flood){0};
	if (!stage_open(s, &f->client, &wish))
		return false;
	for (uint32_t i = 1; i <= LONG_ENTRIES; i++)
		CHECK(s, !raw_run(&f->client, raw_vector(i, LONG_ELEMENTS, RAW_ARENA_NOT)));
	return CHECK(s, !pthread_create(&f->thread, NULL, flood_long, f));
}

/* The canary's long jobs have their turn beside any number of sessions that want all. */
static void crowd_of_long_jobs(struct stage *s)
{
	static struct flood crowd[CROWD];
	unsigned open = 0;

	while (open < CROWD && open_flood(s, &crowd[open]))
		open++;
	check_canary(s, s->full ? 1000 : 3);
	for (unsigned i = 0; i < open; i++) {
		crowd[i].stop = true;
		pthread_join(crowd[i].thread, NULL);
		CHECK(s, crowd[i].good);
		CHECK(s, stage_leave(s, &crowd[i].client) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

/* ---- giants ---- */

/* Elements of a sum, all of them the same one: minutes on a core, in parts of about a second. */
#ifdef QUOIT_SANITIZE
#define GIANT_ROWS (1u << 9)
#else
#define GIANT_ROWS (1u << 15)
#endif
#define GIANT_COLUMNS (1u << 25)
#define GIANTS        4u

/* All workers have more than enough to do with it, and the canary's jobs have their turn. */
static void jobs_that_take_minutes(struct stage *s)
{
	static const struct raw_wish wish = {.host_bytes = MIB, .max_tensors = 64, .sq_entries = 8};
	struct quoit_sqe view = {.opcode = QUOIT_OP_VIEW, .base = {2, 1}};
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	view.dim[0] = view.dim[1] = 1;
	view.dim[2] = GIANT_ROWS;
	view.dim[3] = GIANT_COLUMNS;
	CHECK(s, !raw_run(&c, raw_vector(1, 1, RAW_ARENA_NOT)) && !raw_run(&c, view));
	for (uint32_t i = 0; i < GIANTS; i++) {
		struct quoit_sqe sum = raw_job(QUOIT_OP_SUM, 3 + i, 2, 0);

		sum.arg = QUOIT_AXIS_ALL;
		CHECK(s, !raw_run(&c, raw_vector(3 + i, 1, RAW_ARENA_NOT)) && raw_submit(&c, &sum));
	}
	check_canary(s, s->full ? 100 : 2);
	CHECK(s, !quoit_ring_peek(&c.cq)); /* they are at work all the time */
	stage_die(s, &c);
}

static const struct stage_case cases[] = {
	{"jobs that take minutes", jobs_that_take_minutes},
	{"crowd of long jobs", crowd_of_long_jobs},
};

int main(int argc, char **argv)
{
	const struct stage_scene scene = {0};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &scene, cases, sizeof cases / sizeof cases[0]);
	return stage_end(&stage);
}
