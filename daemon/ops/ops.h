/* SPDX-License-Identifier: MIT */
/*
 * ops.h - the arithmetic of the operations in ops.def, on the CPU.
 *
 * Nothing here knows sessions, rings or memory management: an operation gets
 * tensors whose shapes, types, bounds and overlaps validate.c has checked, and
 * works on plain memory.  The contents may change while it works (a client may
 * write into its own arena), so no address may depend on an element without a
 * check at the moment of use.
 *
 * The files of this folder are compiled once per instruction set (OP_ISA), and
 * ops_init() picks the set by the CPU.  Results are the same bits for any number
 * of tiles and cores, float32 GEMM as far as the BLAS keeps to it (gemm.c); except for
 * GEMM, and for which NaN it is, they are the same bits for any instruction set.
 */
#ifndef QUOITD_OPS_H
#define QUOITD_OPS_H

#include <stdatomic.h>
#include <stdint.h>

#include <quoit/abi.h>

/* A view on memory: four dims, strides in elements (0 in a dim that broadcasts). */
struct op_tensor {
	void *data;
	uint32_t dim[QUOIT_MAX_DIMS];
	int64_t stride[QUOIT_MAX_DIMS];
	uint8_t dtype; /* enum quoit_dtype */
};

union op_scalar {
	double f;
	int64_t i;
	uint64_t u;
};

/* Scratch of one job, for partial results: enough for OP_PARTS of 16 bytes. */
#define OP_PARTS 256

struct op_part {
	union op_scalar value;
	uint64_t index;
};

/*
 * One job's arguments.  t[] is indexed like sqe.tensor[]; t[i].data is NULL for
 * "none".  Inputs are already broadcast to the shape that the operation's rule
 * asks for (strides 0), so element-wise code sees equal dims everywhere.
 */
struct op_args {
	uint8_t opcode;
	uint8_t arg; /* sqe.arg */
	struct op_tensor t[QUOIT_MAX_TENSORS_PER_JOB];
	union op_scalar scalar[2];
	struct op_part part[OP_PARTS];

	/* The first failure of any tile: -errno and two values for the error record. */
	_Atomic int32_t error;
	uint64_t error_value[2];
};

/* The most elements and tensors that op_impl.run_short is for. */
#define OP_SHORT         64
#define OP_SHORT_TENSORS 3

struct op_impl {
	/*
	 * In how many tiles `cores` cores should do it, 1 or more; NULL: one.  The
	 * results must not depend on the answer.
	 */
	uint32_t (*tiles)(const struct op_args *args, uint32_t cores);
	/* Tile `tile` of `tiles`; tiles may run at once and in any order.  Required. */
	void (*run)(struct op_args *args, uint32_t tile, uint32_t tiles);
	/* After the last tile, on one thread: put partial results together; NULL: nothing. */
	void (*finish)(struct op_args *args);
	/*
	 * As run(args, 0, 1), for an output and inputs that are vectors of n <= OP_SHORT
	 * elements of one type without gaps, in places of their own.  data[i] is where
	 * t[i].data would be; of args only opcode, arg and scalar are looked at.  Cannot fail.
	 * NULL: there is no shorter way.
	 */
	void (*run_short)(struct op_args *args, void *const data[OP_SHORT_TENSORS], uint8_t dtype,
			  uint32_t n);
};

/* What ops_init() found and chose, for the log and for `quoit topo`. */
struct ops_choice {
	const char *isa;    /* "avx512", "avx2" or "base" */
	char blas[96];      /* "OpenBLAS 0.3.21 SkylakeX" or what else computes GEMM */
	double gemm_gflops; /* measured at start, one thread, float32 */
	const char *bf16;   /* what multiplies bfloat16: "avx512_bf16" or "float32" */
	char why[160];      /* what was tried and why this was taken */
};

/*
 * Pick an instruction set and a BLAS, by the value of --blas: with "auto" it never fails, since
 * without a BLAS the built-in GEMM is used.  To be called once, before any thread exists.
 * -ENOENT: the BLAS that is named cannot be had.
 */
int ops_init(const char *blas, struct ops_choice *ret_choice);

/*
 * The same in a process that was started by one which has called ops_init(): what it has chosen,
 * so that both compute the same.
 */
void ops_adopt(void);

/*
 * The implementation of an operation, NULL: none on the CPU (-ENOTSUP).  It picks the
 * instruction set if nobody has: the first call comes before any thread exists.
 */
const struct op_impl *ops_find(uint8_t opcode);

/* Record a failure from a tile; the first one stays.  Thread-safe. */
void op_fail(struct op_args *args, int32_t error, uint64_t value0, uint64_t value1);

/* Bytes of one element, 0 for a type that the CPU does not have. */
static inline uint32_t op_dtype_size(uint8_t dtype)
{
	switch (dtype) {
	case QUOIT_BF16:
	case QUOIT_F16:
		return 2;
	case QUOIT_F32:
	case QUOIT_I32:
		return 4;
	case QUOIT_F64:
	case QUOIT_I64:
		return 8;
	default:
		return 0;
	}
}

#endif
