/* SPDX-License-Identifier: MIT */
/* named_tensor.c - what a tensor with a name is made of */
#include "named_tensor.h"

#include <stdlib.h>
#include <string.h>

#include "base/free_aside.h"
#include "objects.h"
#include "ops/ops.h"
#include "store/region.h"
#include "store/sizeclass.h"

uint64_t named_tensor_bytes(const uint32_t dim[QUOIT_MAX_DIMS], uint32_t dtype)
{
	uint64_t bytes = dtype < QUOIT_DTYPE_NR ? op_dtype_size((uint8_t)dtype) : 0;

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		if (__builtin_mul_overflow(bytes, dim[i], &bytes))
			return 0;
	return bytes < REGION_LEASE_END ? bytes : 0;
}

uint64_t named_tensor_pages(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

uint64_t named_tensor_cost(uint64_t bytes)
{
	const uint64_t whole = named_tensor_pages(bytes);

	return sizeof(struct named_tensor) + whole + page_table_bytes(whole);
}

struct named_tensor *named_tensor_new(struct shared *memory, const uint32_t dim[QUOIT_MAX_DIMS],
				      uint8_t dtype)
{
	struct named_tensor *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->bytes = named_tensor_bytes(dim, dtype);
	memcpy(t->dim, dim, sizeof t->dim);
	t->dtype = dtype;
	t->memory = *memory;
	*memory = (struct shared){.fd = -1};
	return t;
}

struct named_losses named_losses;

void named_tensor_lose(struct named_tensor *t)
{
	if (!__atomic_exchange_n(&t->lost, true, __ATOMIC_ACQ_REL))
		__atomic_add_fetch(&named_losses.count, 1, __ATOMIC_ACQ_REL);
}

static void drop(void *of)
{
	struct named_tensor *t = of;

	if (named_tensor_is_lost(t))
		__atomic_sub_fetch(&named_losses.count, 1, __ATOMIC_ACQ_REL);
	shared_drop(&t->memory);
	free(t);
}

void named_tensor_free(struct named_tensor *t)
{
	if (t)
		free_aside(t->memory.bytes, drop, t);
}

struct caller *session_named(const struct session *s, uint32_t number)
{
	struct caller *c = number < QUOIT_MAX_SERVICES ? s->services.caller[number] : NULL;

	return c && !c->closing && c->service->object && c->service->object->tensor ? c : NULL;
}

void session_named_left(struct session *s, const struct buffer *b)
{
	struct caller *c = s->services.caller[b->named];

	if (!c) /* the session has left */
		return;
	c->buffer = NIL;
	c->out--;
	s->services.unused |= c->closing;
}
