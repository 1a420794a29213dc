/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - quoit_write and quoit_read: copy between any memory and a tensor.
 *
 * The tensor is cut into pieces, each a view that is dense in the order of the caller's bytes.  A
 * piece goes through memory of the arena: a memcpy by us and a COPY job by quoitd, several pieces
 * deep, so that the two overlap.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "clock.h"
#include "library.h"
#include "refusal.h"
#include "region.h"
#include "wait.h"

#define PIECE_BYTES     ((uint64_t)4 << 20)
#define GOOD_PIECE      ((uint64_t)512 << 10) /* the arena grows for pieces of this size */
/* a piece takes at most this share of the arena, so that eight rings can have all their pieces */
#define PIECES_IN_ARENA 32u

/* ---- cutting a tensor into pieces ---- */

/*
 * Dims below `axis` (the later ones) are whole in every piece.  Dims above it are walked one by
 * one.  A piece takes `step` elements of `axis` itself.
 */
struct cut {
	const struct quoit_shape *shape;
	int64_t stride[QUOIT_MAX_DIMS]; /* in bytes */
	uint64_t inner;                 /* bytes of the dims below axis */
	uint32_t at[QUOIT_MAX_DIMS];    /* first element of the next piece */
	uint32_t step;
	int axis;
	uint64_t done, size; /* bytes */
};

struct piece {
	struct quoit_shape shape; /* the view's */
	uint64_t offset;          /* the view's, in bytes from the tensor's first element */
	uint64_t from;            /* the piece's offset in the caller's bytes */
	uint64_t bytes;
};

/* Larger pieces are cheaper; if the arena cannot grow for them, pieces stay smaller. */
static uint64_t piece_limit(struct quoit_session *s, uint64_t size)
{
	uint64_t bytes = libquoit_arena_bytes(s);
	uint64_t want = PIECES_IN_ARENA * (size < GOOD_PIECE ? size : GOOD_PIECE);

	want = want < s->info.arena_bytes_most ? want : s->info.arena_bytes_most;
	while (want > bytes && libquoit_arena_grow(s, bytes, want - bytes))
		bytes = libquoit_arena_bytes(s);
	bytes = libquoit_arena_bytes(s);
	return bytes / PIECES_IN_ARENA / ARENA_GRANULE * ARENA_GRANULE;
}

static int cut_init(struct cut *c, struct quoit_ring *q, quoit_tensor t, uint64_t size)
{
	struct quoit_session *s = q->session;
	const struct tensor_record *record;
	uint64_t limit, element, whole;
	int err = libquoit_wait_begin(q);

	if (err)
		return err;
	limit = piece_limit(s, size);
	if (q->broken) /* the broken ring may be the reason why t was never made */
		return libquoit_refuse_broken(q);
	record = libquoit_tensor_find(s, t);
	if (!record)
		return libquoit_refuse_tensor(q, -EINVAL, t);
	if (limit == 0)
		return libquoit_refuse(q, -ENOMEM,
				       "the session's arena of %" PRIu64
				       " bytes is too small for copies, which use %u pieces of it "
				       "(quoit_open_params.arena_bytes)",
				       libquoit_arena_bytes(s), PIECES_IN_ARENA);
	if (limit > PIECE_BYTES)
		limit = PIECE_BYTES;
	element = libquoit_element_bytes(record->shape.dtype);
	*c = (struct cut){.shape = &record->shape, .inner = element, .size = size, .axis = -1};
	whole = element;
	for (int i = QUOIT_MAX_DIMS - 1; i >= 0; i--) {
		uint64_t dim = record->shape.dim[i];

		c->stride[i] =
			record->dense ? (int64_t)whole : record->shape.stride[i] * (int64_t)element;
		if (__builtin_mul_overflow(whole, dim, &whole))
			whole = UINT64_MAX;
		if (c->axis < 0 && whole > limit)
			c->axis = i;
		else if (c->axis < 0)
			c->inner = whole;
	}
	if (whole != size)
		return libquoit_refuse(q, -EINVAL,
				       "%zu bytes were given, but the tensor has %" PRIu64, size,
				       whole);
	c->step = c->axis < 0 ? 0 : (uint32_t)(limit / c->inner);
	return 0;
}

/* The next piece; false: there is none. */
static bool cut_next(struct cut *c, struct piece *ret)
{
	uint32_t left;

	if (c->done == c->size)
		return false;
	*ret = (struct piece){.shape = *c->shape, .from = c->done, .bytes = c->size};
	if (c->axis >= 0) {
		left = c->shape->dim[c->axis] - c->at[c->axis];
		for (int i = 0; i <= c->axis; i++) {
			ret->offset += (uint64_t)(c->at[i] * c->stride[i]);
			ret->shape.dim[i] = 1;
		}
		ret->shape.dim[c->axis] = left < c->step ? left : c->step;
		ret->bytes = ret->shape.dim[c->axis] * c->inner;
		c->at[c->axis] += ret->shape.dim[c->axis];
		for (int i = c->axis; i > 0 && c->at[i] == c->shape->dim[i]; i--) {
			c->at[i] = 0;
			c->at[i - 1]++;
		}
		for (int i = 0; i < QUOIT_MAX_DIMS; i++)
			ret->shape.stride[i] =
				ret->shape.dim[i] == 1
					? 0
					: (int32_t)(c->stride[i] / (int64_t)libquoit_element_bytes(
									   c->shape->dtype));
	}
	c->done += ret->bytes;
	return true;
}

/* ---- one piece ---- */

enum direction { TO_TENSOR, FROM_TENSOR };

/* Submit the copy between a piece of t and the arena; index: as libquoit_job_start's piece. */
static int copy_piece(struct quoit_ring *q, quoit_tensor t, const struct cut *c,
		      const struct piece *p, void *memory, enum direction direction, uint8_t index,
		      quoit_job *ret)
{
	struct quoit_shape dense = p->shape;
	quoit_tensor staged, part;
	int err;

	memset(dense.stride, 0, sizeof dense.stride);
	staged = quoit_create_in(q, &dense, memory);
	part = c->axis < 0 ? t : quoit_view(q, t, &p->shape, p->offset);
	/* If the view could not be made, its refusal has the reason. */
	err = q->refusal.error ? q->refusal.error : -ENOMEM;
	if (staged && part)
		err = libquoit_job_start(q,
					 direction == TO_TENSOR ? quoit_copy(part, staged)
								: quoit_copy(staged, part),
					 index, ret);
	if (staged)
		(void)quoit_free(q, staged);
	if (part && part != t)
		(void)quoit_free(q, part);
	return err;
}

static int refuse_piece(struct quoit_ring *q, uint64_t bytes)
{
	return libquoit_refuse(q, -ENOMEM,
			       "a copy needs %" PRIu64
			       " bytes in one piece, and the session's arena of %" PRIu64
			       " has none so large left",
			       bytes, libquoit_arena_bytes(q->session));
}

/* ---- writing ---- */

static uint8_t free_index(const struct quoit_ring *q)
{
	for (uint8_t i = 0; i < STAGING_PIECES; i++)
		if (!q->staging[i])
			return i + 1;
	return 0;
}

static bool none_in_flight(const struct quoit_ring *q)
{
	for (unsigned i = 0; i < STAGING_PIECES; i++)
		if (q->staging[i])
			return false;
	return true;
}

/*
 * Memory for one more piece, registered in staging[*ret_index - 1]; reaping the piece's job frees
 * it.  Waits for earlier pieces of this ring if there is no memory; -ENOMEM: there are no earlier
 * ones.
 */
static int take_staging(struct quoit_ring *q, uint64_t bytes, const char *here, uint8_t *ret_index)
{
	libquoit_job_reap(q);
	for (;;) {
		uint8_t i = free_index(q);
		int err;

		if (i && (q->staging[i - 1] = quoit_alloc(q->session, bytes))) {
			*ret_index = i;
			return 0;
		}
		if (none_in_flight(q))
			return refuse_piece(q, bytes);
		err = libquoit_wait_progress(q, here);
		if (err)
			return err;
	}
}

static int write_piece(struct quoit_ring *q, quoit_tensor t, const struct cut *c,
		       const struct piece *p, const uint8_t *from, const char *here)
{
	quoit_job job;
	uint8_t index = 0;
	int err = take_staging(q, p->bytes, here, &index);

	if (err)
		return err;
	memcpy(q->staging[index - 1], from + p->from, p->bytes);
	err = copy_piece(q, t, c, p, q->staging[index - 1], TO_TENSOR, index, &job);
	if (err) {
		quoit_dealloc(q->session, q->staging[index - 1]);
		q->staging[index - 1] = NULL;
		return err;
	}
	return c->axis < 0 ? 0 : quoit_flush(q); /* so that it runs while the next one is copied */
}

int quoit_write_at(struct quoit_ring *q, quoit_tensor t, const void *from, size_t size,
		   const char *here)
{
	struct piece p;
	struct cut c;
	int err;

	err = cut_init(&c, q, t, size);
	while (!err && cut_next(&c, &p))
		err = write_piece(q, t, &c, &p, from, here);
	return err;
}

/* ---- reading ---- */

/* A piece on its way to the caller. */
struct arrival {
	quoit_job job;
	void *memory;
	uint64_t to;
	uint64_t bytes;
};

/* A queue: pieces arrive in the order of the caller's bytes. */
struct arrivals {
	struct arrival piece[STAGING_PIECES];
	unsigned head, count;
};

/* Wait for the oldest piece, and copy it to the caller. */
static int receive(struct quoit_ring *q, struct arrivals *a, uint8_t *to, const char *here)
{
	struct arrival *p = &a->piece[a->head++ % STAGING_PIECES];
	int err = libquoit_wait_job(q, p->job, NEVER, here);

	a->count--;
	if (!err)
		memcpy(to + p->to, p->memory, p->bytes);
	quoit_dealloc(q->session, p->memory);
	return err;
}

/* Memory for one more piece; waits for the ring's earlier reads and writes if it must. */
static int take_memory(struct quoit_ring *q, struct arrivals *a, uint8_t *to, uint64_t bytes,
		       const char *here, void **ret)
{
	int err = 0;

	while (!err) {
		*ret = a->count < STAGING_PIECES ? quoit_alloc(q->session, bytes) : NULL;
		if (*ret)
			return 0;
		if (a->count)
			err = receive(q, a, to, here);
		else if (none_in_flight(q))
			err = refuse_piece(q, bytes);
		else
			err = libquoit_wait_progress(q, here);
	}
	return err;
}

static int request(struct quoit_ring *q, quoit_tensor t, const struct cut *c, const struct piece *p,
		   struct arrivals *a, uint8_t *to, const char *here)
{
	struct arrival arrival = {.to = p->from, .bytes = p->bytes};
	int err = take_memory(q, a, to, p->bytes, here, &arrival.memory);

	if (err)
		return err;
	err = copy_piece(q, t, c, p, arrival.memory, FROM_TENSOR, 0, &arrival.job);
	if (err) {
		quoit_dealloc(q->session, arrival.memory);
		return err;
	}
	a->piece[(a->head + a->count++) % STAGING_PIECES] = arrival;
	return quoit_flush(q);
}

int quoit_read_at(struct quoit_ring *q, quoit_tensor t, void *to, size_t size, const char *here)
{
	struct arrivals a = {.head = 0};
	struct piece p;
	struct cut c;
	int err, first;

	first = cut_init(&c, q, t, size);
	while (!first && cut_next(&c, &p))
		first = request(q, t, &c, &p, &a, to, here);
	while (a.count) {
		err = receive(q, &a, to, here);
		if (!first)
			first = err;
	}
	return first;
}
