/* SPDX-License-Identifier: MIT */
/* numbers.c - sets of CPUs and nodes, as the kernel lists them: "0-3,8" */
#include "numbers.h"

#include <stdio.h>

#include <quoit/number_list.h>

bool numbers_parse(const char *list, struct numbers *ret)
{
	unsigned long first, last;

	*ret = (struct numbers){0};
	while (*list) {
		if (!quoit_number_list_take(&list, &first, &last) || last >= NUMBERS_MOST)
			return false;
		for (unsigned long i = first; i <= last; i++)
			numbers_put(ret, (unsigned)i);
	}
	return true;
}

bool numbers_has(const struct numbers *n, unsigned number)
{
	return number < NUMBERS_MOST && n->bits[number / 64] >> number % 64 & 1;
}

void numbers_put(struct numbers *n, unsigned number)
{
	if (number < NUMBERS_MOST)
		n->bits[number / 64] |= UINT64_C(1) << number % 64;
}

unsigned numbers_count(const struct numbers *n)
{
	unsigned count = 0;

	for (unsigned i = 0; i < NUMBERS_MOST / 64; i++)
		count += (unsigned)__builtin_popcountll(n->bits[i]);
	return count;
}

int numbers_next(const struct numbers *n, unsigned from)
{
	for (unsigned i = from; i < NUMBERS_MOST; i++)
		if (numbers_has(n, i))
			return (int)i;
	return -1;
}

struct numbers numbers_either(const struct numbers *a, const struct numbers *b)
{
	struct numbers either;

	for (unsigned i = 0; i < NUMBERS_MOST / 64; i++)
		either.bits[i] = a->bits[i] | b->bits[i];
	return either;
}

struct numbers numbers_both(const struct numbers *a, const struct numbers *b)
{
	struct numbers both;

	for (unsigned i = 0; i < NUMBERS_MOST / 64; i++)
		both.bits[i] = a->bits[i] & b->bits[i];
	return both;
}

struct numbers numbers_without(const struct numbers *a, const struct numbers *b)
{
	struct numbers rest;

	for (unsigned i = 0; i < NUMBERS_MOST / 64; i++)
		rest.bits[i] = a->bits[i] & ~b->bits[i];
	return rest;
}

void numbers_print(const struct numbers *n, char *ret, size_t size)
{
	const size_t room_for_more = sizeof ",4095-4095,...";
	size_t used = 0;

	snprintf(ret, size, "none");
	for (int i = numbers_next(n, 0); i >= 0; i = numbers_next(n, (unsigned)i + 1)) {
		int first = i;

		while (numbers_has(n, (unsigned)i + 1))
			i++;
		if (used + room_for_more > size) {
			snprintf(ret + used, size - used, "...");
			return;
		}
		used += (size_t)snprintf(ret + used, size - used, i > first ? "%s%d-%d" : "%s%d",
					 used ? "," : "", first, i);
	}
}
