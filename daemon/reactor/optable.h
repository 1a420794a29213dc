/* SPDX-License-Identifier: MIT */
/*
 * optable.h - the rows of ops.def as a table by operation number.
 *
 * Operations of plug-in modules are added at start, before any reactor runs;
 * after that the table does not change.
 */
#ifndef QUOITD_OPTABLE_H
#define QUOITD_OPTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

#include "ops/ops.h"

enum op_shape {
	SHAPE_NONE,    /* any tensors, no relation between them */
	SHAPE_SAME,    /* inputs broadcast to the output; one type */
	SHAPE_CAST,    /* as SAME, types free */
	SHAPE_PERM,    /* out.dim[i] = x.dim[perm[i]] */
	SHAPE_ROLL,    /* equal dims, axis in arg */
	SHAPE_GATHER,  /* along axis arg as long as the index */
	SHAPE_SELECT,  /* condition i32; x, y, out one type; broadcast */
	SHAPE_COMPARE, /* out i32; x, y one type; broadcast */
	SHAPE_GEMM,    /* last two dims multiply, first two are batches */
	SHAPE_REDUCE,  /* the axis in arg becomes 1, or all do */
	SHAPE_ARGMAX,  /* as REDUCE, out i64 */
	SHAPE_LOSS,    /* out one element; x, y, gradient equal dims */
	SHAPE_FILE,    /* one dense tensor */
	SHAPE_LAUNCH,  /* as NONE; scalars only where the kernel takes them */
};

enum op_flags {
	OP_RERUN = 1,
	OP_CONTROL = 2,
	OP_FILE = 4,
	OP_MODULE = 8,  /* run by quoit-exec */
	OP_LAUNCH = 16, /* a kernel of the session's own, by a row of its own (kernels.h) */
};

/* Who runs a job: a module's or a device's executor, by its number, or nobody of these. */
#define NO_EXECUTOR UINT8_MAX

#define OP_TYPES_F (1u << QUOIT_F32 | 1u << QUOIT_F64)
#define OP_TYPES_P (OP_TYPES_F | 1u << QUOIT_BF16 | 1u << QUOIT_F16)
#define OP_TYPES_N (OP_TYPES_F | 1u << QUOIT_I32 | 1u << QUOIT_I64)
#define OP_TYPES_I (1u << QUOIT_I32 | 1u << QUOIT_I64) /* what takes integers as scalars */
#define OP_TYPES_M (OP_TYPES_N | 1u << QUOIT_BF16 | 1u << QUOIT_F16)
#define OP_TYPES_X 0xffu

struct op_row {
	const char *name; /* NULL: no such operation */
	char access[QUOIT_MAX_TENSORS_PER_JOB + 1];
	uint8_t takes, needs, reads,
		writes;             /* the same by bits: may have, must have tensor i, ... */
	uint8_t shape;              /* enum op_shape */
	uint8_t types;              /* bit n: type n */
	uint8_t flags;              /* enum op_flags */
	uint8_t broadcast;          /* in so many dims inputs are stretched to the output's */
	uint8_t module;             /* OP_MODULE: which executor; else NO_EXECUTOR */
	uint8_t index;              /* OP_MODULE: of the operation in its module */
	bool absent;                /* known, but not run here: not compiled in, or switched off */
	uint8_t short_forms;        /* bit OPTABLE_FORM(arg, third): one that small.c may run, */
	uint8_t scalar_forms;       /* and of these, one whose scalars are of the tensors' kind */
	uint8_t scalar_arg;         /* bits of arg: with them its scalar is, 0xff: it always is */
	uint32_t cost;              /* picoseconds per element */
	const struct op_impl *impl; /* on the CPU; NULL: none, or absent */
};

/* An element-wise job by its arg, below four, and by whether it has a third tensor. */
#define OPTABLE_FORM(arg, third) ((arg) | (third) << 2)

/* Once, before anything else here: fill in what follows from the access letters. */
void optable_init(void);

/*
 * Switch off the operations of a list like "exp,file_write"; an empty one is none.  -EINVAL:
 * *ret_bad points to a word that is no operation of ops.def, or one that no session can do without.
 * Before there are threads.
 */
int optable_disable(const char *list, const char **ret_bad);

/* Could it?  At any time. */
int optable_check(const char *list, const char **ret_bad);

/* The row of an operation, NULL: there is none. */
const struct op_row *optable_find(uint8_t opcode);

/* Of any number: a row without a name, and all else zero, where there is no operation. */
const struct op_row *optable_row(uint8_t opcode);

/* The number of the operation of this name, -ENOENT: there is none. */
int optable_number(const char *name);

/* Give a module's operation the next free number; *ret_opcode.  -ENOSPC: all are used. */
int optable_add(const struct op_row *row, uint8_t *ret_opcode);

/* Fill in what follows from the access letters. */
void optable_read_access(struct op_row *row);

/* Which operations can be run: bit n of the bitmap. */
void optable_bitmap(uint64_t bitmap[QUOIT_OP_NR / 64]);

#endif
