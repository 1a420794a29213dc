/* SPDX-License-Identifier: MIT */
/*
 * plan_ops.c - measure single operations on two cores, beside loops in C on one thread and
 * beside a BLAS
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

/*
 * The same as in tests/bench/peer_ops.h: matrices of float32 in both, and a median of this many
 * runs.
 */
#define ROWS     4096u
#define COLUMNS  1024u
#define TIMES    15
#define PAUSE_NS 2000000
#define SHIFT    3
#define PRIME    7919u

static struct quoit_shape shape_of(uint8_t dtype, uint32_t rows, uint32_t columns, int32_t lead)
{
	return (struct quoit_shape){
		.dtype = dtype, .dim = {1, 1, rows, columns}, .stride = {0, 0, lead, 1}};
}

/* ---- the operations ---- */

enum operation {
	ADD,
	ADD_ROW,
	ADD_COLUMN,
	COMPARE,
	CAST,
	EXP,
	ABS,
	POW,
	FLOOR,
	COPY_INNER,
	TRANSPOSE,
	ROLL,
	GATHER,
	SUM,
	SUM_ROWS,
	SUM_COLUMNS,
	PROD_ROWS,
	AMAX_COLUMNS,
	AMIN_COLUMNS,
	ARGMAX_ROWS,
	ARGMIN_ROWS,
	DOT,
	AXPY,
};

/* A matrix of normal numbers; other operands are made when they are needed. */
struct operands {
	struct quoit_ring *q;
	quoit_tensor a;
	int err;
};

/* Create a tensor and fill it, so that it has its pages. */
static quoit_tensor make(struct operands *o, uint8_t dtype, uint32_t rows, uint32_t columns)
{
	quoit_tensor t = quoit_create_matrix(o->q, dtype, rows, columns);
	const bool whole = dtype == QUOIT_I32 || dtype == QUOIT_I64;

	if (!t)
		o->err = -ENOMEM;
	else if (!o->err)
		o->err = quoit_push(o->q, whole ? quoit_fill_int(t, 1) : quoit_fill(t, 1e-3));
	return t;
}

static quoit_tensor view(struct operands *o, quoit_tensor of, struct quoit_shape shape,
			 uint64_t offset)
{
	quoit_tensor t = quoit_view(o->q, of, &shape, offset);

	if (!t)
		o->err = -EINVAL;
	return t;
}

/* Rows in an order that no prefetcher guesses. */
static quoit_tensor make_index(struct operands *o)
{
	static int32_t place[ROWS];
	quoit_tensor t = quoit_create_vector(o->q, QUOIT_I32, ROWS);

	for (uint32_t i = 0; i < ROWS; i++)
		place[i] = (int32_t)(i * PRIME % ROWS);
	if (!t)
		o->err = -ENOMEM;
	else if (!o->err)
		o->err = quoit_write(o->q, t, place, sizeof place);
	return t;
}

static quoit_tensor make_normal(struct operands *o, uint64_t key)
{
	quoit_tensor t = make(o, QUOIT_F32, ROWS, COLUMNS);

	if (!o->err)
		o->err = quoit_push(o->q, quoit_normal(t, key, 0));
	return t;
}

/* Numbers from 0.5 to 1.5. */
static quoit_tensor make_positive(struct operands *o)
{
	quoit_tensor t = make(o, QUOIT_F32, ROWS, COLUMNS);

	if (!o->err)
		o->err = quoit_push(o->q, quoit_uniform(t, 2, 0));
	if (!o->err)
		o->err = quoit_push(o->q, quoit_add_scalar(t, t, 0.5));
	return t;
}

static struct quoit_sqe whole_matrix(struct operands *o, enum operation which)
{
	quoit_tensor out = make(o, QUOIT_F32, ROWS, COLUMNS);

	switch (which) {
	case ADD:
		return quoit_add(out, o->a, make_normal(o, 2));
	case ADD_ROW:
		return quoit_add(out, o->a, make(o, QUOIT_F32, 1, COLUMNS));
	case ADD_COLUMN:
		return quoit_add(out, o->a, make(o, QUOIT_F32, ROWS, 1));
	case EXP:
		return quoit_exp(out, o->a);
	case ABS:
		return quoit_abs(out, o->a);
	case POW:
		return quoit_pow(out, make_positive(o), o->a);
	case FLOOR:
		return quoit_floor(out, o->a);
	case ROLL:
		return quoit_roll(out, o->a, 3, SHIFT);
	case GATHER:
		return quoit_gather(out, o->a, make_index(o), 2);
	case CAST:
		return quoit_cast(out, make(o, QUOIT_I32, ROWS, COLUMNS));
	default: /* AXPY: adds every element, times one */
		return quoit_gemm(view(o, out, shape_of(QUOIT_F32, ROWS * COLUMNS, 1, 1), 0),
				  view(o, o->a, shape_of(QUOIT_F32, ROWS * COLUMNS, 1, 1), 0),
				  make(o, QUOIT_F32, 1, 1), 0, 1, 1);
	}
}

static struct quoit_sqe sqe_of(struct operands *o, enum operation which)
{
	switch (which) {
	case COMPARE:
		return quoit_compare(make(o, QUOIT_I32, ROWS, COLUMNS), o->a, QUOIT_CMP_GT,
				     make_normal(o, 2));
	case COPY_INNER:
		return quoit_copy(make(o, QUOIT_F32, ROWS - 2, COLUMNS - 2),
				  view(o, o->a, shape_of(QUOIT_F32, ROWS - 2, COLUMNS - 2, COLUMNS),
				       (COLUMNS + 1) * sizeof(float)));
	case TRANSPOSE:
		return quoit_transpose(make(o, QUOIT_F32, COLUMNS, ROWS), o->a,
				       QUOIT_PERM(0, 1, 3, 2));
	case SUM:
		return quoit_sum(make(o, QUOIT_F32, 1, 1), o->a, QUOIT_AXIS_ALL);
	case SUM_ROWS:
		return quoit_sum(make(o, QUOIT_F32, ROWS, 1), o->a, 3);
	case SUM_COLUMNS:
		return quoit_sum(make(o, QUOIT_F32, 1, COLUMNS), o->a, 2);
	case PROD_ROWS:
		return quoit_prod(make(o, QUOIT_F32, ROWS, 1), make_positive(o), 3);
	case AMIN_COLUMNS:
		return quoit_amin(make(o, QUOIT_F32, 1, COLUMNS), o->a, 2);
	case ARGMIN_ROWS:
		return quoit_argmin(make(o, QUOIT_I64, ROWS, 1), o->a, 3);
	case AMAX_COLUMNS:
		return quoit_amax(make(o, QUOIT_F32, 1, COLUMNS), o->a, 2);
	case ARGMAX_ROWS:
		return quoit_argmax(make(o, QUOIT_I64, ROWS, 1), o->a, 3);
	case DOT:
		return quoit_gemm(
			make(o, QUOIT_F32, 1, 1),
			view(o, o->a, shape_of(QUOIT_F32, 1, ROWS * COLUMNS, ROWS * COLUMNS), 0),
			view(o, make_normal(o, 2), shape_of(QUOIT_F32, ROWS * COLUMNS, 1, 1), 0), 0,
			1, 0);
	default:
		return whole_matrix(o, which);
	}
}

/* ---- one operation at a time, as in the loops ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int time_one(struct quoit_ring *q, struct quoit_sqe sqe, double *ret_ns)
{
	double start = bench_now();
	int err = quoit_push(q, sqe);

	if (!err)
		err = quoit_wait_all(q, QUOIT_FOREVER);
	*ret_ns = (bench_now() - start) * 1e9;
	return err;
}

static int time_many(struct quoit_ring *q, struct quoit_sqe sqe, double *ret_ns)
{
	const struct timespec moment = {.tv_nsec = PAUSE_NS};
	double ns[TIMES];
	int err = time_one(q, sqe, ret_ns);

	for (int i = 0; !err && i < TIMES; i++) {
		err = time_one(q, sqe, &ns[i]);
		(void)nanosleep(&moment, NULL);
	}
	if (err)
		return err;
	qsort(ns, TIMES, sizeof ns[0], by_value);
	*ret_ns = ns[TIMES / 2];
	return quoit_count_failures(q, NULL) ? -EBADMSG : 0;
}

static int measure_operation(const struct bench *b, const struct bench_series *s, double *ret)
{
	struct bench_client c;
	struct operands o = {0};
	struct quoit_sqe sqe;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	o.q = c.ring;
	o.a = make_normal(&o, 1);
	sqe = sqe_of(&o, (enum operation)s->depth);
	err = o.err ? o.err : quoit_wait_all(c.ring, QUOIT_FOREVER);
	if (!err)
		err = time_many(c.ring, sqe, ret);
	*ret /= 1e3;
	bench_close(&c);
	return err;
}

/* ---- products in a row, as in the BLAS ---- */

struct product {
	uint8_t dtype;
	uint32_t m, n, k;
};

static const struct product products[] = {
	{QUOIT_F64, 1024, 1024, 1024}, {QUOIT_F64, 1536, 1536, 1536}, {QUOIT_F64, 2048, 1, 2048},
	{QUOIT_F64, 1000, 1, 1000},    {QUOIT_F32, 2048, 1, 2048},    {QUOIT_F32, 8, 2048, 2048},
};

static int measure_product(const struct bench *b, const struct bench_series *s, double *ret)
{
	const struct product *p = &products[s->depth];
	struct bench_client c;
	quoit_tensor x, y, z;
	double ns;
	int err = bench_open(b, s->cores, NULL, &c);

	if (err)
		return err;
	x = quoit_create_matrix(c.ring, p->dtype, p->m, p->k);
	y = quoit_create_matrix(c.ring, p->dtype, p->k, p->n);
	z = quoit_create_matrix(c.ring, p->dtype, p->m, p->n);
	err = bench_repeat(c.ring, quoit_normal(x, 1, 0), 1, &ns);
	if (!err)
		err = bench_repeat(c.ring, quoit_normal(y, 2, 0), 1, &ns);
	if (!err)
		err = bench_repeat(c.ring, quoit_gemm(z, x, y, 0, 1, 0), s->count / 10 + 1, &ns);
	if (!err)
		err = bench_repeat(c.ring, quoit_gemm(z, x, y, 0, 1, 0), s->count, &ns);
	*ret = ns / 1e3;
	bench_close(&c);
	return err;
}

/* ---- the plan ---- */

#define OPERATION(name, which)                                                                     \
	{"quoit_" name, "us", BENCH_TWO_CORES, measure_operation, which},                          \
	{                                                                                          \
		"c_" name, "us", 0, bench_peer, .peer = {"loop", name}, .peer_word = "us"          \
	}

#define PRODUCT(name, which, times, sides)                                                         \
	{"quoit_" name, "us", BENCH_TWO_CORES, measure_product, which, times},                     \
	{                                                                                          \
		"blas_" name, "us", 0, bench_peer, .peer = {"gemm", sides, "2", #times},           \
						   .peer_word = "us"                               \
	}

static const struct bench_series series[] = {
	OPERATION("add", ADD),
	OPERATION("add_row", ADD_ROW),
	OPERATION("add_column", ADD_COLUMN),
	OPERATION("compare", COMPARE),
	OPERATION("cast", CAST),
	OPERATION("exp", EXP),
	OPERATION("abs", ABS),
	OPERATION("pow", POW),
	OPERATION("floor", FLOOR),
	OPERATION("copy_inner", COPY_INNER),
	OPERATION("transpose", TRANSPOSE),
	OPERATION("roll", ROLL),
	OPERATION("gather", GATHER),
	OPERATION("sum", SUM),
	OPERATION("sum_rows", SUM_ROWS),
	OPERATION("sum_columns", SUM_COLUMNS),
	OPERATION("prod_rows", PROD_ROWS),
	OPERATION("amax_columns", AMAX_COLUMNS),
	OPERATION("amin_columns", AMIN_COLUMNS),
	OPERATION("argmax_rows", ARGMAX_ROWS),
	OPERATION("argmin_rows", ARGMIN_ROWS),
	OPERATION("dot", DOT),
	OPERATION("axpy", AXPY),
	PRODUCT("gemm_f64", 0, 20, "f64:1024x1024x1024"),
	PRODUCT("gemm_f64_1536", 1, 10, "f64:1536x1536x1536"),
	PRODUCT("gemv_f64", 2, 200, "f64:2048x1x2048"),
	PRODUCT("gemv_f64_1000", 3, 500, "f64:1000x1x1000"),
	PRODUCT("gemv_f32", 4, 300, "f32:2048x1x2048"),
	PRODUCT("gemm_thin", 5, 200, "f32:8x2048x2048"),
	{NULL},
};

#define BY_C(name)                                                                                 \
	{                                                                                          \
		name "/c", "quoit_" name, "c_" name                                                \
	}
#define BY_BLAS(name)                                                                              \
	{                                                                                          \
		name "/blas", "quoit_" name, "blas_" name                                          \
	}
#define OF_RATE(name)                                                                              \
	{                                                                                          \
		name "_rate/blas", "blas_" name, "quoit_" name                                     \
	}

static const struct bench_ratio ratios[] = {
	BY_C("add"),
	BY_C("add_row"),
	BY_C("add_column"),
	BY_C("compare"),
	BY_C("cast"),
	BY_C("exp"),
	BY_C("abs"),
	BY_C("pow"),
	BY_C("floor"),
	BY_C("copy_inner"),
	BY_C("transpose"),
	BY_C("roll"),
	BY_C("gather"),
	BY_C("sum"),
	BY_C("sum_rows"),
	BY_C("sum_columns"),
	BY_C("prod_rows"),
	BY_C("amax_columns"),
	BY_C("amin_columns"),
	BY_C("argmax_rows"),
	BY_C("argmin_rows"),
	BY_C("dot"),
	BY_C("axpy"),
	OF_RATE("gemm_f64"),
	OF_RATE("gemm_f64_1536"),
	BY_BLAS("gemv_f64"),
	BY_BLAS("gemv_f64_1000"),
	BY_BLAS("gemv_f32"),
	BY_BLAS("gemm_thin"),
	{NULL},
};

const struct bench_plan bench_ops = {
	"ops", "operations on 4096 x 1024 float32 beside loops in C, products beside a BLAS", 3,
	series, ratios};
