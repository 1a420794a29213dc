/* SPDX-License-Identifier: MIT */
/* test_optable.c - operations can be disabled by name. */
#include <errno.h>

#include <criterion/criterion.h>

#include "ops/optable.h"

static bool is_offered(uint8_t opcode)
{
	uint64_t bitmap[QUOIT_OP_NR / 64];

	optable_bitmap(bitmap);
	return bitmap[opcode / 64] >> opcode % 64 & 1;
}

Test(optable, list_switches_off_what_it_names_and_nothing_else)
{
	static const struct {
		const char *list;
		bool exp, file_read;
	} row[] = {{"", true, true},
		   {"exp", false, true},
		   {"exp,", false, true},
		   {"file_read,exp", false, false},
		   {"exp,exp", false, true}};

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
		const char *bad;

		optable_init();
		cr_expect_eq(optable_disable(row[i].list, &bad), 0, "row %u", i);
		cr_expect_eq(is_offered(QUOIT_OP_EXP), row[i].exp, "row %u", i);
		cr_expect_eq(is_offered(QUOIT_OP_FILE_READ), row[i].file_read, "row %u", i);
		cr_expect(is_offered(QUOIT_OP_FILE_WRITE) && is_offered(QUOIT_OP_NOP));
	}
}

Test(optable, rows_have_the_kernels_that_suit_the_processor)
{
	struct ops_choice choice;

	optable_init(); /* the daemon refuses a bad --disable before it tries BLAS libraries */
	(void)ops_init("auto", &choice);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++)
		if (optable_find((uint8_t)i))
			cr_expect_eq(optable_find((uint8_t)i)->impl, ops_find((uint8_t)i), "%u", i);
}

Test(optable, word_that_is_no_operation_or_cannot_be_done_without_is_refused)
{
	static const struct {
		const char *list, *bad;
	} row[] = {{"ex", "ex"},   {"expo", "expo"},     {"exp,,sin", ",sin"},   {",exp", ",exp"},
		   {"nop", "nop"}, {"sin,free", "free"}, {"exp sin", "exp sin"}, {"EXP", "EXP"}};

	optable_init();
	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
		const char *bad = NULL;

		cr_expect_eq(optable_disable(row[i].list, &bad), -EINVAL, "row %u", i);
		cr_expect_str_eq(bad, row[i].bad, "row %u", i);
	}
}

Test(optable, every_operation_of_the_table_is_run_here)
{
	optable_init();
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	cr_expect(is_offered(nr), #name);
#include <quoit/ops.def>
#undef QUOIT_OP
}
