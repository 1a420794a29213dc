/* SPDX-License-Identifier: MIT */
/* keyspace.c - the memory of a keyspace, and of those that call it */
#include "keyspace.h"

#include <sys/random.h>

#include "store/lazy_pages.h"

static uint32_t cells_of(uint64_t bytes)
{
	return (uint32_t)((bytes + sizeof(struct key_cell) - 1) / sizeof(struct key_cell));
}

uint64_t keyspace_cost(uint32_t keys, uint64_t bytes)
{
	return sizeof(struct keyspace) + key_table_cost(keys, cells_of(bytes));
}

struct keyspace *keyspace_new(uint32_t keys, uint64_t bytes, bool read_only)
{
	struct keyspace *k = lazy_pages_map(sizeof *k);

	if (!k)
		return NULL;
	k->read_only = read_only;
	if (key_table_init(&k->table, keys, cells_of(bytes)) == 0 &&
	    getrandom(&k->secret, sizeof k->secret, GRND_NONBLOCK) == (ssize_t)sizeof k->secret)
		return k;
	keyspace_free(k);
	return NULL;
}

void keyspace_free(struct keyspace *k)
{
	if (!k)
		return;
	key_table_done(&k->table);
	lazy_pages_unmap(k, sizeof *k);
}

uint64_t key_caller_cost(void)
{
	return sizeof(struct key_caller);
}

struct key_caller *key_caller_new(void)
{
	struct key_caller *k = lazy_pages_map(sizeof *k);

	if (k)
		k->free_values = (1u << KEY_VALUES) - 1;
	return k;
}

void key_caller_free(struct key_caller *k)
{
	lazy_pages_unmap(k, sizeof *k);
}
