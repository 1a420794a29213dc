/* SPDX-License-Identifier: MIT */
/*
 * ops.h - the arithmetic of the operations in ops.def, on the CPU.
 *
 * Nothing here knows sessions, rings or memory management.  An operation gets tensors whose shapes,
 * types, bounds and overlaps validate.c has checked, and works on plain memory.  A client may write
 * into its arena meanwhile, so an address may depend on an element only if that is checked at the
 * moment of use.
 *
 * The files of this folder are compiled once per instruction set (OP_ISA), and ops_init() picks the
 * set by the CPU.  Results have the same bits for any number of tiles and cores; for float32 GEMM
 * this holds as far as the BLAS keeps to it (gemm.c).  Except for GEMM, and for which NaN it is,
 * they have the same bits for any instruction set.
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

/* Room for the partial results of one job. */
#define OP_PARTS 256

struct op_part {
	union op_scalar value;
	uint64_t index;
};

/*
 * One job's arguments.  t[] is indexed like sqe.tensor[]; t[i].data is NULL for "none".  Inputs are
 * already broadcast to the shape that the operation's rule asks for (strides 0), so element-wise
 * code sees equal dims everywhere.
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

/* The most elements and tensors that op_impl.run_short takes. */
#define OP_SHORT         64
#define OP_SHORT_TENSORS 3

struct op_impl {
	/*
	 * Into how many tiles `cores` cores should cut it, 1 or more; NULL: one.  The results must
	 * not depend on the answer.
	 */
	uint32_t (*tiles)(const struct op_args *args, uint32_t cores);
	/* Run tile `tile` of `tiles`; tiles may run at once and in any order.  Required. */
	void (*run)(struct op_args *args, uint32_t tile, uint32_t tiles);
	/* Combine partial results after the last tile, on one thread; NULL: nothing to do. */
	void (*finish)(struct op_args *args);
	/*
	 * As run(args, 0, 1), for an output and inputs that are vectors of n <= OP_SHORT elements
	 * of one type, without gaps, in different places.  data[i] stands for t[i].data; of args it
	 * only reads opcode, arg and scalar.  Cannot fail.  NULL: there is no shorter way.
	 */
	void (*run_short)(struct op_args *args, void *const data[OP_SHORT_TENSORS], uint8_t dtype,
			  uint32_t n);
};

/* What ops_init() found and chose, for the log and for `quoit topo`. */
struct ops_choice {
	const char *isa;    /* "avx512", "avx2" or "base" */
	char blas[96];      /* "OpenBLAS 0.3.21 SkylakeX", or other code for GEMM */
	double gemm_gflops; /* measured at start, one thread, float32 */
	const char *bf16;   /* code for bfloat16 products: "avx512_bf16" or "float32" */
	char why[160];      /* what was tried, and why this was taken */
};

/*
 * Pick an instruction set, and a BLAS by the value of --blas.  With "auto" it never fails: without
 * a BLAS the built-in GEMM is used.  Call it once, while no other thread loads libraries or runs
 * operations.  -ENOENT: the named BLAS cannot be loaded.
 */
int ops_init(const char *blas, struct ops_choice *ret_choice);

/*
 * As ops_init(), in a child process of one that has called ops_init(): make the same choice, so
 * that both compute the same.
 */
void ops_adopt(void);

/*
 * The implementation of an operation; NULL: none on the CPU (-ENOTSUP).  The first call picks the
 * instruction set if that is not done yet; other threads may call it only after that.
 */
const struct op_impl *ops_find(uint8_t opcode);

/* Record a failure from a tile; the first one stays.  Thread-safe. */
void op_fail(struct op_args *args, int32_t error, uint64_t value0, uint64_t value1);

/* Bytes of one element; 0 for a type that the CPU does not have. */
static inline uint32_t op_dtype_size(uint8_t dtype)
{
	static const uint8_t size[QUOIT_CREATE_DTYPE_MASK + 1] = {
		[QUOIT_F32] = 4, [QUOIT_F64] = 8,  [QUOIT_I32] = 4,
		[QUOIT_I64] = 8, [QUOIT_BF16] = 2, [QUOIT_F16] = 2,
	};

	return dtype < sizeof size ? size[dtype] : 0;
}

#endif
