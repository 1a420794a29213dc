/* SPDX-License-Identifier: MIT */
/*
 * heat.c - heat spreads over a plate: the step is a function of the program's own, cut into pieces
 * that all cores share; sums are Quoit's.  The result is compared with the same steps in one loop.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quoit.h>

#define ROWS    1000u
#define COLUMNS 1000u
#define STEPS   50u
#define BAND    50u /* rows of one piece */

/* The rows from `from` up to `to` of one step; the plate's edge stays as it is. */
static void spread(float *out, const float *x, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		for (uint32_t k = 0; k < COLUMNS; k++) {
			const float *at = &x[i * COLUMNS + k];
			const int edge = !i || !k || i == ROWS - 1 || k == COLUMNS - 1;

			out[i * COLUMNS + k] =
				edge ? *at
				     : 0.25f * (at[-1] + at[1] + at[-(int)COLUMNS] + at[COLUMNS]);
		}
}

/* ---- the step as a job ---- */

static uint32_t bands(void *state, const struct quoit_exec_call *call)
{
	(void)state;
	return (call->tensor[0].dim[2] + BAND - 1) / BAND;
}

/* Is it a dense plate of our size? */
static int is_plate(const struct quoit_exec_tensor *t)
{
	return t->dtype == QUOIT_F32 && t->dim[2] == ROWS && t->dim[3] == COLUMNS &&
	       t->stride[2] == (int32_t)COLUMNS && t->stride[3] == 1;
}

static int step(void *state, struct quoit_exec_call *call)
{
	const uint32_t from = call->piece * BAND;

	(void)state;
	if (!is_plate(&call->tensor[0]) || !is_plate(&call->tensor[1])) {
		snprintf(
			call->text, sizeof call->text,
			"a plate has %u x %u points of type %u: needed are %u x %u, dense, float32",
			call->tensor[1].dim[2], call->tensor[1].dim[3], call->tensor[1].dtype, ROWS,
			COLUMNS);
		return -EINVAL;
	}
	spread(call->tensor[0].data, call->tensor[1].data, from,
	       from + BAND < ROWS ? from + BAND : ROWS);
	return 0;
}

static const struct quoit_function functions[] = {
	{.name = "step", .access = "WR--", .run = step, .pieces = bands},
};

/* ---- the run ---- */

static int heat_one_edge(struct quoit_ring *q, quoit_tensor plate)
{
	void *at;
	int err = quoit_acquire(q, plate, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at);

	for (uint32_t k = 0; !err && k < COLUMNS; k++)
		((float *)at)[k] = 100;
	return err ? err : quoit_release_tensor(q, plate);
}

static int run(struct quoit_ring *q, int function, float *ret_plate, float *ret_sum)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, ROWS, COLUMNS}};
	quoit_tensor plate[2], sum = quoit_create_vector(q, QUOIT_F32, 1);
	int err;

	for (int i = 0; i < 2; i++)
		plate[i] = quoit_create(q, &shape, QUOIT_CREATE_SHARED);
	err = heat_one_edge(q, plate[0]);
	for (uint32_t i = 0; !err && i < STEPS; i++)
		err = quoit_push(q, quoit_call(function, plate[~i & 1], plate[i & 1], 0, 0));
	if (!err)
		err = quoit_push(q, quoit_sum(sum, plate[STEPS & 1], QUOIT_AXIS_ALL));
	if (!err)
		err = quoit_read(q, sum, ret_sum, sizeof *ret_sum);
	return err ? err
		   : quoit_read(q, plate[STEPS & 1], ret_plate, ROWS * COLUMNS * sizeof(float));
}

static void run_alone(float *plate, float *other)
{
	for (uint32_t k = 0; k < COLUMNS; k++)
		plate[k] = 100;
	for (uint32_t i = 0; i < STEPS; i++) {
		spread(other, plate, 0, ROWS);
		memcpy(plate, other, ROWS * COLUMNS * sizeof *plate);
	}
}

static int compare(const float *plate, float sum)
{
	float *expected = calloc(2 * ROWS * COLUMNS, sizeof *expected);
	int differs;

	if (!expected)
		return 1;
	run_alone(expected, expected + ROWS * COLUMNS);
	differs = memcmp(plate, expected, ROWS * COLUMNS * sizeof *plate);
	printf("%u steps on %u x %u points, sum %g: %s\n", STEPS, ROWS, COLUMNS, sum,
	       differs ? "WRONG" : "the same bits as in one loop");
	free(expected);
	return differs != 0;
}

int main(void)
{
	const struct quoit_open_params params = {.shared_bytes =
							 2 * ROWS * COLUMNS * sizeof(float)};
	float *plate = malloc(ROWS * COLUMNS * sizeof *plate), sum;
	struct quoit_session *s;
	struct quoit_ring *q = NULL;
	struct quoit_team *team;
	char text[256];
	int err;

	if (!plate) {
		fprintf(stderr, "heat: there is not enough memory\n");
		return 1;
	}
	err = quoit_open(&params, &s);
	if (err) {
		fprintf(stderr, "heat: %s: %s\n", quoit_strerror(err), quoit_open_text());
		free(plate);
		return 1;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = quoit_open_team(s, functions, 1, NULL, &team);
	if (err) {
		fprintf(stderr, "heat: %s: %s\n", quoit_strerror(err), quoit_open_text());
	} else {
		err = run(q, quoit_find_function(team, "step"), plate, &sum);
		if (err)
			fprintf(stderr, "heat: %s\n",
				quoit_strerror_wait(q, err, text, sizeof text));
		else
			err = compare(plate, sum);
	}
	quoit_close(s, 0);
	free(plate);
	return err != 0;
}
