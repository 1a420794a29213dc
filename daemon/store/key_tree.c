/* SPDX-License-Identifier: MIT */
/*
 * key_tree.c - the order of keys: a tree balanced by weight.
 *
 * The weight of a subtree is its nodes and one more.  Of two siblings neither weighs more than three
 * times the other; so no way down is longer than about 2.4 log2 n.  The two constants are those that
 * Hirai and Yamamoto have proved to be right together ("Balancing weight-balanced trees", 2011).
 */
#include <stddef.h>

#include "key_table.h"

#define HEAVIER     3u /* than its sibling, at most */
#define HEAVY_INNER 2u /* a child's inner child that weighs as much needs a double rotation */

static uint64_t weight(const struct key_table *t, uint32_t i)
{
	return t->node[i].count + UINT64_C(1); /* entry 0 is all zeros */
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What a node says of its subtree, from its children. */
static uint32_t sum_up(struct key_table *t, uint32_t i)
{
	struct key_node *n = &t->node[i];
	const struct key_node *l = &t->node[n->left], *r = &t->node[n->right];

	n->count = l->count + r->count + 1;
	n->newest = larger(n->revision, larger(l->newest, r->newest));
	n->newest_gap = larger(n->gap, larger(l->newest_gap, r->newest_gap));
	return i;
}

static uint32_t rotate_left(struct key_table *t, uint32_t i)
{
	uint32_t top = t->node[i].right;

	t->node[i].right = t->node[top].left;
	t->node[top].left = sum_up(t, i);
	return sum_up(t, top);
}

static uint32_t rotate_right(struct key_table *t, uint32_t i)
{
	uint32_t top = t->node[i].left;

	t->node[i].left = t->node[top].right;
	t->node[top].right = sum_up(t, i);
	return sum_up(t, top);
}

/* One of its subtrees has become a node larger or smaller.  Returns the new top. */
static uint32_t balance(struct key_table *t, uint32_t i)
{
	struct key_node *n = &t->node[i];

	if (weight(t, n->right) > HEAVIER * weight(t, n->left)) {
		const struct key_node *r = &t->node[n->right];

		if (weight(t, r->left) >= HEAVY_INNER * weight(t, r->right))
			n->right = rotate_right(t, n->right);
		return rotate_left(t, i);
	}
	if (weight(t, n->left) > HEAVIER * weight(t, n->right)) {
		const struct key_node *l = &t->node[n->left];

		if (weight(t, l->right) >= HEAVY_INNER * weight(t, l->left))
			n->left = rotate_left(t, n->left);
		return rotate_right(t, i);
	}
	return sum_up(t, i);
}

/* ---- one key comes, changes, goes ---- */

static uint32_t insert(struct key_table *t, uint32_t top, uint32_t node, struct key_text key)
{
	struct key_node *n = &t->node[top];

	if (!top) {
		t->node[node].left = t->node[node].right = 0;
		return sum_up(t, node);
	}
	if (key_order(t, key, n) < 0)
		n->left = insert(t, n->left, node, key);
	else
		n->right = insert(t, n->right, node, key);
	return balance(t, top);
}

void key_tree_insert(struct key_table *t, uint32_t node, struct key_text key)
{
	t->root = insert(t, t->root, node, key);
}

static void touch(struct key_table *t, uint32_t top, struct key_text key)
{
	int order = key_order(t, key, &t->node[top]);

	if (order)
		touch(t, order < 0 ? t->node[top].left : t->node[top].right, key);
	sum_up(t, top);
}

void key_tree_touch(struct key_table *t, struct key_text key)
{
	touch(t, t->root, key);
}

/* Take the first node of a subtree out. */
static uint32_t remove_first(struct key_table *t, uint32_t top, uint32_t *ret_first)
{
	struct key_node *n = &t->node[top];

	if (!n->left) {
		*ret_first = top;
		return n->right;
	}
	n->left = remove_first(t, n->left, ret_first);
	return balance(t, top);
}

/* The node goes; another one of its subtree, or none, is in its place. */
static uint32_t replace(struct key_table *t, uint32_t i)
{
	uint32_t left = t->node[i].left, right = t->node[i].right, first;

	if (!left || !right)
		return left ? left : right;
	right = remove_first(t, right, &first);
	t->node[first].left = left;
	t->node[first].right = right;
	return balance(t, first);
}

static uint32_t remove_key(struct key_table *t, uint32_t top, struct key_text key,
			   uint32_t *ret_node)
{
	struct key_node *n = &t->node[top];
	int order = key_order(t, key, n);

	if (!order) {
		*ret_node = top;
		return replace(t, top);
	}
	if (order < 0)
		n->left = remove_key(t, n->left, key, ret_node);
	else
		n->right = remove_key(t, n->right, key, ret_node);
	return balance(t, top);
}

uint32_t key_tree_remove(struct key_table *t, struct key_text key)
{
	uint32_t node = 0;

	t->root = remove_key(t, t->root, key, &node);
	return node;
}

/* ---- gaps ---- */

uint64_t key_tree_gap(const struct key_table *t, struct key_text key)
{
	uint64_t gap = t->first_gap;

	for (uint32_t i = t->root; i;)
		if (key_order(t, key, &t->node[i]) > 0) {
			gap = t->node[i].gap;
			i = t->node[i].right;
		} else {
			i = t->node[i].left;
		}
	return gap;
}

/* False: all nodes of the subtree come behind the key. */
static bool raise_gap(struct key_table *t, uint32_t top, struct key_text key, uint64_t revision)
{
	struct key_node *n = &t->node[top];
	bool is_before;

	if (!top)
		return false;
	is_before = key_order(t, key, n) > 0;
	if (!raise_gap(t, is_before ? n->right : n->left, key, revision)) {
		if (!is_before)
			return false;
		n->gap = larger(n->gap, revision);
	}
	sum_up(t, top);
	return true;
}

void key_tree_raise_gap(struct key_table *t, struct key_text key, uint64_t revision)
{
	if (!raise_gap(t, t->root, key, revision))
		t->first_gap = larger(t->first_gap, revision);
}
