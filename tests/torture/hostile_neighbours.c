/* SPDX-License-Identifier: MIT */
/* hostile_neighbours.c - sessions that try to leave nothing for others */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "stage.h"

#define MIB         (UINT64_C(1) << 20)
#define PATIENCE_MS 60000

/* More than quoitd has places for long jobs, including the four that each session may take. */
#define CROWD 8u

#define LONG_ENTRIES  16u
#define LONG_ELEMENTS (256u << 10) /* TANH of these takes a few tenths of a millisecond */
#define FEW_ELEMENTS  512u         /* with so few the reactor runs it itself */

/* Wait until the canary has done this many rounds. */
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

/* Keep the ring full of independent jobs of the highest priority. */
static void *flood_ring(void *arg)
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

static struct quoit_sqe fill_with(uint32_t handle, double value)
{
	struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, handle, 0, 0);

	memcpy(&fill.scalar[0], &value, sizeof value);
	return fill;
}

/* Open a flood of jobs with this many elements each, all of this value. */
static bool open_flood(struct stage *s, struct flood *f, uint32_t elements, double value)
{
	static const struct raw_wish wish = {
		.host_bytes = 32 * MIB, .max_tensors = 64, .sq_entries = LONG_ENTRIES};

	*f = (struct flood){0};
	if (!stage_open(s, &f->client, &wish))
		return false;
	for (uint32_t i = 1; i <= LONG_ENTRIES; i++) {
		CHECK(s, !raw_run(&f->client, raw_vector(i, elements, RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&f->client, fill_with(i, value)));
	}
	return CHECK(s, !pthread_create(&f->thread, NULL, flood_ring, f));
}

/* The canary's long jobs get their turn beside any number of sessions that want everything. */
static void crowd_of(struct stage *s, uint32_t elements, double value)
{
	static struct flood crowd[CROWD];
	unsigned open = 0;

	while (open < CROWD && open_flood(s, &crowd[open], elements, value))
		open++;
	check_canary(s, stage_times(s, 3, 30));
	for (unsigned i = 0; i < open; i++) {
		crowd[i].stop = true;
		pthread_join(crowd[i].thread, NULL);
		CHECK(s, crowd[i].good);
		CHECK(s, stage_leave(s, &crowd[i].client) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

static void crowd_of_long_jobs(struct stage *s)
{
	crowd_of(s, LONG_ELEMENTS, 0);
}

/* ---- slow numbers ---- */

/* A denormal number, which can take processors a hundred times as long; its tanh is itself. */
#define TINY 1e-40f

static void tiny_numbers_in_long_jobs(struct stage *s)
{
	crowd_of(s, LONG_ELEMENTS, (double)TINY);
}

static void tiny_numbers_in_short_jobs(struct stage *s)
{
	crowd_of(s, FEW_ELEMENTS, (double)TINY);
}

/* Neither tiles nor the reactor treat them as zero. */
static void tiny_numbers_are_kept(struct stage *s)
{
	static const struct raw_wish wish = {.host_bytes = 16 * MIB,
					     .arena_bytes = 4 * MIB,
					     .max_tensors = 64,
					     .sq_entries = 16};
	static const uint32_t lengths[] = {FEW_ELEMENTS, LONG_ELEMENTS};
	static const uint8_t opcodes[] = {QUOIT_OP_COPY, QUOIT_OP_TANH, QUOIT_OP_SIN,
					  QUOIT_OP_RELU};
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t from = 1 + 2 * i, to = from + 1;

		CHECK(s, !raw_run(&c, raw_vector(from, lengths[i], RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&c, raw_vector(to, lengths[i], i * MIB)));
		CHECK(s, !raw_run(&c, fill_with(from, (double)TINY)));
		for (size_t k = 0; k < sizeof opcodes; k++) {
			const float *got = (const float *)(const void *)(c.arena + i * MIB);

			CHECK(s, !raw_run(&c, fill_with(to, 0)));
			CHECK(s, !raw_run(&c, raw_job(opcodes[k], to, from, 0)));
			for (uint32_t n = 0; n < lengths[i] && !s->bad; n++)
				CHECK(s, got[n] == TINY);
		}
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- giants ---- */

/* Elements of a sum, all the same one: minutes on a core, in tiles of about a second. */
#ifdef QUOIT_SANITIZE
#define GIANT_ROWS (1u << 11)
#else
#define GIANT_ROWS (1u << 15)
#endif
#define GIANT_COLUMNS (1u << 25)
#define GIANTS        4u
#define FAMILY        5u /* sessions with this many each: more than a reactor has places for */

static bool open_giants(struct stage *s, struct raw_client *c)
{
	static const struct raw_wish wish = {.host_bytes = MIB, .max_tensors = 64, .sq_entries = 8};
	struct quoit_sqe view = {.opcode = QUOIT_OP_VIEW, .base = {2, 1}};

	if (!stage_open(s, c, &wish))
		return false;
	view.dim[0] = view.dim[1] = 1;
	view.dim[2] = GIANT_ROWS;
	view.dim[3] = GIANT_COLUMNS;
	view.stride[0] = 1; /* of one element: all strides 0 would mean dense */
	/*
	 * The first reader of an unwritten tensor counts as its writer, and the others would wait;
	 * so write it.
	 */
	CHECK(s, !raw_run(c, raw_vector(1, 1, RAW_ARENA_NOT)) && !raw_run(c, fill_with(1, 1)));
	CHECK(s, !raw_run(c, view));
	for (uint32_t i = 0; i < GIANTS; i++) {
		struct quoit_sqe sum = raw_job(QUOIT_OP_SUM, 3 + i, 2, 0);

		sum.arg = QUOIT_AXIS_ALL;
		CHECK(s, !raw_run(c, raw_vector(3 + i, 1, RAW_ARENA_NOT)) && raw_submit(c, &sum));
	}
	return true;
}

/* All workers have more than enough to do, and the canary's jobs still get their turn. */
static void jobs_that_take_minutes(struct stage *s)
{
	struct raw_client c;

	if (!open_giants(s, &c))
		return;
	check_canary(s, stage_times(s, 2, 20));
	CHECK(s, !quoit_ring_peek(&c.cq)); /* they are at work all the time */
	stage_die(s, &c);
}

/* They do not take all the places of a reactor: one more session gets its long job done. */
static void many_sessions_of_such_jobs(struct stage *s)
{
	static const struct raw_wish wish = {
		.host_bytes = 4 * MIB, .max_tensors = 64, .sq_entries = 8};
	struct raw_client c[FAMILY], last;
	unsigned n = 0;

	while (n < FAMILY && open_giants(s, &c[n]))
		n++;
	if (stage_open(s, &last, &wish)) {
		CHECK(s, !raw_run(&last, raw_vector(1, LONG_ELEMENTS, RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&last, raw_job(QUOIT_OP_NORMAL, 1, 0, 0)));
		CHECK(s, !raw_run(&last, raw_job(QUOIT_OP_TANH, 1, 1, 0)));
		CHECK(s, stage_leave(s, &last) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
	while (n--) {
		CHECK(s, !quoit_ring_peek(&c[n].cq));
		stage_die(s, &c[n]);
	}
}

/* ---- long lists ---- */

/* Open jobs that will each write a piece of one buffer: they form one list. */
#define LIST 4000u

enum { PIECES = 1, FREE_PLACE, RESULT, FIRST_PIECE };

static struct quoit_sqe piece(uint32_t handle, uint32_t index)
{
	struct quoit_sqe view = {.opcode = QUOIT_OP_VIEW, .base = {handle, PIECES}};

	view.dim[0] = view.dim[1] = view.dim[2] = 1;
	view.dim[3] = view.stride[3] = 1;
	view.offset = index * sizeof(float);
	return view;
}

/* Fill the list behind a job that takes long enough. */
static void make_list(struct stage *s, struct raw_client *c)
{
	struct quoit_sqe wide = {.opcode = QUOIT_OP_VIEW, .base = {FIRST_PIECE + LIST, RESULT}};
	struct quoit_sqe sum = raw_job(QUOIT_OP_SUM, RESULT + 1 + LIST + 1, 0, 0);

	wide.dim[0] = wide.dim[1] = 1;
	wide.dim[2] = GIANT_ROWS;
	wide.dim[3] = GIANT_COLUMNS;
	wide.stride[0] = 1;
	CHECK(s, !raw_run(c, raw_vector(PIECES, LIST + 1, RAW_ARENA_NOT)));
	CHECK(s, !raw_run(c, raw_job(QUOIT_OP_FILL, PIECES, 0, 0)));
	CHECK(s, !raw_run(c, piece(FREE_PLACE, LIST)));
	CHECK(s, !raw_run(c, raw_vector(RESULT, 1, RAW_ARENA_NOT)) && !raw_run(c, wide));
	CHECK(s, !raw_run(c, raw_vector(sum.tensor[0], 1, RAW_ARENA_NOT)));
	for (uint32_t i = 0; i < LIST; i++)
		CHECK(s, !raw_run(c, piece(FIRST_PIECE + i, i)));
	sum.tensor[1] = FIRST_PIECE + LIST;
	sum.arg = QUOIT_AXIS_ALL;
	CHECK(s, raw_submit(c, &sum));
	for (uint32_t i = 0; i < LIST; i++) {
		struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, FIRST_PIECE + i, 0, 0);

		fill.flags = QUOIT_SQE_LINK | QUOIT_SQE_QUIET;
		fill.link = i + 1;
		CHECK(s, raw_submit(c, &fill));
	}
}

/* Jobs that run at once, but each of which walks the whole list four times. */
static void lists_that_are_long_to_walk(struct stage *s)
{
	static const struct raw_wish wish = {
		.host_bytes = 16 * MIB, .sq_entries = 8192, .cq_entries = 8192};
	const struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP,
				      .flags = QUOIT_SQE_QUIET,
				      .tensor = {FREE_PLACE, FREE_PLACE, FREE_PLACE, FREE_PLACE}};
	struct raw_client c;
	uint32_t head;

	if (!stage_open(s, &c, &wish))
		return;
	make_list(s, &c);
	head = c.sq.next;
	while (raw_submit(&c, &nop))
		;
	check_canary(s, stage_times(s, 2, 20));
	CHECK(s, !quoit_ring_peek(&c.cq)); /* their predecessor has not ended */
	CHECK(s, (int32_t)(raw_sq_head(&c) - head) > 0);
	stage_die(s, &c);
}

static const struct stage_case cases[] = {
	{"lists that are long to walk", lists_that_are_long_to_walk},
	{"jobs that take minutes", jobs_that_take_minutes},
	{"many sessions of such jobs", many_sessions_of_such_jobs},
	{"crowd of long jobs", crowd_of_long_jobs},
	{"tiny numbers in long jobs", tiny_numbers_in_long_jobs},
	{"tiny numbers in short jobs", tiny_numbers_in_short_jobs},
	{"tiny numbers are kept", tiny_numbers_are_kept},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
