/* SPDX-License-Identifier: MIT */
/* oracle.c - model quoitd, one job at a time */
#include "oracle.h"

#include <errno.h>
#include <stdlib.h>

#include "store/sizeclass.h"

/* ---- tensors and buffers ---- */

static struct oracle_tensor *tensor_of(struct oracle *o, uint32_t handle)
{
	return &o->tensor[handle % ORACLE_TENSORS];
}

uint32_t oracle_new_handle(const struct oracle *o, uint32_t index)
{
	return (o->generation[index] + 1) << QUOIT_HANDLE_INDEX_BITS | (o->first + index);
}

void oracle_extent(const struct oracle_tensor *t, uint64_t *ret_lo, uint64_t *ret_hi)
{
	int64_t last = t->first + (t->n ? (int64_t)t->n - 1 : 0) * t->stride;

	*ret_lo = (uint64_t)(last < t->first ? last : t->first);
	*ret_hi = *ret_lo;
	if (t->n)
		*ret_hi = (uint64_t)(last < t->first ? t->first : last) + 1;
}

bool oracle_covers(const struct oracle_tensor *t)
{
	return t->n <= 1 || t->stride == 1 || t->stride == -1;
}

int32_t *oracle_at(const struct oracle_tensor *t, uint32_t i)
{
	return &t->buffer->data[t->first + (int64_t)i * t->stride];
}

static uint64_t charge_of(const struct oracle_buffer *b)
{
	if (!b->bytes || b->arena)
		return 0;
	if (b->place == ORACLE_PINNED || b->place == ORACLE_SHARED)
		return (b->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	return sizeclass_bytes(sizeclass_of(b->bytes));
}

static void bind_tensor(struct oracle *o, uint32_t handle, struct oracle_tensor t)
{
	o->generation[handle % ORACLE_TENSORS]++;
	t.handle = handle;
	t.buffer->tensors++;
	*tensor_of(o, handle) = t;
}

static void create(struct oracle *o, const struct quoit_sqe *sqe)
{
	struct oracle_buffer *b = calloc(1, sizeof *b);

	b->bytes = sqe->dim[3] * UINT64_C(4);
	b->arena = sqe->arg & QUOIT_CREATE_ARENA;
	b->device = sqe->device;
	b->place = sqe->arg & QUOIT_CREATE_PINNED   ? ORACLE_PINNED
		   : sqe->arg & QUOIT_CREATE_SHARED ? ORACLE_SHARED
						    : sqe->device;
	b->data = calloc(sqe->dim[3] + UINT64_C(1), 4);
	bind_tensor(o, sqe->base[0],
		    (struct oracle_tensor){.buffer = b, .stride = 1, .n = sqe->dim[3]});
}

static void view(struct oracle *o, const struct quoit_sqe *sqe)
{
	const struct oracle_tensor *base = tensor_of(o, sqe->base[1]);

	bind_tensor(o, sqe->base[0],
		    (struct oracle_tensor){.buffer = base->buffer,
					   .first = base->first + (int64_t)(sqe->offset / 4),
					   .stride = sqe->stride[3],
					   .n = sqe->dim[3]});
}

static void free_tensor(struct oracle *o, uint32_t handle)
{
	struct oracle_tensor *t = tensor_of(o, handle);
	struct oracle_buffer *b = t->buffer;

	t->handle = 0;
	if (--b->tensors)
		return;
	if (b->reserved)
		o->memory[b->place].used -= charge_of(b);
	free(b->data);
	free(b);
}

void oracle_init(struct oracle *o, const uint64_t budget[ORACLE_PLACES], uint32_t first)
{
	*o = (struct oracle){.first = first};
	for (unsigned i = 0; i < ORACLE_PLACES; i++)
		o->memory[i].budget = budget[i];
}

void oracle_done(struct oracle *o)
{
	for (unsigned i = 0; i < ORACLE_TENSORS; i++)
		if (o->tensor[i].handle)
			free_tensor(o, o->tensor[i].handle);
}

/* ---- operations ---- */

/* Element i of an input of a job with n outputs; a single element is broadcast. */
static int32_t input(const struct oracle_tensor *t, uint32_t i)
{
	return *oracle_at(t, t->n == 1 ? 0 : i);
}

static int32_t combine(uint8_t opcode, int32_t x, int32_t y)
{
	switch (opcode) {
	case QUOIT_OP_ADD:
		return (int32_t)((uint32_t)x + (uint32_t)y);
	case QUOIT_OP_MUL:
		return (int32_t)((uint32_t)x * (uint32_t)y);
	default:
		return x > y ? x : y;
	}
}

static int gather(const struct oracle_tensor *out, const struct oracle_tensor *x,
		  const struct oracle_tensor *index)
{
	int err = 0;

	for (uint32_t i = 0; i < out->n; i++) {
		int32_t at = *oracle_at(index, i);

		if (at >= 0 && (uint32_t)at < x->n)
			*oracle_at(out, i) = *oracle_at(x, (uint32_t)at);
		else
			err = -ERANGE;
	}
	return err;
}

static void sum(const struct oracle_tensor *out, const struct oracle_tensor *x)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < x->n; i++)
		total += (uint32_t)*oracle_at(x, i);
	*oracle_at(out, 0) = (int32_t)total;
}

int32_t oracle_change(int32_t x)
{
	return (int32_t)((uint32_t)x * 3 + 1);
}

static int compute(struct oracle *o, const struct quoit_sqe *sqe)
{
	const struct oracle_tensor *t[3];

	for (unsigned i = 0; i < 3; i++)
		t[i] = tensor_of(o, sqe->tensor[i]);
	switch (sqe->opcode) {
	case QUOIT_OP_FILL:
		for (uint32_t i = 0; i < t[0]->n; i++)
			*oracle_at(t[0], i) = (int32_t)sqe->scalar[0];
		break;
	case QUOIT_OP_COPY:
		for (uint32_t i = 0; i < t[0]->n; i++)
			*oracle_at(t[0], i) = input(t[1], i);
		break;
	case QUOIT_OP_ADD:
	case QUOIT_OP_MUL:
	case QUOIT_OP_MAX:
		for (uint32_t i = 0; i < t[0]->n; i++)
			*oracle_at(t[0], i) =
				combine(sqe->opcode, input(t[1], i),
					sqe->tensor[2] ? input(t[2], i) : (int32_t)sqe->scalar[0]);
		break;
	case QUOIT_OP_GATHER:
		return gather(t[0], t[1], t[2]);
	case QUOIT_OP_SUM:
		sum(t[0], t[1]);
		break;
	case QUOIT_OP_ACQUIRE_WRITE:
		for (uint32_t i = 0; i < t[0]->n; i++)
			*oracle_at(t[0], i) = oracle_change(*oracle_at(t[0], i));
		break;
	}
	return 0;
}

/* ---- one job ---- */

static bool only_reads(const struct quoit_sqe *sqe)
{
	return sqe->opcode == QUOIT_OP_NOP || sqe->opcode == QUOIT_OP_ACQUIRE_READ ||
	       sqe->opcode == QUOIT_OP_ACQUIRE_WRITE;
}

/*
 * Every operation writes tensor 0 and reads the others; but for NOP, and for acquires: what the
 * program writes is never poison.
 */
static bool writes(const struct quoit_sqe *sqe, unsigned i)
{
	return !only_reads(sqe) && i == 0;
}

static bool fits(const struct oracle_memory *m, uint64_t bytes)
{
	return bytes <= m->budget - m->used;
}

static void charge(struct oracle_memory *m, uint64_t bytes)
{
	m->used += bytes;
	if (m->used > m->peak)
		m->peak = m->used;
}

/* Reserve bytes for the buffers that this job touches first; false: they do not fit. */
static bool reserve(struct oracle *o, const struct quoit_sqe *sqe)
{
	struct oracle_buffer *fresh[QUOIT_MAX_TENSORS_PER_JOB];
	uint64_t bytes[ORACLE_PLACES] = {0};
	unsigned n = 0;
	bool fit = true;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		struct oracle_buffer *b = tensor_of(o, sqe->tensor[i])->buffer;

		if (!sqe->tensor[i] || b->reserved)
			continue;
		if (b->device && sqe->opcode == QUOIT_OP_NOP) /* a NOP only waits */
			continue;
		b->reserved = true; /* so that a second tensor of this buffer does not count */
		bytes[b->place] += charge_of(b);
		fresh[n++] = b;
	}
	for (unsigned i = 0; i < ORACLE_PLACES; i++)
		fit &= fits(&o->memory[i], bytes[i]);
	while (!fit && n--)
		fresh[n]->reserved = false;
	for (unsigned i = 0; fit && i < ORACLE_PLACES; i++)
		charge(&o->memory[i], bytes[i]);
	return fit;
}

/* The poison that the job would read; NULL: none. */
static const struct oracle_buffer *poison(struct oracle *o, const struct quoit_sqe *sqe)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct oracle_tensor *t = tensor_of(o, sqe->tensor[i]);
		uint64_t lo, hi;

		if (!sqe->tensor[i] || writes(sqe, i))
			continue;
		oracle_extent(t, &lo, &hi);
		if (t->buffer->poisoned && lo < t->buffer->hi && t->buffer->lo < hi)
			return t->buffer;
	}
	return NULL;
}

static bool reads_uncertain(struct oracle *o, const struct quoit_sqe *sqe)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (sqe->tensor[i] && !writes(sqe, i) &&
		    tensor_of(o, sqe->tensor[i])->buffer->uncertain)
			return true;
	return false;
}

/* Record for later readers of the output how the job ended. */
static void mark_output(struct oracle *o, const struct quoit_sqe *sqe, const struct oracle_end *end)
{
	const struct oracle_tensor *t = tensor_of(o, sqe->tensor[0]);
	struct oracle_buffer *b = t->buffer;
	uint64_t lo, hi;
	bool is_anew; /* the job replaces all that others failed to write */

	oracle_extent(t, &lo, &hi);
	if (lo == hi)
		return;
	if (end->uncertain)
		b->uncertain = true;
	else if (end->res >= 0 && oracle_covers(t) && lo == 0 && hi == b->bytes / 4)
		b->uncertain = false;
	is_anew = !b->poisoned || (oracle_covers(t) && lo <= b->lo && hi >= b->hi);
	if (end->res >= 0) {
		b->poisoned = b->poisoned && !is_anew;
		return;
	}
	if (is_anew) {
		b->lo = lo;
		b->hi = hi;
		b->cause = end->cause;
		b->code = end->code;
	}
	b->poisoned = true;
	b->lo = lo < b->lo ? lo : b->lo;
	b->hi = hi > b->hi ? hi : b->hi;
}

static struct oracle_end run_job(struct oracle *o, const struct quoit_sqe *sqe)
{
	struct oracle_end end = {.cause = sqe->user_data};
	bool fits = reserve(o, sqe);
	const struct oracle_buffer *b = poison(o, sqe);

	if (b) { /* even if the error does not fit: readers must hear of the writer */
		end.res = -QUOIT_EPOISON;
		end.cause = b->cause;
		end.code = b->code;
		return end;
	}
	end.code = end.res = fits ? compute(o, sqe) : -ENOMEM;
	return end;
}

struct oracle_end oracle_run(struct oracle *o, const struct quoit_sqe *sqe, bool may_fail)
{
	struct oracle_end end = {0};

	switch (sqe->opcode) {
	case QUOIT_OP_CREATE:
		create(o, sqe);
		return end;
	case QUOIT_OP_VIEW:
		view(o, sqe);
		return end;
	case QUOIT_OP_FREE:
		free_tensor(o, sqe->base[0]);
		return end;
	case QUOIT_OP_RELEASE:
		return end;
	}
	end = run_job(o, sqe);
	end.uncertain = may_fail || reads_uncertain(o, sqe);
	if (!only_reads(sqe))
		mark_output(o, sqe, &end);
	return end;
}
