/* SPDX-License-Identifier: MIT */
/* test_client_arena.c - the allocator behind quoit_alloc */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "arena.h"

#define BYTES 65536u

/* The allocator writes nothing into the range, so it need not even exist. */
static uint8_t *const base = (uint8_t *)0x10000;

static struct arena arena;

static void setup(void)
{
	cr_assert(libquoit_arena_init(&arena, base, BYTES, BYTES) == 0);
}

static void teardown(void)
{
	libquoit_arena_done(&arena);
}

TestSuite(arena, .init = setup, .fini = teardown);

struct size_case {
	uint64_t size, takes;
};

ParameterizedTestParameters(arena, a_piece_takes_whole_granules)
{
	static struct size_case cases[] = {
		{0, 64}, {1, 64}, {64, 64}, {65, 128}, {BYTES - 1, BYTES}, {BYTES, BYTES},
	};

	return cr_make_param_array(struct size_case, cases, sizeof cases / sizeof *cases);
}

ParameterizedTest(struct size_case *c, arena, a_piece_takes_whole_granules)
{
	uint64_t rest = BYTES - c->takes;

	cr_assert_not_null(libquoit_arena_take(&arena, c->size));
	cr_assert(rest == 0 || libquoit_arena_take(&arena, rest));
	cr_assert_null(libquoit_arena_take(&arena, 1));
}

Test(arena, more_than_there_is_is_refused)
{
	cr_assert_null(libquoit_arena_take(&arena, BYTES + 1));
	cr_assert_null(libquoit_arena_take(&arena, SIZE_MAX));
}

Test(arena, neighbours_join_in_every_order_of_freeing)
{
	static const int order[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
				       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
		void *piece[3];

		for (int i = 0; i < 3; i++)
			piece[i] = libquoit_arena_take(&arena, i < 2 ? 1024 : BYTES - 2048);
		for (int i = 0; i < 3; i++)
			libquoit_arena_give(&arena, piece[order[k][i]]);
		piece[0] = libquoit_arena_take(&arena, BYTES);
		cr_assert_not_null(piece[0], "order %zu left holes", k);
		libquoit_arena_give(&arena, piece[0]);
	}
}

Test(arena, the_piece_freed_last_is_taken_first)
{
	void *a = libquoit_arena_take(&arena, 640), *b = libquoit_arena_take(&arena, 640);

	(void)b;
	libquoit_arena_give(&arena, a);
	cr_assert_eq(libquoit_arena_take(&arena, 640), a);
}

Test(arena, what_is_not_a_piece_is_not_freed)
{
	uint8_t *piece = libquoit_arena_take(&arena, BYTES);

	libquoit_arena_give(&arena, NULL);
	libquoit_arena_give(&arena, piece + 1);
	libquoit_arena_give(&arena, piece - 64);
	libquoit_arena_give(&arena, piece + BYTES);
	cr_assert_null(libquoit_arena_take(&arena, 1));
	libquoit_arena_give(&arena, piece);
	libquoit_arena_give(&arena, piece);
	cr_assert_not_null(libquoit_arena_take(&arena, BYTES));
	cr_assert_null(libquoit_arena_take(&arena, 1), "freed twice");
}

Test(arena, a_piece_that_was_given_back_and_joined_is_not_freed_again)
{
	void *first = libquoit_arena_take(&arena, 64), *second = libquoit_arena_take(&arena, 64);

	libquoit_arena_give(&arena, first);
	libquoit_arena_give(&arena, second);
	libquoit_arena_give(&arena, second);
	cr_expect_eq(libquoit_arena_take(&arena, BYTES), base);
	libquoit_arena_give(&arena, second);
	cr_expect_null(libquoit_arena_take(&arena, 64), "it is all one piece that is in use");
}

Test(arena, an_empty_arena_has_nothing)
{
	struct arena none;

	cr_assert(libquoit_arena_init(&none, NULL, 0, 0) == 0);
	cr_assert_null(libquoit_arena_take(&none, 1));
	libquoit_arena_done(&none);
}

/* Compare the owner of each granule with a plain array, over thousands of random steps. */
Test(arena, pieces_never_overlap)
{
	enum { SLOTS = 64 };
	static uint8_t owner[BYTES / ARENA_GRANULE];
	struct {
		uint8_t *at;
		size_t granules;
	} slot[SLOTS] = {{0}};

	srand(1);
	for (int step = 0; step < 20000; step++) {
		int i = rand() % SLOTS;
		size_t first = slot[i].at ? (size_t)(slot[i].at - base) / ARENA_GRANULE : 0;

		if (slot[i].at) {
			for (size_t g = 0; g < slot[i].granules; g++)
				cr_assert_eq(owner[first + g], i + 1);
			memset(owner + first, 0, slot[i].granules);
			libquoit_arena_give(&arena, slot[i].at);
			slot[i].at = NULL;
			continue;
		}
		slot[i].granules = 1 + (size_t)rand() % 40;
		slot[i].at = libquoit_arena_take(&arena, slot[i].granules * ARENA_GRANULE);
		if (!slot[i].at)
			continue;
		first = (size_t)(slot[i].at - base) / ARENA_GRANULE;
		for (size_t g = 0; g < slot[i].granules; g++)
			cr_assert_eq(owner[first + g], 0);
		memset(owner + first, i + 1, slot[i].granules);
	}
}
