/* SPDX-License-Identifier: MIT */
/*
 * named_tensor.h - a tensor with a name: memory that several sessions use.
 *
 * Its maker brings the memory, as it brings its arena (store/shared.h), and quoitd maps it once.  Each
 * session that has it open uses it as a buffer of its own, and orders its own jobs only.  The memory
 * is sealed: whoever else maps it can only read, and nobody can punch it.
 */
#ifndef QUOITD_NAMED_TENSOR_H
#define QUOITD_NAMED_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

#include "session.h"
#include "store/shared.h"

/* But for the last line, nothing of it changes while it has a name. */
struct named_tensor {
	struct shared memory;
	uint64_t bytes; /* of its elements, which are dense; the memory is whole pages */
	uint32_t dim[QUOIT_MAX_DIMS];
	uint8_t dtype;    /* enum quoit_dtype */
	bool others_read; /* users other than its own only read it */
	/* A page of it could not be read (named_tensor_lose); any thread may look. */
	bool lost, told;
};

/* Its elements' bytes; 0: a dim is 0, the type is unknown, or it is too large for any session. */
uint64_t named_tensor_bytes(const uint32_t dim[QUOIT_MAX_DIMS], uint32_t dtype);

/* The bytes of its memory, which is whole pages. */
uint64_t named_tensor_pages(uint64_t bytes);

/* What one of so many bytes costs quoitd's user, with its memory and page tables. */
uint64_t named_tensor_cost(uint64_t bytes);

/* Takes the memory over; NULL: there is none for this, and the caller still owns it. */
struct named_tensor *named_tensor_new(struct shared *memory, const uint32_t dim[QUOIT_MAX_DIMS],
				      uint8_t dtype);

/* How many lost ones there are; on a cache line of its own, which is hardly ever written. */
extern struct named_losses {
	_Alignas(64) uint32_t count;
} named_losses;

/*
 * Its memory is lost: jobs that use it fail from now on, and its name is free.  Async-signal-safe.
 */
void named_tensor_lose(struct named_tensor *t);

static inline bool named_tensor_is_lost(const struct named_tensor *t)
{
	return __atomic_load_n(&t->lost, __ATOMIC_ACQUIRE);
}

/* Let go of its memory.  t may be NULL. */
void named_tensor_free(struct named_tensor *t);

/* The session's part in the tensor of this number; NULL: it has none, or has closed it. */
struct caller *session_named(const struct session *s, uint32_t number);

/* A buffer for the tensor goes, and no job uses it any more. */
void session_named_left(struct session *s, const struct buffer *b);

#endif
