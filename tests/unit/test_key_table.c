/* SPDX-License-Identifier: MIT */
/* test_key_table.c - keys, values, revisions and gaps, against a table that is searched from end to end */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include <quoit/abi.h>

#include "store/key_table.h"

#define ANY UINT64_MAX

static struct key_text text(const char *s)
{
	return (struct key_text){s, (uint32_t)strlen(s)};
}

static const uint8_t *bytes(const char *s)
{
	return (const uint8_t *)s;
}

static struct key_table opened(uint32_t keys, uint32_t cells)
{
	struct key_table t;

	cr_assert_eq(key_table_init(&t, keys, cells), 0);
	return t;
}

/* ---- one key ---- */

Test(key_table, a_key_has_the_value_that_was_put_last)
{
	struct key_table t = opened(2, 0);
	uint8_t value[8] = {0};

	cr_expect_null(key_table_find(&t, text("a")));
	cr_expect_eq(key_table_put(&t, text("a"), bytes("one"), 3, ANY), 0);
	cr_expect_eq(key_table_put(&t, text("a"), bytes("three"), 5, ANY), 0);
	cr_assert_not_null(key_table_find(&t, text("a")));
	cr_expect_eq(key_table_find(&t, text("a"))->value_bytes, 5);
	cr_expect_eq(key_table_find(&t, text("a"))->revision, 2);
	key_table_read_value(&t, key_table_find(&t, text("a")), value);
	cr_expect_eq(memcmp(value, "three", 5), 0);
	cr_expect_eq(t.nodes.used, 1);
	key_table_done(&t);
}

Test(key_table, a_key_changes_only_if_it_has_the_revision)
{
	struct key_table t = opened(4, 0);

	cr_expect_eq(key_table_put(&t, text("a"), bytes("1"), 1, 1), -ESTALE);
	cr_expect_eq(key_table_put(&t, text("a"), bytes("1"), 1, 0), 0);
	cr_expect_eq(key_table_put(&t, text("a"), bytes("2"), 1, 0), -EEXIST);
	cr_expect_eq(key_table_put(&t, text("a"), bytes("2"), 1, 2), -ESTALE);
	cr_expect_eq(key_table_put(&t, text("a"), bytes("2"), 1, 1), 0);
	cr_expect_eq(key_table_delete(&t, text("a"), 1), -ESTALE);
	cr_expect_eq(key_table_delete(&t, text("a"), 2), 0);
	cr_expect_eq(key_table_delete(&t, text("a"), ANY), -ENOENT);
	cr_expect_eq(t.revision, 3, "what was refused has changed nothing");
	key_table_done(&t);
}

/* ---- room ---- */

Test(key_table, what_does_not_fit_changes_nothing)
{
	static const uint8_t zeros[4096];
	struct key_table t = opened(3, 4);
	const uint32_t most = KEY_NODE_TEXT + 4 * KEY_CELL_TEXT - 1;

	cr_expect_eq(key_table_put(&t, text("a"), zeros, most + 1, ANY), -ENOSPC);
	cr_expect_eq(key_table_put(&t, text("a"), zeros, most, ANY), 0);
	cr_expect_eq(key_table_put(&t, text("a"), zeros, most, ANY), 0,
		     "in the room of the old one");
	cr_expect_eq(key_table_put(&t, text("b"), zeros, KEY_NODE_TEXT, ANY), -ENOSPC);
	cr_expect_eq(key_table_put(&t, text("b"), zeros, KEY_NODE_TEXT - 1, ANY), 0);
	cr_expect_eq(key_table_put(&t, text("a"), zeros, most - KEY_CELL_TEXT, ANY), 0);
	cr_expect_eq(key_table_put(&t, text("b"), zeros, KEY_NODE_TEXT, ANY), 0);
	cr_expect_eq(key_table_put(&t, text("c"), zeros, 0, ANY), 0);
	cr_expect_eq(key_table_put(&t, text("d"), zeros, 0, ANY), -ENOSPC);
	cr_expect_eq(key_table_delete(&t, text("a"), ANY), 0);
	cr_expect_eq(
		key_table_put(&t, text("d"), zeros, KEY_NODE_TEXT + 3 * KEY_CELL_TEXT - 1, ANY), 0);
	cr_expect_eq(key_table_used(&t), 3 * sizeof(struct key_node) + 4 * sizeof(struct key_cell));
	key_table_done(&t);
}

/* ---- against a model ---- */

#define KEYS   60u
#define CELLS  40u
#define LONG   3000u
#define ROUNDS 60000u

/* What was ever a key: its name, and of it what it is and when it changed last. */
struct model {
	char name[300];
	bool is_there;
	uint64_t revision;
	uint64_t changed; /* also by a deletion */
	uint32_t size;
	uint8_t value[LONG];
};

static struct model model[4 * KEYS];

/* Prefixes of each other, some longer than a node has room for, one of the most bytes. */
static void name_keys(void)
{
	for (unsigned i = 0; i < 4 * KEYS; i++) {
		const unsigned pad = i % 4 == 3 ? 60 + i % 29 * 6 : 0;

		memset(model[i].name, 0, sizeof model[i].name);
		memset(model[i].name, 'p', pad);
		for (unsigned k = i, at = pad; k || at == pad; k /= 3)
			model[i].name[at++] = (char)('a' + k % 3);
		cr_assert_leq(strlen(model[i].name), 255);
	}
}

static unsigned used_keys(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4 * KEYS; i++)
		n += model[i].is_there;
	return n;
}

static uint32_t cells_of(const char *name, uint32_t size)
{
	uint32_t all = (uint32_t)strlen(name) + size;

	return all <= KEY_NODE_TEXT ? 0 : (all - KEY_NODE_TEXT + KEY_CELL_TEXT - 1) / KEY_CELL_TEXT;
}

static uint32_t used_cells(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < 4 * KEYS; i++)
		n += model[i].is_there ? cells_of(model[i].name, model[i].size) : 0;
	return n;
}

/* Several names may be equal: the first one stands for all. */
static struct model *entry(unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (!strcmp(model[k].name, model[i].name))
			return &model[k];
	return &model[i];
}

static uint64_t expected_of(const struct model *m)
{
	switch (rand() % 4) {
	case 0:
		return ANY;
	case 1:
		return 0;
	case 2:
		return m->revision + (uint64_t)(rand() % 3);
	default:
		return m->is_there ? m->revision : 0;
	}
}

static void put_one(struct key_table *t, struct model *m)
{
	static uint8_t value[LONG];
	const uint32_t size = rand() % 8 ? (uint32_t)rand() % 100 : (uint32_t)rand() % LONG;
	const uint64_t expected = expected_of(m), is = m->is_there ? m->revision : 0;
	const uint32_t old = m->is_there ? cells_of(m->name, m->size) : 0;
	int want = 0;

	for (uint32_t i = 0; i < size; i++)
		value[i] = (uint8_t)rand();
	if (expected != ANY && expected != is)
		want = is && !expected ? -EEXIST : -ESTALE;
	else if ((!is && used_keys() == KEYS) ||
		 used_cells() - old + cells_of(m->name, size) > CELLS)
		want = -ENOSPC;
	cr_assert_eq(key_table_put(t, text(m->name), value, size, expected), want);
	if (want)
		return;
	m->is_there = true;
	m->size = size;
	m->revision = m->changed = t->revision;
	memcpy(m->value, value, size);
}

static void delete_one(struct key_table *t, struct model *m)
{
	const uint64_t expected = expected_of(m);
	int want = !m->is_there                                 ? -ENOENT
		   : expected != ANY && expected != m->revision ? -ESTALE
								: 0;

	cr_assert_eq(key_table_delete(t, text(m->name), expected), want);
	if (want)
		return;
	m->is_there = false;
	m->changed = t->revision;
}

static void expect_value(const struct key_table *t, const struct model *m)
{
	const struct key_node *n = key_table_find(t, text(m->name));
	static uint8_t value[LONG];
	char name[300] = "";

	cr_assert_eq(n != NULL, m->is_there);
	if (!n)
		return;
	cr_assert(n->revision == m->revision && n->value_bytes == m->size);
	key_table_read_value(t, n, value);
	key_table_read_key(t, n, name);
	cr_assert_eq(memcmp(value, m->value, m->size), 0);
	cr_assert_str_eq(name, m->name);
}

/* No deletion is missed: the gap of what is not there is not older. */
static void expect_gap(const struct key_table *t, const struct model *m)
{
	if (!m->is_there)
		cr_assert_geq(key_tree_gap(t, text(m->name)), m->changed);
}

static int by_name(const void *a, const void *b)
{
	const struct model *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Those that a list must have, in order. */
static unsigned listed(const char *prefix, const char *after, uint64_t since,
		       const struct model *ret[4 * KEYS])
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4 * KEYS; i++)
		if (model[i].is_there && !strncmp(model[i].name, prefix, strlen(prefix)) &&
		    strcmp(model[i].name, after) > 0 && model[i].revision > since)
			ret[n++] = &model[i];
	qsort(ret, n, sizeof *ret, by_name);
	return n;
}

static void expect_list(const struct key_table *t, const char *prefix)
{
	static uint64_t room[4096 / 8];
	const struct model *want[4 * KEYS];
	const char *after = rand() % 2 ? "" : model[(unsigned)rand() % (4 * KEYS)].name;
	const uint64_t since = rand() % 2 ? 0 : (uint64_t)rand() % (t->revision + 1);
	const unsigned n = listed(prefix, after, since, want);
	struct key_page page = {.bytes = (uint8_t *)room,
				.size = 8 * ((uint32_t)rand() % 512),
				.most = 1 + (uint32_t)rand() % 40};
	uint32_t at = 0;

	key_range_list(t, text(prefix), text(after), since, &page);
	cr_assert_leq(page.used, page.size);
	cr_assert_leq(page.entries, page.most);
	for (unsigned i = 0; i < page.entries; i++) {
		const struct quoit_key_entry *e =
			(const struct quoit_key_entry *)(const void *)(page.bytes + at);

		cr_assert(i < n && !strcmp(e->key, want[i]->name) &&
			  e->revision == want[i]->revision && e->bytes == want[i]->size);
		at += e->size;
	}
	cr_assert_eq(at, page.used);
	cr_assert_eq(page.lacks != 0, page.entries < n);
	cr_assert(!page.lacks || page.entries == page.most || page.used + page.lacks > page.size);
}

static void expect_sum(const struct key_table *t, const char *prefix)
{
	const struct key_sum sum = key_range_sum(t, text(prefix));
	uint64_t newest = 0, deleted = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < 4 * KEYS; i++) {
		const struct model *m = &model[i];

		if (strncmp(m->name, prefix, strlen(prefix)) != 0)
			continue;
		count += m->is_there;
		if (m->is_there && m->revision > newest)
			newest = m->revision;
		if (!m->is_there && m->changed > deleted)
			deleted = m->changed;
	}
	cr_assert_eq(sum.count, count);
	cr_assert_eq(sum.newest, newest);
	cr_assert_geq(sum.gap, deleted);
	cr_assert_leq(sum.gap, t->revision);
}

static uint32_t check_weights(const struct key_table *t, uint32_t i)
{
	uint32_t left, right;

	if (!i)
		return 0;
	left = check_weights(t, t->node[i].left);
	right = check_weights(t, t->node[i].right);
	cr_assert_eq(t->node[i].count, left + right + 1);
	cr_assert(left + 1 <= 3 * (right + 1) && right + 1 <= 3 * (left + 1));
	return left + right + 1;
}

Test(key_table, random_changes_leave_what_a_plain_list_has)
{
	struct key_table t = opened(KEYS, CELLS);

	srand(7);
	name_keys();
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct model *m = entry((unsigned)rand() % (4 * KEYS));
		char prefix[300];

		strcpy(prefix, model[(unsigned)rand() % (4 * KEYS)].name);
		prefix[(unsigned)rand() % (strlen(prefix) + 1)] = '\0';
		if (rand() % 5 < 3)
			put_one(&t, m);
		else
			delete_one(&t, m);
		m = entry((unsigned)rand() % (4 * KEYS));
		expect_value(&t, m);
		expect_gap(&t, m);
		expect_list(&t, prefix);
		expect_sum(&t, prefix);
		if (i % 16 == 0)
			check_weights(&t, t.root);
		cr_assert_eq(t.nodes.used, used_keys());
		cr_assert_eq(t.cells.used, used_cells());
	}
	key_table_done(&t);
}

/* ---- many ---- */

#define MANY 200000u

static unsigned depth(const struct key_table *t, uint32_t i)
{
	unsigned left = i ? depth(t, t->node[i].left) : 0;
	unsigned right = i ? depth(t, t->node[i].right) : 0;

	return i ? 1 + (left > right ? left : right) : 0;
}

Test(key_table, keys_in_order_do_not_make_it_deep)
{
	struct key_table t = opened(MANY, 0);
	char name[16];

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "%08u", i);
		cr_assert_eq(key_table_put(&t, text(name), NULL, 0, 0), 0);
	}
	cr_expect_leq(depth(&t, t.root), 43, "2.4 log2 200000");
	for (unsigned i = 0; i < MANY; i++)
		if (i % 100) {
			snprintf(name, sizeof name, "%08u", i);
			cr_assert_eq(key_table_delete(&t, text(name), ANY), 0);
		}
	cr_expect_leq(depth(&t, t.root), 27, "2.4 log2 2000");
	check_weights(&t, t.root);
	key_table_done(&t);
}

/* A deletion does not tell those who wait for keys far from it. */
Test(key_table, a_gap_ends_at_the_next_key)
{
	struct key_table t = opened(8, 0);

	for (const char *s = "bdfh"; *s; s++)
		cr_assert_eq(key_table_put(&t, (struct key_text){s, 1}, NULL, 0, 0), 0);
	cr_assert_eq(key_table_delete(&t, text("d"), ANY), 0);
	cr_expect_eq(key_tree_gap(&t, text("a")), 0);
	cr_expect_eq(key_tree_gap(&t, text("c")), 5);
	cr_expect_eq(key_tree_gap(&t, text("e")), 5);
	cr_expect_eq(key_tree_gap(&t, text("g")), 0);
	cr_expect_eq(key_range_sum(&t, text("g")).gap, 0);
	cr_assert_eq(key_table_delete(&t, text("b"), ANY), 0);
	cr_expect_eq(key_tree_gap(&t, text("a")), 6);
	cr_expect_eq(key_tree_gap(&t, text("e")), 6, "one gap now");
	key_table_done(&t);
}
