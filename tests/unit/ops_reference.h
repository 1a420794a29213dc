/* SPDX-License-Identifier: MIT */
/*
 * ops_reference.h - compute every operation again, element by element, and check against that.
 *
 * A case is one job.  Its tensors are in memory of their own, of exactly the size that they need,
 * so that AddressSanitizer notices an access too far.  A check runs it by every instruction set of
 * the CPU, in several numbers of tiles, and by the reference.
 */
#ifndef OPS_REFERENCE_H
#define OPS_REFERENCE_H

#include <stdbool.h>

#include "ops/kernel.h"

enum ops_layout {
	OPS_DENSE,
	OPS_COLUMN_MAJOR,
	OPS_PADDED,                       /* gaps between elements and between rows */
	OPS_REVERSED,                     /* last dim backwards */
	OPS_REPEAT_ROW,                   /* stride 0 in all dims but the last */
	OPS_REPEAT_COLUMN,                /* stride 0 in the last dim */
	OPS_LAYOUTS_IN,                   /* how many layouts inputs have */
	OPS_LAYOUTS_OUT = OPS_REPEAT_ROW, /* how many layouts outputs have */
};

struct ops_case {
	struct op_args args;
	struct {
		void *bytes;
		size_t size;
	} memory[QUOIT_MAX_TENSORS_PER_JOB];
};

/* How far a floating-point result may be from the reference; it must satisfy one of the two. */
struct ops_tolerance {
	double ulp;
	double absolute;
	bool same_bits; /* every instruction set must give the same bits */
};

/*
 * Set the strides of a layout; returns how many elements lie from the first to the last in memory.
 */
size_t ops_lay_out(struct op_tensor *t, enum ops_layout layout);

struct ops_isa {
	const char *name;
	const struct op_impl *const *table;
};

/* The instruction sets that this CPU can run; returns how many. */
size_t ops_isas(struct ops_isa ret_isas[3]);

/* Give the case a tensor with numbers of all kinds; the same seed gives the same ones. */
void ops_case_tensor(struct ops_case *c, int which, uint8_t dtype, const uint32_t dim[4],
		     enum ops_layout layout, uint32_t seed);

/* Set every element of a tensor to i * step + first, in row-major order. */
void ops_case_count(struct ops_case *c, int which, double first, double step);

/* Assert that all ways to run the case agree with the reference and with each other. */
void ops_case_check(struct ops_case *c, struct ops_tolerance tolerance);

/* Run it once by one instruction set, in this many tiles, or by op_impl.run_short. */
#define OPS_SHORTLY 0
void ops_case_run(struct ops_case *c, const struct ops_isa *isa, uint32_t tiles);

void ops_case_done(struct ops_case *c);

/* Element access by position, for any type. */
double ops_get_f(const struct op_tensor *t, const uint32_t pos[4]);
double ops_load_f(uint8_t dtype, const void *element);
void ops_store_f(uint8_t dtype, void *element, long double x);
int64_t ops_get_i(const struct op_tensor *t, const uint32_t pos[4]);
bool ops_is_float(uint8_t dtype);

/* The next position in row-major order; false after the last. */
bool ops_next(const uint32_t dim[4], uint32_t pos[4]);

/*
 * The operations of ops.def that compute: tests take theirs from here, so that a new row is tested
 * where its family is, and fails until the reference knows it.
 */
struct ops_row {
	const char *name;
	uint8_t opcode;
	uint8_t family; /* enum quoit_family */
	uint8_t types;  /* bit n: type n */
};
extern const struct ops_row ops_rows[];
extern const size_t ops_row_nr;

/* The names of an operation and of a type, for messages; "?" for any other number. */
const char *ops_name(uint8_t opcode);
const char *ops_type_name(uint8_t dtype);

/* How many inputs it has, if it makes each element from elements of its shape; else -1. */
int ops_inputs(const struct ops_row *row);

/* Does it reduce one axis, or all? */
bool ops_reduces(const struct ops_row *row);

/* How far its floating-point results may be from the reference, in ulp; 0: not at all. */
double ops_ulp(uint8_t opcode);

/* Run the reference itself. */
void ops_reference_run(struct op_args *args);

#endif
