/* SPDX-License-Identifier: MIT */
/* optable.c - ops.def as a table, with the operations of modules added at start */
#include "optable.h"

#include <errno.h>
#include <string.h>

#define FLAG_RERUN   OP_RERUN
#define FLAG_CONTROL OP_CONTROL
#define FLAG_FILE    OP_FILE
#define FLAG_LAUNCH  OP_LAUNCH
#define FLAG_ACQUIRE OP_ACQUIRE
#define FLAG_RELEASE OP_RELEASE
#define FLAG_CALL    OP_CALL
#define FLAG_RETURN  OP_RETURN

static struct op_row table[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, label, family_, letters, rule, types_, picoseconds, what, help)         \
	[nr] = {.name = #label,                                                                    \
		.family = QUOIT_FAMILY_##family_,                                                  \
		.access = letters,                                                                 \
		.shape = SHAPE_##rule,                                                             \
		.types = QUOIT_TYPES_##types_,                                                     \
		.flags = FLAG_##what,                                                              \
		.cost = picoseconds},
#include <quoit/ops.def>
#undef QUOIT_OP
};

/* Turn the access letters into bits, so that no job compares letters. */
void optable_read_access(struct op_row *row)
{
	row->takes = row->needs = row->reads = row->writes = 0;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		uint8_t bit = (uint8_t)(1u << i);
		char c = row->access[i];

		row->takes |= c != '-' ? bit : 0;
		row->needs |= c == 'R' || c == 'W' || c == 'M' ? bit : 0;
		row->reads |= c == 'R' || c == 'r' || c == 'M' || c == 'm' ? bit : 0;
		row->writes |= c == 'W' || c == 'w' || c == 'M' || c == 'm' ? bit : 0;
	}
}

/*
 * The bits of arg that say that a scalar stands for the third tensor.  0xff: there always are
 * scalars of the tensors' type.
 */
static uint8_t scalar_arg(const struct op_row *row)
{
	switch (row->family) {
	case QUOIT_FAMILY_MOVE: /* what has no input moves a scalar */
		return row->reads ? 0 : UINT8_MAX;
	case QUOIT_FAMILY_BLEND:
		return UINT8_MAX;
	case QUOIT_FAMILY_ARITHMETIC:
		return QUOIT_EW_SCALAR;
	case QUOIT_FAMILY_COMPARE:
		return QUOIT_CMP_SCALAR;
	default:
		return 0;
	}
}

/*
 * Set the forms that fast_elementwise.c may run: two or three tensors, or two and a scalar for the
 * third.
 */
static void read_forms(struct op_row *row)
{
	unsigned plain = 1u << OPTABLE_FORM(0, row->takes >> 2 & 1);
	unsigned scalar = 1u << OPTABLE_FORM(QUOIT_EW_SCALAR, 0) |
			  1u << OPTABLE_FORM(QUOIT_EW_SCALAR | QUOIT_EW_REVERSE, 0);

	row->short_forms = row->scalar_forms = 0;
	if (!row->impl || !row->impl->run_short)
		return;
	row->short_forms = (uint8_t)plain;
	if (row->scalar_arg == QUOIT_EW_SCALAR) {
		row->short_forms |= (uint8_t)scalar;
		row->scalar_forms = (uint8_t)scalar;
	} else if (row->scalar_arg) {
		row->scalar_forms = (uint8_t)plain;
	}
}

static uint8_t broadcast_dims(uint8_t shape)
{
	switch (shape) {
	case SHAPE_SAME:
	case SHAPE_CAST:
	case SHAPE_SELECT:
	case SHAPE_COMPARE:
		return QUOIT_MAX_DIMS;
	case SHAPE_GEMM:
		return 2; /* the batches */
	default:
		return 0;
	}
}

/* A session cannot do without these: it waits by NOP and has its tensors by the others. */
static bool is_vital(unsigned opcode)
{
	return opcode == QUOIT_OP_NOP || table[opcode].flags & OP_CONTROL;
}

void optable_init(void)
{
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		if (!table[i].name)
			continue;
		optable_read_access(&table[i]);
		table[i].module = NO_EXECUTOR;
		table[i].broadcast = broadcast_dims(table[i].shape);
		table[i].impl = ops_find((uint8_t)i);
		table[i].absent =
			!is_vital(i) && !(table[i].flags & OP_ELSEWHERE) && !table[i].impl;
		table[i].scalar_arg = scalar_arg(&table[i]);
		read_forms(&table[i]);
	}
}

/* The operation named by a word of a list; QUOIT_OP_NR: none that may be switched off. */
static unsigned find_word(const char *word, size_t length)
{
	unsigned i = 0;

	while (i < QUOIT_OP_NR && (!table[i].name || strncmp(table[i].name, word, length) != 0 ||
				   table[i].name[length]))
		i++;
	return i == QUOIT_OP_NR || is_vital(i) ? QUOIT_OP_NR : i;
}

int optable_check(const char *list, const char **ret_bad)
{
	for (const char *word = list; *word;) {
		size_t length = strcspn(word, ",");

		if (find_word(word, length) == QUOIT_OP_NR) {
			*ret_bad = word;
			return -EINVAL;
		}
		word += length + (word[length] == ',');
	}
	return 0;
}

int optable_disable(const char *list, const char **ret_bad)
{
	int err = optable_check(list, ret_bad);

	for (const char *word = list; !err && *word;) {
		size_t length = strcspn(word, ",");
		struct op_row *row = &table[find_word(word, length)];

		row->absent = true;
		row->impl = NULL;
		row->short_forms = 0;
		word += length + (word[length] == ',');
	}
	return err;
}

const struct op_row *optable_find(uint8_t opcode)
{
	return table[opcode].name ? &table[opcode] : NULL;
}

const struct op_row *optable_row(uint8_t opcode)
{
	return &table[opcode];
}

int optable_number(const char *name)
{
	for (int i = 0; i < QUOIT_OP_NR; i++)
		if (table[i].name && !strcmp(table[i].name, name))
			return i;
	return -ENOENT;
}

int optable_add(const struct op_row *row, uint8_t *ret_opcode)
{
	for (unsigned i = QUOIT_OP_MODULE_FIRST; i <= QUOIT_OP_MODULE_LAST; i++)
		if (!table[i].name) {
			table[i] = *row;
			optable_read_access(&table[i]);
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

		if (row && !row->absent)
			bitmap[i / 64] |= UINT64_C(1) << i % 64;
	}
}
