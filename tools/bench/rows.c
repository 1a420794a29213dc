/* SPDX-License-Identifier: MIT */
/* rows.c - small messages between processes, of which one job sends or receives many */
#include "rows.h"

#include <errno.h>
#include <unistd.h>

#define TENSORS 8u
#define AHEAD   4u    /* jobs in flight */
#define WAIT_MS 20000 /* for the other process; else it has failed */

struct side {
	struct bench_client client;
	int queue;
	quoit_tensor tensor[TENSORS];
	quoit_job job[AHEAD]; /* of the receiver */
	uint64_t asked, had;  /* jobs */
};

static int open_side(const struct bench *b, const struct bench_series *s, double first,
		     struct side *ret)
{
	const struct quoit_sync_params room = {.value = AHEAD * BENCH_ROWS,
					       .most = (uint64_t)AHEAD * BENCH_ROWS * s->depth};
	int err = bench_open(b, s->cores, NULL, &ret->client);
	struct quoit_ring *q = ret->client.ring;

	if (err)
		return err;
	ret->asked = ret->had = 0;
	ret->queue = quoit_open_queue(ret->client.session, "quoit-bench-rows", &room);
	err = ret->queue < 0 ? ret->queue : 0;
	for (unsigned i = 0; i < TENSORS && !err; i++) {
		ret->tensor[i] =
			quoit_create_matrix(q, QUOIT_F32, BENCH_ROWS, s->depth / sizeof(float));
		err = quoit_push(q, quoit_fill(ret->tensor[i], first + i));
	}
	if (!err)
		err = quoit_wait_all(q, WAIT_MS);
	if (err)
		bench_close(&ret->client);
	return err;
}

/* ---- the sender ---- */

static int send_jobs(struct side *side, uint64_t jobs)
{
	struct quoit_ring *q = side->client.ring;
	int err = 0;

	for (uint64_t i = 0; i < jobs && !err; i++) {
		quoit_tensor t = side->tensor[side->asked++ % TENSORS];

		err = quoit_push(q, quoit_send_rows(side->queue, t));
		if (!err)
			err = quoit_window(q, AHEAD - 1, WAIT_MS);
	}
	if (!err)
		err = quoit_wait_all(q, WAIT_MS);
	return err ? err : quoit_count_failures(q, NULL) ? -EBADMSG : 0;
}

int rows_send(const struct bench *b, const struct bench_series *s, const uint32_t *go)
{
	struct side side;
	int err = open_side(b, s, 1, &side);

	if (err)
		return err;
	err = send_jobs(&side, s->count / 10 / BENCH_ROWS);
	while (!err && !__atomic_load_n(go, __ATOMIC_ACQUIRE))
		usleep(10);
	if (!err)
		err = send_jobs(&side, s->count / BENCH_ROWS);
	bench_close(&side.client);
	return err;
}

/* ---- the receiver ---- */

static int ask(struct side *side)
{
	uint64_t turn = side->asked++;

	return quoit_start(side->client.ring,
			   quoit_receive_rows(side->queue, side->tensor[turn % TENSORS]),
			   &side->job[turn % AHEAD]);
}

/* A job gets what one has sent: never more than that is there in one piece, and never less. */
static int receive_jobs(struct side *side, uint64_t jobs)
{
	struct quoit_ring *q = side->client.ring;
	int err = 0, res;

	for (uint64_t i = 0; i < jobs && !err; i++) {
		while (side->asked < side->had + AHEAD && !err)
			err = ask(side);
		res = err ? err : quoit_wait(q, side->job[side->had++ % AHEAD], WAIT_MS);
		if (!err && res != (int)BENCH_ROWS)
			err = res < 0 ? res : -EBADMSG;
	}
	return err;
}

/* The last message has the content of its sender's tensor. */
static int check(struct side *side)
{
	const uint64_t turn = side->had - 1;
	const struct quoit_shape end = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 2}};
	quoit_tensor t = side->tensor[turn % TENSORS];
	struct quoit_shape all;
	uint64_t bytes;

	if (!quoit_get_shape(side->client.ring, t, &all))
		return -EBADF;
	bytes = (uint64_t)all.dim[2] * all.dim[3] * sizeof(float);
	return bench_expect(side->client.ring,
			    quoit_view(side->client.ring, t, &end, bytes - 2 * sizeof(float)),
			    1 + turn % TENSORS);
}

int rows_receive(const struct bench *b, const struct bench_series *s, uint32_t *go, double *ret_ns)
{
	const uint64_t jobs = s->count / BENCH_ROWS;
	struct side side;
	double start;
	int err = open_side(b, s, -1000, &side);

	if (err)
		return err;
	err = receive_jobs(&side, s->count / 10 / BENCH_ROWS);
	start = bench_now();
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	if (!err)
		err = receive_jobs(&side, jobs);
	*ret_ns = (bench_now() - start) * 1e9 / (double)(jobs * BENCH_ROWS);
	if (!err)
		err = check(&side);
	quoit_close(side.client.session,
		    QUOIT_CLOSE_CANCEL); /* what it has asked for never comes */
	return err;
}
