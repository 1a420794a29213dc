/* SPDX-License-Identifier: MIT */
/* moved.c - messages between processes that are not copied, but their numbers are */
#include "moved.h"

#include <errno.h>
#include <unistd.h>

#define SLOTS        8
#define AHEAD        4 /* numbers that were asked for and have not come */
#define WAIT_MS      20000
#define SHARED_BYTES (UINT64_C(1) << 20)

struct side {
	struct quoit_session *session;
	struct quoit_ring *ring;
	int free, ready; /* queues */
	quoit_tensor slot[SLOTS], number[SLOTS];
	quoit_tensor next[AHEAD]; /* numbers that come; the program reads them where they are */
	quoit_job come[AHEAD];
	int in;         /* the queue that it takes from */
	uint64_t taken; /* numbers */
};

/* ---- one process ---- */

static int make_slots(struct side *side, int tensor, uint32_t n)
{
	const struct quoit_shape part = {.dtype = QUOIT_F32, .dim = {1, 1, 1, n}};
	struct quoit_ring *q = side->ring;
	quoit_tensor all = quoit_attach_tensor(q, tensor);
	int err = 0;

	for (int i = 0; i < SLOTS && !err; i++) {
		side->slot[i] = quoit_view(q, all, &part, (uint64_t)i * n * sizeof(float));
		side->number[i] = quoit_create_vector(q, QUOIT_I64, 1);
		err = quoit_push(q, quoit_fill_int(side->number[i], i));
	}
	return err;
}

static int ask(struct side *side, uint64_t turn)
{
	quoit_tensor t = side->next[turn % AHEAD];
	int err = quoit_push(side->ring, quoit_receive(side->in, t));

	return err ? err
		   : quoit_start_acquire(side->ring, t, QUOIT_ACCESS_READ,
					 &side->come[turn % AHEAD]);
}

/* What it has asked for never comes. */
static void close_side(struct side *side)
{
	quoit_close(side->session, QUOIT_CLOSE_CANCEL);
}

static int open_side(const struct bench *b, const struct bench_series *s, bool sends,
		     struct side *ret)
{
	const uint32_t n = s->depth / sizeof(float);
	const struct quoit_shape all = {.dtype = QUOIT_F32, .dim = {1, 1, SLOTS, n}};
	const struct quoit_shape one = {.dtype = QUOIT_I64, .dim = {1, 1, 1, 1}};
	const struct quoit_open_params p = {.socket = b->daemon[s->cores].socket,
					    .shared_bytes = SHARED_BYTES};
	int err = quoit_open(&p, &ret->session), tensor;

	if (err)
		return err;
	err = quoit_open_ring(ret->session, NULL, &ret->ring);
	if (err) {
		close_side(ret);
		return err;
	}
	tensor = quoit_open_tensor(ret->session, "quoit-bench-slots", &all, NULL);
	ret->free = quoit_open_queue(ret->session, "quoit-bench-free", NULL);
	ret->ready = quoit_open_queue(ret->session, "quoit-bench-ready", NULL);
	ret->in = sends ? ret->free : ret->ready;
	ret->taken = 0;
	err = tensor < 0       ? tensor
	      : ret->free < 0  ? ret->free
	      : ret->ready < 0 ? ret->ready
			       : make_slots(ret, tensor, n);
	for (int i = 0; i < SLOTS && sends && !err; i++) /* they are free at first */
		err = quoit_push(ret->ring, quoit_send(ret->free, ret->number[i]));
	for (unsigned i = 0; i < AHEAD && !err; i++) {
		ret->next[i] = quoit_create(ret->ring, &one, QUOIT_CREATE_SHARED);
		err = ret->next[i] ? ask(ret, i) : -ENOSPC;
	}
	if (err)
		close_side(ret);
	return err;
}

/* Take the next number, and ask for one more. */
static int take(struct side *side, int *ret)
{
	struct quoit_ring *q = side->ring;
	const uint64_t turn = side->taken++;
	quoit_tensor t = side->next[turn % AHEAD];
	void *at;
	int err = quoit_wait(q, side->come[turn % AHEAD], WAIT_MS);

	if (!err)
		err = quoit_get_pointer(q, t, &at);
	if (err)
		return err;
	*ret = (int)*(int64_t *)at;
	err = quoit_release_tensor(q, t);
	return err ? err : ask(side, turn);
}

static int hand_on(struct side *side, int to, uint64_t count)
{
	struct quoit_ring *q = side->ring;
	int slot = 0, err = 0;

	for (uint64_t i = 0; i < count && !err; i++) {
		err = take(side, &slot);
		if (!err && (slot < 0 || slot >= SLOTS))
			err = -EBADMSG;
		if (!err)
			err = quoit_push(
				q, quoit_send_behind(to, side->number[slot], side->slot[slot]));
		if (!err)
			err = quoit_flush(q);
	}
	return err;
}

int moved_send(const struct bench *b, const struct bench_series *s, const uint32_t *go)
{
	struct side side;
	int err = open_side(b, s, true, &side);

	if (err)
		return err;
	err = hand_on(&side, side.ready, s->count / 10);
	while (!err && !__atomic_load_n(go, __ATOMIC_ACQUIRE))
		usleep(10);
	if (!err)
		err = hand_on(&side, side.ready, s->count);
	while (!err && __atomic_load_n(go, __ATOMIC_ACQUIRE) == 1) /* until all were received */
		usleep(1000);
	close_side(&side);
	return err;
}

int moved_receive(const struct bench *b, const struct bench_series *s, uint32_t *go, double *ret_ns)
{
	struct side side;
	double start;
	int err = open_side(b, s, false, &side);

	if (err)
		return err;
	err = hand_on(&side, side.free, s->count / 10);
	start = bench_now();
	__atomic_store_n(go, 1, __ATOMIC_RELEASE);
	if (!err)
		err = hand_on(&side, side.free, s->count);
	*ret_ns = (bench_now() - start) * 1e9 / (double)s->count;
	__atomic_store_n(go, 2, __ATOMIC_RELEASE);
	close_side(&side);
	return err;
}
