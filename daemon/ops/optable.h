/* SPDX-License-Identifier: MIT */
/*
 * optable.h - the rows of ops.def as a table by operation number.
 *
 * Operations of plug-in modules are added at start, before any reactor runs.  After that the table
 * does not change, and any thread may read it.
 */
#ifndef QUOITD_OPTABLE_H
#define QUOITD_OPTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/families.h>

#include "ops.h"

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
	SHAPE_ACQUIRE, /* a tensor in the shared region */
	SHAPE_RELEASE, /* the SQ index of an acquire */
	SHAPE_CALL,    /* tensors that the program can reach */
	SHAPE_SYNC,    /* any tensor, or none, that orders the job (session/objects.h) */
	SHAPE_MESSAGE, /* a tensor that a queue takes or gives */
	SHAPE_KEYS,    /* a key, and what a keyspace takes or gives for it */
};

enum op_flags {
	OP_RERUN = 1,
	OP_CONTROL = 2,
	OP_FILE = 4,
	OP_MODULE = 8,   /* run by quoit-exec */
	OP_LAUNCH = 16,  /* a kernel of the session's own, with its own row (kernels.h) */
	OP_ACQUIRE = 32, /* the program itself uses the tensor (hold.h) */
	OP_RELEASE = 64, /* ends that; takes effect at fetch */
	OP_CALL = 128,   /* a function of the program's, with its own row (session_team.h) */
	OP_RETURN = 256, /* ends that; takes effect at fetch */

	/* Any of these: no function of the table computes it. */
	OP_ELSEWHERE =
		OP_FILE | OP_MODULE | OP_LAUNCH | OP_ACQUIRE | OP_RELEASE | OP_CALL | OP_RETURN,
};

/* Jobs that the CPU runs; other values are the number of a module's or a device's executor. */
#define NO_EXECUTOR UINT8_MAX

struct op_row {
	const char *name; /* NULL: no such operation */
	char access[QUOIT_MAX_TENSORS_PER_JOB + 1];
	/* The same by bits; bit i: tensor i may be given, must be given, is read, is written. */
	uint8_t takes, needs, reads, writes;
	uint8_t family;      /* enum quoit_family */
	uint8_t shape;       /* enum op_shape */
	uint8_t types;       /* bit n: type n */
	uint16_t flags;      /* enum op_flags */
	uint8_t broadcast;   /* in so many dims, inputs are stretched to the output */
	uint8_t module;      /* OP_MODULE: number of its executor; else NO_EXECUTOR */
	uint8_t index;       /* OP_MODULE: number of the operation in its module */
	bool absent;         /* known, but not run here: not compiled in, or switched off */
	uint8_t short_forms; /* bit OPTABLE_FORM(arg, third): fast_elementwise.c may run this form */
	uint8_t scalar_forms;       /* short forms with scalars of the tensors' type */
	uint8_t scalar_arg;         /* bits of arg: a scalar of the tensors' type; 0xff: always */
	uint32_t cost;              /* picoseconds per element */
	const struct op_impl *impl; /* on the CPU; NULL: none, or absent */
};

/* The form of an element-wise job: its arg, below four, and whether it has a third tensor. */
#define OPTABLE_FORM(arg, third) ((arg) | (third) << 2)

/* Fill in what follows from ops.def.  Call once, before anything else here. */
void optable_init(void);

/*
 * Switch off the operations of a list like "exp,file_write"; an empty list is allowed.  -EINVAL:
 * *ret_bad points to a word that is not in ops.def, or that no session can do without.  Call before
 * there are threads.
 */
int optable_disable(const char *list, const char **ret_bad);

/* Would optable_disable accept the list?  Any thread, at any time. */
int optable_check(const char *list, const char **ret_bad);

/* The row of an operation; NULL: there is no such operation. */
const struct op_row *optable_find(uint8_t opcode);

/* The row of any number; where there is no operation, all of it is zero and the name NULL. */
const struct op_row *optable_row(uint8_t opcode);

/* The number of the operation with this name; -ENOENT: there is none. */
int optable_number(const char *name);

/* Give a module's operation the next free number; sets *ret_opcode.  -ENOSPC: all are used. */
int optable_add(const struct op_row *row, uint8_t *ret_opcode);

/* Fill in what follows from the access letters. */
void optable_read_access(struct op_row *row);

/* Set bit n of the bitmap for each operation n that can be run. */
void optable_bitmap(uint64_t bitmap[QUOIT_OP_NR / 64]);

#endif
