/* SPDX-License-Identifier: MIT */
/*
 * walk.h - applies a kernel for contiguous arrays to tensors with any strides.
 *
 * A walk merges the dims that all operands allow to merge, and goes through the elements in order,
 * piece by piece.  If an operand's piece is contiguous, the kernel gets it where it is; any other
 * passes through a small buffer.  So kernels are plain loops, and dense tensors cost no copy.
 */
#ifndef QUOITD_OPS_WALK_H
#define QUOITD_OPS_WALK_H

#include "kernel.h"

#define walk_make    OP_NAME(walk_make)
#define walk_address OP_NAME(walk_address)
#define walk_run     OP_NAME(walk_run)
#define walk_seek    OP_NAME(walk_seek)
#define walk_piece   OP_NAME(walk_piece)
#define walk_step    OP_NAME(walk_step)
#define walk_load    OP_NAME(walk_load)
#define walk_store   OP_NAME(walk_store)
#define walk_scalar  OP_NAME(walk_scalar)
#define walk_strided OP_NAME(walk_strided)

/* Elements of a piece that passes through a buffer. */
#define WALK_PIECE 512

enum walk_order {
	WALK_ROW_MAJOR, /* elements in the row-major order of the first operand's dims */
	WALK_ANY_ORDER, /* in the order in which the first operand lies in memory */
};

struct walk_operand {
	char *data;
	int64_t stride[QUOIT_MAX_DIMS]; /* bytes */
	uint32_t size;                  /* of an element, bytes */
	enum { WALK_DIRECT, WALK_CONSTANT, WALK_STAGED } kind;
};

struct walk {
	struct walk_operand operand[QUOIT_MAX_TENSORS_PER_JOB];
	uint64_t dim[QUOIT_MAX_DIMS];
	uint64_t count;    /* elements */
	uint32_t operands; /* outputs come first */
	uint32_t outputs;
	uint32_t dims;   /* after merging, at least 1 */
	bool staged;     /* some operand needs the buffer */
	bool short_rows; /* rows are so short that a piece takes several */
};

/* Room for a piece of one operand. */
struct walk_buffer {
	_Alignas(64) char bytes[WALK_PIECE * sizeof(uint64_t)];
};

/* Works on a piece: ptr[i] is operand i, `index` the first element's place in the order. */
typedef void walk_fn(void *const ptr[], uint64_t index, size_t n, void *context);

/* All tensors have the dims of t[0]; a stride of 0 repeats.  The first `outputs` are written. */
void walk_make(struct walk *ret_walk, const struct op_tensor *const t[], uint32_t operands,
	       uint32_t outputs, enum walk_order order);

/* Run fn over elements begin..end - 1 of the walk's order. */
void walk_run(const struct walk *walk, uint64_t begin, uint64_t end, walk_fn *fn, void *context);

/* The steps of walk_run, for callers that need them one by one. */
void walk_seek(const struct walk *walk, uint64_t index, uint64_t ret_pos[QUOIT_MAX_DIMS]);
size_t walk_piece(const struct walk *walk, const uint64_t pos[QUOIT_MAX_DIMS], uint64_t left);
void walk_step(const struct walk *walk, uint64_t pos[QUOIT_MAX_DIMS], size_t n);

/* The address of the element at pos of operand `which`. */
char *walk_address(const struct walk *walk, uint32_t which, const uint64_t pos[QUOIT_MAX_DIMS]);

/*
 * The n elements from pos on of operand `which`, `offset` bytes further: in place, or copied into
 * the buffer.  Do not write through the result.
 */
void *walk_load(const struct walk *walk, uint32_t which, const uint64_t pos[QUOIT_MAX_DIMS],
		int64_t offset, size_t n, struct walk_buffer *buffer);

/* Write n elements from `from` to operand `which`, from pos on. */
void walk_store(const struct walk *walk, uint32_t which, const uint64_t pos[QUOIT_MAX_DIMS],
		size_t n, const void *from);

/* A tensor of t's dims that repeats a scalar of t's type, which is kept in *storage. */
struct op_tensor walk_scalar(const struct op_tensor *t, union op_scalar scalar, uint64_t *storage);

/* Copy n elements of `size` bytes (2, 4 or 8); strides in bytes. */
void walk_strided(char *to, int64_t to_stride, const char *from, int64_t from_stride, size_t n,
		  uint32_t size);

#endif
