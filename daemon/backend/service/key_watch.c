/* SPDX-License-Identifier: MIT */
/* key_watch.c - calls that wait for changes of keys */
#include "key_watch.h"

#include <string.h>

#include "answers.h"
#include "call_queue.h"
#include "keys.h"

/* So many calls are looked at in one pass. */
#define LOOKS 32u

/* ---- buckets ---- */

/* Of a text that grows by a byte. */
static uint64_t hash_on(uint64_t hash, char byte)
{
	return (hash ^ (uint8_t)byte) * UINT64_C(0x100000001b3);
}

static struct key_bucket *bucket_of(struct keyspace *k, uint64_t hash, bool prefixes)
{
	hash = (hash + prefixes) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= hash >> 32;
	hash *= k->secret | 1;
	return &k->bucket[hash >> 54];
}
_Static_assert(KEY_BUCKETS == 1u << 10, "the upper bits of a hash choose one");

static struct key_bucket *find_bucket(struct keyspace *k, struct key_text text, bool prefixes)
{
	uint64_t hash = k->secret;

	for (uint32_t i = 0; i < text.size; i++)
		hash = hash_on(hash, text.bytes[i]);
	return bucket_of(k, hash, prefixes);
}

/* ---- looking ---- */

static bool is_prefix(const struct service_call *call)
{
	return call->entry.arg == QUOIT_WATCH_PREFIX;
}

/* The text has been read before: it is as it was. */
static struct key_text text_of(const struct service_call *call)
{
	const struct key_words *w = call->key;

	return (struct key_text){w->key, (uint32_t)strnlen(w->key, w->key_bytes)};
}

static uint64_t newest_of_prefix(const struct key_table *t, struct key_text prefix,
				 struct quoit_key_state *ret)
{
	struct key_sum sum = key_range_sum(t, prefix);

	ret->revision = sum.newest;
	ret->keys = sum.count;
	return sum.newest > sum.gap ? sum.newest : sum.gap;
}

static uint64_t newest_of_key(const struct key_table *t, struct key_text key,
			      struct quoit_key_state *ret)
{
	const struct key_node *n = key_table_find(t, key);

	ret->keys = t->nodes.used;
	if (!n)
		return key_tree_gap(t, key);
	ret->revision = n->revision;
	ret->bytes = n->value_bytes;
	return n->revision;
}

/* Is there a change that it has not seen? */
static bool is_due(const struct key_table *t, const struct service_call *call,
		   struct quoit_key_state *ret)
{
	const struct key_text text = text_of(call);

	*ret = (struct quoit_key_state){.now = t->revision};
	return (is_prefix(call) ? newest_of_prefix(t, text, ret) : newest_of_key(t, text, ret)) >
	       call->entry.scalar[0];
}

/* ---- waiting ---- */

static void wait_in(struct keyspace *k, struct service_call *call, struct key_text text)
{
	struct key_bucket *b = find_bucket(k, text, is_prefix(call));

	call->key->bucket = b;
	b->count++;
	if (is_prefix(call))
		k->prefix_waits[text.size]++;
	call_wait_in(&b->calls, call);
}

void key_watch_stopped(struct keyspace *k, const struct service_call *call)
{
	call->key->bucket->count--;
	if (is_prefix(call))
		k->prefix_waits[text_of(call).size]--;
}

void key_watch(struct object *o, struct service_call *call)
{
	struct keyspace *k = o->keyspace;
	struct quoit_key_state state;
	struct key_text text;

	if (!(call->entry.arg ? keys_read_prefix(call, &text) : keys_read_key(call, &text)))
		return;
	if (is_due(&k->table, call, &state))
		keys_answer(call, &state);
	else
		wait_in(k, call, text);
}

/* ---- waking ---- */

static void wake_bucket(struct keyspace *k, struct key_bucket *b)
{
	b->to_look = b->count;
	if (!b->count || b->is_woken)
		return;
	b->is_woken = true;
	b->next = NULL;
	*(k->woken ? &k->last_woken->next : &k->woken) = b;
	k->last_woken = b;
}

static void wake_prefix(struct keyspace *k, uint64_t hash, uint32_t size)
{
	if (k->prefix_waits[size])
		wake_bucket(k, bucket_of(k, hash, true));
}

static void append(struct reactor *r, struct keyspace *k)
{
	k->is_woken = true;
	k->next_woken = NULL;
	*(r->woken_keyspaces ? &r->last_woken_keyspace->next_woken : &r->woken_keyspaces) = k;
	r->last_woken_keyspace = k;
}

void key_watch_wake(struct keyspace *k, struct reactor *home, struct key_text key)
{
	uint64_t hash = k->secret;

	wake_prefix(k, hash, 0);
	for (uint32_t i = 0; i < key.size; i++) {
		hash = hash_on(hash, key.bytes[i]);
		wake_prefix(k, hash, i + 1);
	}
	wake_bucket(k, bucket_of(k, hash, false));
	if (k->woken && !k->is_woken)
		append(home, k);
}

/* The oldest call of the bucket: answer it, or let it wait on behind the others. */
static void look_at_oldest(struct keyspace *k, struct key_bucket *b)
{
	struct service_call *call = b->calls.oldest;
	struct quoit_key_state state;

	b->to_look--;
	if (is_due(&k->table, call, &state)) {
		call_stop_waiting(call);
		key_watch_stopped(k, call);
		keys_answer(call, &state);
	} else {
		call_queue_remove(&b->calls, call);
		call_queue_put(&b->calls, call);
	}
}

static void look_at_keyspace(struct keyspace *k)
{
	struct key_bucket *b;
	unsigned looks = 0;

	while ((b = k->woken) != NULL) {
		for (; b->to_look && b->count && looks < LOOKS; looks++)
			look_at_oldest(k, b);
		if (b->to_look && b->count)
			return;
		b->is_woken = false;
		k->woken = b->next;
	}
}

/* All keyspaces have their turn: one that has more to look at is the last one next time. */
bool key_watch_look(struct reactor *r)
{
	struct keyspace *k = r->woken_keyspaces;

	if (!k)
		return false;
	r->woken_keyspaces = k->next_woken;
	k->is_woken = false;
	look_at_keyspace(k);
	if (k->woken)
		append(r, k);
	return true;
}

void key_watch_end(struct reactor *r, const struct keyspace *k)
{
	struct keyspace **at = &r->woken_keyspaces, *before = NULL;

	while (*at && *at != k) {
		before = *at;
		at = &before->next_woken;
	}
	if (!*at)
		return;
	*at = k->next_woken;
	if (r->last_woken_keyspace == k)
		r->last_woken_keyspace = before;
}
