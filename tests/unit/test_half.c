/* SPDX-License-Identifier: MIT */
/* test_half.c - half.h converts as IEEE 754 says, for all halves and numbers between them. */
#include <criterion/criterion.h>
#include <math.h>

#include <quoit/half.h>

#include "ops_reference.h"

struct conversion {
	uint8_t dtype;
	float (*to_float)(uint16_t x);
	uint16_t (*from_float)(float x);
};

static const struct conversion conversions[] = {
	{QUOIT_BF16, quoit_float_from_bf16, quoit_bf16_from_float},
	{QUOIT_F16, quoit_float_from_f16, quoit_f16_from_float},
};

#define FOR_EACH(c) for (const struct conversion *c = conversions; c < conversions + 2; c++)

static bool same(double x, double y)
{
	return isnan(x) ? isnan(y) : x == y && signbit(x) == signbit(y);
}

Test(half, every_half_is_a_float_and_comes_back)
{
	FOR_EACH(c)
	{
		for (uint32_t i = 0; i <= UINT16_MAX; i++) {
			const uint16_t half = (uint16_t)i;
			const float x = c->to_float(half);

			cr_assert(same(x, ops_load_f(c->dtype, &half)), "type %d: %#x is %g",
				  c->dtype, i, x);
			cr_assert(isnan(x) || c->from_float(x) == half, "type %d: %#x comes back",
				  c->dtype, i);
		}
	}
}

static void check_float(const struct conversion *c, float x)
{
	const uint16_t found = c->from_float(x);
	uint16_t expected;

	ops_store_f(c->dtype, &expected, x);
	cr_assert(same(ops_load_f(c->dtype, &found), ops_load_f(c->dtype, &expected)),
		  "type %d: %a becomes %#x, should be %#x", c->dtype, x, found, expected);
}

Test(half, a_float_becomes_the_nearest_half_and_a_tie_the_even_one)
{
	FOR_EACH(c)
	{
		for (uint32_t i = 0; i < UINT16_MAX; i++) {
			const uint16_t next = (uint16_t)(i + 1);
			const float low = c->to_float((uint16_t)i), high = c->to_float(next);
			const float middle = low / 2 + high / 2;

			if (isnan(high) || isnan(low) || isinf(low) || isinf(high))
				continue;
			check_float(c, middle);
			check_float(c, nextafterf(middle, INFINITY));
			check_float(c, nextafterf(middle, -INFINITY));
		}
	}
}

Test(half, what_is_too_large_is_infinite_and_nan_stays_nan)
{
	static const float values[] = {65519.996f,  65520,    65536, 0x1.fefffep127f,
				       0x1.ffp127f, INFINITY, NAN,   0x1.fffffep127f};

	FOR_EACH(c)
	{
		for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
			check_float(c, values[i]);
			check_float(c, -values[i]);
		}
		check_float(c, quoit_bits_float(0x7f800001)); /* its fraction is cut off */
	}
}
