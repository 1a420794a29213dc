/* SPDX-License-Identifier: MIT */
/* optable.c - ops.def as a table, and the operations of modules behind it */
#include "optable.h"

#include <errno.h>
#include <string.h>

#include "ops/ops.h"

#define FLAG_RERUN   OP_RERUN
#define FLAG_CONTROL OP_CONTROL
#define FLAG_FILE    OP_FILE

static struct op_row table[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, label, letters, rule, types_, picoseconds, what, help)                  \
	[nr] = {.name = #label,                                                                    \
		.access = letters,                                                                 \
		.shape = SHAPE_##rule,                                                             \
		.types = OP_TYPES_##types_,                                                        \
		.flags = FLAG_##what,                                                              \
		.cost = picoseconds},
#include <quoit/ops.def>
#undef QUOIT_OP
};

const struct op_row *optable_find(uint8_t opcode)
{
	return table[opcode].name ? &table[opcode] : NULL;
}

int optable_add(const struct op_row *row, uint8_t *ret_opcode)
{
	for (unsigned i = QUOIT_OP_MODULE_FIRST; i <= QUOIT_OP_MODULE_LAST; i++)
		if (!table[i].name) {
			table[i] = *row;
			*ret_opcode = (uint8_t)i;
			return 0;
		}
	return -ENOSPC;
}

void optable_bitmap(uint64_t bitmap[QUOIT_OP_NR / 64])
{
	memset(bitmap, 0, QUOIT_OP_NR / 8);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		const struct op_row *row = optable_find((uint8_t)i);

		if (!row)
			continue;
		if (i == QUOIT_OP_NOP || row->flags & (OP_CONTROL | OP_FILE | OP_MODULE) ||
		    ops_find((uint8_t)i))
			bitmap[i / 64] |= UINT64_C(1) << i % 64;
	}
}
