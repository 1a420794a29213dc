/* SPDX-License-Identifier: MIT */
/*
 * key_table.h - keys in their order, each with a value and the revision of its last change.
 *
 * Each change of a key has the next revision of the table.  Keys are the nodes of a tree whose
 * subtrees have about equal weights, so that each step costs O(log n), however keys come and go.  A
 * node has the first bytes of its key and value, and a chain of cells has the others: so all memory
 * is taken when the table is made, and what is free is free for a key of any length.
 *
 * Of a deleted key nothing is kept.  Instead each node has, as the revision of the gap behind it, the
 * newest deletion of a key between it and the next one.  So it is known at any time whether a key,
 * or one that begins like this, may have changed since a revision: no change is missed, and one that
 * was not may be told if a neighbour was deleted.
 *
 * Not thread-safe.  Keys have 1 to 255 bytes, which are compared as memcmp does.
 */
#ifndef QUOITD_KEY_TABLE_H
#define QUOITD_KEY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define KEY_NODE_TEXT 75u /* bytes of a key and its value that lie in its node */
#define KEY_CELL_TEXT 252u

struct key_node {
	uint32_t left, right; /* 0: none */
	uint32_t count;       /* nodes of its subtree */
	uint32_t cells;       /* the first one of its chain; 0: none */
	uint64_t revision;
	uint64_t gap;        /* the newest deletion between this key and the next; 0: none */
	uint64_t newest;     /* of the revisions in its subtree */
	uint64_t newest_gap; /* the same of the gaps */
	uint32_t value_bytes;
	uint8_t key_bytes;
	uint8_t text[KEY_NODE_TEXT]; /* the key, and the value behind it */
};
_Static_assert(sizeof(struct key_node) == 128, "two lines");

struct key_cell {
	uint32_t next; /* 0: none */
	uint8_t text[KEY_CELL_TEXT];
};
_Static_assert(sizeof(struct key_cell) == 256, "four lines");

/* Entries of one size that are taken and given back; number 0 is none. */
struct key_pool {
	uint32_t most, made, used;
	uint32_t spare; /* the first one that was given back; 0: none */
};

struct key_table {
	struct key_pool nodes, cells;
	struct key_node *node;
	struct key_cell *cell;
	uint32_t root;
	uint64_t revision;  /* of the newest change */
	uint64_t first_gap; /* the newest deletion before the first key */
};

struct key_text {
	const char *bytes;
	uint32_t size;
};

/* ---- key_table.c: memory ---- */

/* Bytes that it takes; `cells` may be 0. */
uint64_t key_table_cost(uint32_t keys, uint32_t cells);

/* -ENOMEM. */
int key_table_init(struct key_table *t, uint32_t keys, uint32_t cells);
void key_table_done(struct key_table *t);

/* Bytes of what is in it. */
uint64_t key_table_used(const struct key_table *t);

/* Copy the value of a key, or the key itself. */
void key_table_read_value(const struct key_table *t, const struct key_node *n, uint8_t *to);
void key_table_read_key(const struct key_table *t, const struct key_node *n, char *to);

/* NULL: there is none. */
struct key_node *key_table_find(const struct key_table *t, struct key_text key);

/*
 * Set the key's value, if it has the revision `expected` (0: if there is no such key; UINT64_MAX:
 * whatever it has).  -EEXIST, -ESTALE: it has another; -ENOSPC: there is no room.
 */
int key_table_put(struct key_table *t, struct key_text key, const uint8_t *value, uint32_t bytes,
		  uint64_t expected);

/* Delete it.  -ENOENT: there is none; -ESTALE: it has another revision. */
int key_table_delete(struct key_table *t, struct key_text key, uint64_t expected);

/* ---- key_tree.c: the order, for the others ---- */

/* Below, equal or above 0, as the key comes before, is, or comes behind that of the node. */
int key_order(const struct key_table *t, struct key_text key, const struct key_node *n);

/* The same of a prefix: 0 for each key that begins with it. */
int key_prefix_order(const struct key_table *t, struct key_text prefix, const struct key_node *n);

/* Put a node into the tree, whose key is not there; take the node of a key out, which is there. */
void key_tree_insert(struct key_table *t, uint32_t node, struct key_text key);
uint32_t key_tree_remove(struct key_table *t, struct key_text key);

/* The revision of the node with this key has changed. */
void key_tree_touch(struct key_table *t, struct key_text key);

/* The gap in which a key lies that is not there.  Let it have at least this revision. */
uint64_t key_tree_gap(const struct key_table *t, struct key_text key);
void key_tree_raise_gap(struct key_table *t, struct key_text key, uint64_t revision);

/* ---- key_range.c: many keys ---- */

struct key_sum {
	uint32_t count;  /* keys with a prefix */
	uint64_t newest; /* of their revisions; 0: there are none */
	uint64_t gap;    /* the newest deletion that may have been of one */
};

struct key_sum key_range_sum(const struct key_table *t, struct key_text prefix);

struct key_page {
	uint8_t *bytes; /* struct quoit_key_entry, one behind the other */
	uint32_t size;
	uint32_t used;    /* of these */
	uint32_t entries; /* it has */
	uint32_t most;    /* entries that it may have */
	uint32_t lacks;   /* bytes that the next entry would take; 0: there was room for all */
};

/*
 * Fill a page with those that begin with `prefix`, come behind `after` (of size 0: from the first
 * one), and have changed after the revision `since`.
 */
void key_range_list(const struct key_table *t, struct key_text prefix, struct key_text after,
		    uint64_t since, struct key_page *page);

#endif
