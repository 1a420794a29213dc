/* SPDX-License-Identifier: MIT */
/*
 * test_ops_vmath.c - exp, log, tanh, sin, cos and sigmoid keep within the errors that vmath.h
 * promises.
 */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

#include "ops_reference.h"

#define SAMPLES 60000

typedef long double exact_fn(long double x);

static long double exact_sigmoid(long double x)
{
	return 1 / (1 + expl(-x));
}

struct row {
	uint8_t opcode;
	exact_fn *exact;
	double ulp;
	double low, high;
};

static const struct row rows[] = {
	{QUOIT_OP_EXP, expl, 1.1, -110, 95},
	{QUOIT_OP_EXP, expl, 1.1, -750, 715},
	{QUOIT_OP_EXP, expl, 1.1, -1e-3, 1e-3},
	{QUOIT_OP_LOG, logl, 1, 0, 3e38},
	{QUOIT_OP_LOG, logl, 1, 0, 4},
	{QUOIT_OP_LOG, logl, 1, 0.95, 1.05},
	{QUOIT_OP_LOG, logl, 1, 0, 1e-38},
	{QUOIT_OP_TANH, tanhl, 3, -25, 25},
	{QUOIT_OP_TANH, tanhl, 3, -1, 1},
	{QUOIT_OP_TANH, tanhl, 3, -1e-6, 1e-6},
	{QUOIT_OP_SIN, sinl, 1.6, -10, 10},
	{QUOIT_OP_SIN, sinl, 1.6, -20000, 20000},
	{QUOIT_OP_SIN, sinl, 1.6, -1e7, 1e7},
	{QUOIT_OP_SIN, sinl, 1.6, -1e12, 1e12},
	{QUOIT_OP_SIN, sinl, 1.6, -1e38, 1e38},
	{QUOIT_OP_COS, cosl, 1.6, -10, 10},
	{QUOIT_OP_COS, cosl, 1.6, -20000, 20000},
	{QUOIT_OP_COS, cosl, 1.6, -1e7, 1e7},
	{QUOIT_OP_COS, cosl, 1.6, -1e12, 1e12},
	{QUOIT_OP_COS, cosl, 1.6, -1e38, 1e38},
	{QUOIT_OP_SIGMOID, exact_sigmoid, 2.2, -100, 100},
	{QUOIT_OP_SIGMOID, exact_sigmoid, 2.2, -1, 1},
};

static const double specials[] = {0.0,           -0.0,
				  INFINITY,      -INFINITY,
				  NAN,           0x1p-149,
				  -0x1p-149,     0x1p-1074,
				  -0x1p-1074,    0x1p-126,
				  FLT_MAX,       -FLT_MAX,
				  DBL_MAX,       -DBL_MAX,
				  1.0,           -1.0,
				  88.722839,     -103.972084,
				  709.782712893, -745.13321910,
				  0x1.921fb6p0,  0x1.921fb6p13,
				  0x1.fffffep13, 0x1p14,
				  0x1p30,        0x1.921fb54442d18p0,
				  710.5,         -746.5,
				  89.5,          -104.5};
#define SPECIALS (sizeof(specials) / sizeof(specials[0]))

/* Error of y in units of the last place of the exact result, denormals included. */
static double error_ulp(uint8_t dtype, double y, long double exact)
{
	const int digits = dtype == QUOIT_F32 ? 24 : 53;
	const int least = dtype == QUOIT_F32 ? -149 : -1074;
	const double rounded = dtype == QUOIT_F32 ? (float)exact : (double)exact;
	int exponent;

	if (isnan(rounded) || isnan(y))
		return isnan(rounded) && isnan(y) ? 0 : INFINITY;
	if (rounded == y)
		return signbit(rounded) == signbit(y) ? 0 : INFINITY;
	if (isinf(rounded) || isinf(y))
		return INFINITY;
	(void)frexpl(exact, &exponent);
	exponent = exponent - digits > least ? exponent - digits : least;
	return (double)fabsl(ldexpl(y - exact, -exponent));
}

static void check(const struct row *row, uint8_t dtype, const struct ops_isa *isa)
{
	const uint32_t dim[] = {1, 1, 1, SAMPLES};
	struct ops_case c = {.args.opcode = row->opcode};
	uint32_t pos[4] = {0};
	double worst = 0;
	double where = 0;

	ops_case_tensor(&c, 0, dtype, dim, OPS_DENSE, 1);
	ops_case_tensor(&c, 1, dtype, dim, OPS_DENSE, 1);
	ops_case_count(&c, 1, row->low, (row->high - row->low) / SAMPLES);
	for (size_t i = 0; i < SPECIALS; i++) {
		if (dtype == QUOIT_F32)
			((float *)c.args.t[1].data)[i * 1000 + 7] = (float)specials[i];
		else
			((double *)c.args.t[1].data)[i * 1000 + 7] = specials[i];
	}
	ops_case_run(&c, isa, 1);
	do {
		const double x = ops_get_f(&c.args.t[1], pos);
		const double error = error_ulp(dtype, ops_get_f(&c.args.t[0], pos), row->exact(x));

		if (error > worst) {
			worst = error;
			where = x;
		}
	} while (ops_next(dim, pos));
	cr_assert_leq(worst, row->ulp, "%s of %s, %s: %.2f ulp at %.17g", ops_name(row->opcode),
		      ops_type_name(dtype), isa->name, worst, where);
	cr_log_info("%s of %s, [%g, %g]: %.2f ulp at %.17g", ops_name(row->opcode),
		    ops_type_name(dtype), row->low, row->high, worst, where);
	ops_case_done(&c);
}

Test(ops_vmath, keeps_its_error)
{
	struct ops_isa isas[3];
	const size_t isa_nr = ops_isas(isas);

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		check(&rows[r], QUOIT_F32, &isas[isa_nr - 1]);
		check(&rows[r], QUOIT_F64, &isas[isa_nr - 1]);
	}
}
