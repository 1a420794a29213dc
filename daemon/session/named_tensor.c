/* SPDX-License-Identifier: MIT */
/* named_tensor.c - what a tensor with a name is made of */
#include "named_tensor.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"
#include "ops/ops.h"
#include "store/region.h"
#include "store/sizeclass.h"

/* More is not unmapped by the thread that asks for it. */
#define UNMAP_BYTES (UINT64_C(1) << 20)

uint64_t named_tensor_bytes(const uint32_t dim[QUOIT_MAX_DIMS], uint32_t dtype)
{
	uint64_t bytes = dtype < QUOIT_DTYPE_NR ? op_dtype_size((uint8_t)dtype) : 0;

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		if (__builtin_mul_overflow(bytes, dim[i], &bytes))
			return 0;
	return bytes < REGION_LEASE_END ? bytes : 0;
}

uint64_t named_tensor_cost(uint64_t bytes)
{
	const uint64_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

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

static void *drop(void *of)
{
	struct named_tensor *t = of;

	shared_drop(&t->memory);
	free(t);
	return NULL;
}

/* To free a GiB takes a tenth of a second, for which others would wait: a thread of its own does it. */
void named_tensor_free(struct named_tensor *t)
{
	pthread_t thread;

	if (!t)
		return;
	if (t->memory.bytes > UNMAP_BYTES && !pthread_create(&thread, NULL, drop, t))
		pthread_detach(thread);
	else
		drop(t);
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
