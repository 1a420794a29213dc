/* SPDX-License-Identifier: MIT */
/* key_range.c - what there is to say of all keys with a prefix, and lists of them */
#include <stddef.h>
#include <string.h>

#include <quoit/abi.h>

#include "key_table.h"

/* ---- sums ---- */

static void add_node(struct key_sum *sum, const struct key_node *n)
{
	sum->count++;
	sum->newest = n->revision > sum->newest ? n->revision : sum->newest;
	sum->gap = n->gap > sum->gap ? n->gap : sum->gap;
}

static void add_subtree(struct key_sum *sum, const struct key_node *n)
{
	sum->count += n->count;
	sum->newest = n->newest > sum->newest ? n->newest : sum->newest;
	sum->gap = n->newest_gap > sum->gap ? n->newest_gap : sum->gap;
}

/* Those of a subtree that have the prefix, where none comes behind them.  Sets the gap before them. */
static void add_left(const struct key_table *t, uint32_t i, struct key_text prefix,
		     struct key_sum *sum, uint64_t *gap_before)
{
	while (i) {
		const struct key_node *n = &t->node[i];

		if (key_prefix_order(t, prefix, n) > 0) {
			*gap_before = n->gap;
			i = n->right;
		} else {
			add_node(sum, n);
			add_subtree(sum, &t->node[n->right]);
			i = n->left;
		}
	}
}

/* The same where none comes before them. */
static void add_right(const struct key_table *t, uint32_t i, struct key_text prefix,
		      struct key_sum *sum)
{
	while (i) {
		const struct key_node *n = &t->node[i];

		if (key_prefix_order(t, prefix, n) < 0) {
			i = n->left;
		} else {
			add_node(sum, n);
			add_subtree(sum, &t->node[n->left]);
			i = n->right;
		}
	}
}

struct key_sum key_range_sum(const struct key_table *t, struct key_text prefix)
{
	struct key_sum sum = {0};
	uint64_t gap_before = t->first_gap;
	uint32_t i = t->root;
	int order;

	while (i && (order = key_prefix_order(t, prefix, &t->node[i])) != 0) {
		if (order > 0)
			gap_before = t->node[i].gap;
		i = order > 0 ? t->node[i].right : t->node[i].left;
	}
	if (i) {
		add_left(t, t->node[i].left, prefix, &sum, &gap_before);
		add_node(&sum, &t->node[i]);
		add_right(t, t->node[i].right, prefix, &sum);
	}
	if (gap_before >
	    sum.gap) /* a key of the range may have been the last one before its first */
		sum.gap = gap_before;
	return sum;
}

/* ---- lists ---- */

struct walk {
	const struct key_table *t;
	struct key_text prefix, after;
	uint64_t since;
	struct key_page *page;
};

/* False: there is no room for it. */
static bool list_node(const struct walk *w, const struct key_node *n)
{
	const uint32_t head = offsetof(struct quoit_key_entry, key);
	struct quoit_key_entry e = {.revision = n->revision, .bytes = n->value_bytes};
	struct key_page *page = w->page;

	if (n->revision <= w->since)
		return true;
	e.size = (head + n->key_bytes + 1 + 7) / 8 * 8;
	if (page->entries == page->most || e.size > page->size - page->used) {
		page->lacks = e.size;
		return false;
	}
	memset(page->bytes + page->used, 0, e.size);
	memcpy(page->bytes + page->used, &e, head);
	key_table_read_key(w->t, n, (char *)page->bytes + page->used + head);
	page->used += e.size;
	page->entries++;
	return true;
}

/*
 * In order.  A subtree without news is left out, so what is walked is what is listed, and the two
 * ways to the ends of the range.
 */
static bool list_subtree(const struct walk *w, uint32_t i)
{
	const struct key_node *n = &w->t->node[i];
	int order;

	if (!i || n->newest <= w->since)
		return true;
	order = key_prefix_order(w->t, w->prefix, n);
	if (order < 0)
		return list_subtree(w, n->left);
	if (order > 0 || (w->after.size && key_order(w->t, w->after, n) >= 0))
		return list_subtree(w, n->right);
	return list_subtree(w, n->left) && list_node(w, n) && list_subtree(w, n->right);
}

void key_range_list(const struct key_table *t, struct key_text prefix, struct key_text after,
		    uint64_t since, struct key_page *page)
{
	const struct walk w = {t, prefix, after, since, page};

	page->used = page->entries = page->lacks = 0;
	(void)list_subtree(&w, t->root);
}
