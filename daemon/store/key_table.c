/* SPDX-License-Identifier: MIT */
/* key_table.c - keys and their values, in memory that was taken before */
#include "key_table.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "lazy_pages.h"

/* ---- pools ---- */

/* The links of spare entries are their first words. */
static uint32_t take(struct key_pool *p, uint32_t link)
{
	uint32_t i = p->spare;

	p->used++;
	if (!i)
		return ++p->made;
	p->spare = link;
	return i;
}

static uint32_t take_node(struct key_table *t)
{
	return take(&t->nodes, t->node[t->nodes.spare].left);
}

static uint32_t take_cell(struct key_table *t)
{
	return take(&t->cells, t->cell[t->cells.spare].next);
}

static void give_node(struct key_table *t, uint32_t i)
{
	t->node[i].left = t->nodes.spare;
	t->nodes.spare = i;
	t->nodes.used--;
}

/* ---- the text of a node: its key, and the value behind it ---- */

/* A piece of it: what is left there, and the cell with the next one. */
struct piece {
	uint8_t *text;
	uint32_t left;
	uint32_t next;
};

static struct piece first_piece(const struct key_table *t, uint32_t node)
{
	struct key_node *n = &t->node[node];

	return (struct piece){n->text, KEY_NODE_TEXT, n->cells};
}

static struct piece piece_of_cell(const struct key_table *t, uint32_t cell)
{
	struct key_cell *c = &t->cell[cell];

	return (struct piece){c->text, KEY_CELL_TEXT, c->next};
}

/* At least one byte of it, and at most n, which there are; counts them down. */
static uint32_t advance(const struct key_table *t, struct piece *p, uint32_t *n)
{
	uint32_t now;

	if (!p->left)
		*p = piece_of_cell(t, p->next);
	now = *n < p->left ? *n : p->left;
	p->text += now;
	p->left -= now;
	*n -= now;
	return now;
}

static void skip(const struct key_table *t, struct piece *p, uint32_t n)
{
	while (n)
		(void)advance(t, p, &n);
}

static void read_text(const struct key_table *t, struct piece *p, uint8_t *to, uint32_t n)
{
	while (n) {
		uint32_t now = advance(t, p, &n);

		memcpy(to, p->text - now, now);
		to += now;
	}
}

static void write_text(const struct key_table *t, struct piece *p, const void *from, uint32_t n)
{
	const uint8_t *bytes = from;

	while (n) {
		uint32_t now = advance(t, p, &n);

		memcpy(p->text - now, bytes, now);
		bytes += now;
	}
}

static uint32_t cells_for(uint32_t bytes)
{
	return bytes <= KEY_NODE_TEXT ? 0
				      : (bytes - KEY_NODE_TEXT + KEY_CELL_TEXT - 1) / KEY_CELL_TEXT;
}

static uint32_t cells_of(const struct key_node *n)
{
	return cells_for(n->key_bytes + n->value_bytes);
}

/* The chain goes back as a whole. */
static void give_cells(struct key_table *t, struct key_node *n)
{
	uint32_t last = n->cells;

	if (!last)
		return;
	while (t->cell[last].next)
		last = t->cell[last].next;
	t->cell[last].next = t->cells.spare;
	t->cells.spare = n->cells;
	t->cells.used -= cells_of(n);
	n->cells = 0;
}

/* There is room. */
static void take_cells(struct key_table *t, struct key_node *n, uint32_t count)
{
	uint32_t *at = &n->cells;

	while (count--) {
		*at = take_cell(t);
		at = &t->cell[*at].next;
	}
	*at = 0;
}

void key_table_read_value(const struct key_table *t, const struct key_node *n, uint8_t *to)
{
	struct piece p = first_piece(t, (uint32_t)(n - t->node));

	skip(t, &p, n->key_bytes);
	read_text(t, &p, to, n->value_bytes);
}

void key_table_read_key(const struct key_table *t, const struct key_node *n, char *to)
{
	struct piece p = first_piece(t, (uint32_t)(n - t->node));

	read_text(t, &p, (uint8_t *)to, n->key_bytes);
}

/* As memcmp of their first n bytes, which both have. */
static int compare(const struct key_table *t, const char *key, const struct key_node *n,
		   uint32_t bytes)
{
	struct piece p = first_piece(t, (uint32_t)(n - t->node));
	int order = 0;

	while (bytes && !order) {
		uint32_t now = advance(t, &p, &bytes);

		order = memcmp(key, p.text - now, now);
		key += now;
	}
	return order;
}

int key_order(const struct key_table *t, struct key_text key, const struct key_node *n)
{
	uint32_t both = key.size < n->key_bytes ? key.size : n->key_bytes;
	int order = compare(t, key.bytes, n, both);

	return order ? order : (int)key.size - n->key_bytes;
}

int key_prefix_order(const struct key_table *t, struct key_text prefix, const struct key_node *n)
{
	uint32_t both = prefix.size < n->key_bytes ? prefix.size : n->key_bytes;
	int order = compare(t, prefix.bytes, n, both);

	return order ? order : prefix.size > n->key_bytes;
}

/* ---- the table ---- */

uint64_t key_table_cost(uint32_t keys, uint32_t cells)
{
	return (keys + UINT64_C(1)) * sizeof(struct key_node) +
	       (cells + UINT64_C(1)) * sizeof(struct key_cell);
}

int key_table_init(struct key_table *t, uint32_t keys, uint32_t cells)
{
	*t = (struct key_table){.nodes.most = keys, .cells.most = cells};
	t->node = lazy_pages_map((keys + UINT64_C(1)) * sizeof *t->node);
	t->cell = lazy_pages_map((cells + UINT64_C(1)) * sizeof *t->cell);
	if (t->node && t->cell)
		return 0;
	key_table_done(t);
	return -ENOMEM;
}

void key_table_done(struct key_table *t)
{
	lazy_pages_unmap(t->node, (t->nodes.most + UINT64_C(1)) * sizeof *t->node);
	lazy_pages_unmap(t->cell, (t->cells.most + UINT64_C(1)) * sizeof *t->cell);
	t->node = NULL;
	t->cell = NULL;
}

uint64_t key_table_used(const struct key_table *t)
{
	return t->nodes.used * sizeof(struct key_node) + t->cells.used * sizeof(struct key_cell);
}

struct key_node *key_table_find(const struct key_table *t, struct key_text key)
{
	uint32_t i = t->root;
	int order = 1;

	while (i && (order = key_order(t, key, &t->node[i])) != 0)
		i = order < 0 ? t->node[i].left : t->node[i].right;
	return i ? &t->node[i] : NULL;
}

/* The node is free for a new key, which lies in a gap that has a revision. */
static struct key_node *add(struct key_table *t, struct key_text key)
{
	struct key_node *n = &t->node[take_node(t)];

	n->cells = 0;
	n->key_bytes = (uint8_t)key.size;
	n->value_bytes = 0;
	n->gap = key_tree_gap(t, key);
	return n;
}

static void write(struct key_table *t, struct key_node *n, struct key_text key,
		  const uint8_t *value, uint32_t bytes)
{
	struct piece p;

	n->value_bytes = bytes;
	n->revision = ++t->revision;
	take_cells(t, n, cells_of(n));
	p = first_piece(t, (uint32_t)(n - t->node));
	write_text(t, &p, key.bytes, key.size);
	write_text(t, &p, value, bytes);
}

static bool has_room(const struct key_table *t, const struct key_node *n, uint32_t bytes)
{
	uint32_t had = n ? cells_of(n) : 0;

	return (n || t->nodes.used < t->nodes.most) &&
	       t->cells.used - had + cells_for(bytes) <= t->cells.most;
}

int key_table_put(struct key_table *t, struct key_text key, const uint8_t *value, uint32_t bytes,
		  uint64_t expected)
{
	struct key_node *n = key_table_find(t, key);

	if (expected != UINT64_MAX && expected != (n ? n->revision : 0))
		return n && !expected ? -EEXIST : -ESTALE;
	if (!has_room(t, n, key.size + bytes))
		return -ENOSPC;
	if (n) {
		give_cells(t, n);
		write(t, n, key, value, bytes);
		key_tree_touch(t, key);
	} else {
		n = add(t, key);
		write(t, n, key, value, bytes);
		key_tree_insert(t, (uint32_t)(n - t->node), key);
	}
	return 0;
}

int key_table_delete(struct key_table *t, struct key_text key, uint64_t expected)
{
	struct key_node *n = key_table_find(t, key);
	uint64_t gap;
	uint32_t i;

	if (!n)
		return -ENOENT;
	if (expected != UINT64_MAX && expected != n->revision)
		return -ESTALE;
	gap = ++t->revision; /* the newest of all */
	i = key_tree_remove(t, key);
	key_tree_raise_gap(t, key, gap);
	give_cells(t, &t->node[i]);
	give_node(t, i);
	return 0;
}
