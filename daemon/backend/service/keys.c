/* SPDX-License-Identifier: MIT */
/* keys.c - does what calls ask of a keyspace: put, get, delete, list */
#include "keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "answers.h"
#include "key_watch.h"

/* ---- refusals ---- */

static void refuse_values(struct service_call *call, int32_t error, uint8_t field, uint64_t found,
			  uint64_t allowed)
{
	call->error = (struct quoit_error){.field = field, .value = {found, allowed}};
	call_answer(call, error);
}

/* The key is not what it must be.  n: what it is; NULL: it is not there. */
static void refuse_revision(struct service_call *call, int32_t error, const struct key_node *n)
{
	refuse_values(call, error, QUOIT_FIELD_REVISION, n ? n->revision : 0,
		      call->entry.scalar[0]);
}

static void refuse_room(const struct keyspace *k, struct service_call *call)
{
	const struct key_table *t = &k->table;
	char why[QUOIT_CALL_TEXT_BYTES];

	snprintf(why, sizeof why, "it has %u of %u keys, and %llu of %llu bytes beyond these",
		 t->nodes.used, t->nodes.most,
		 (unsigned long long)t->cells.used * sizeof(struct key_cell),
		 (unsigned long long)t->cells.most * sizeof(struct key_cell));
	call_refuse(call, -ENOSPC, why);
}

/* ---- keys ---- */

static const char *not_printable(struct key_text text)
{
	for (uint32_t i = 0; i < text.size; i++)
		if (text.bytes[i] < ' ' || text.bytes[i] > '~')
			return &text.bytes[i];
	return NULL;
}

/* Text up to a NUL, or to the end of its tensor. */
static bool read_text(struct service_call *call, const char *bytes, uint32_t size,
		      struct key_text *ret)
{
	const char *bad;
	char why[64];

	*ret = (struct key_text){bytes, (uint32_t)strnlen(bytes, size)};
	bad = not_printable(*ret);
	if (call->key->is_lost) {
		call_refuse(call, -EFAULT, "its tensors could not be read");
	} else if (ret->size >= QUOIT_KEY_BYTES) {
		call_refuse(call, -ENAMETOOLONG, "a key has at most 255 bytes");
	} else if (bad) {
		snprintf(why, sizeof why,
			 "byte %u of the key is %#x: only printable ASCII is allowed",
			 (unsigned)(bad - bytes), (unsigned char)*bad);
		call_refuse(call, -EINVAL, why);
	} else {
		return true;
	}
	return false;
}

bool keys_read_prefix(struct service_call *call, struct key_text *ret)
{
	return read_text(call, call->key->key, call->key->key_bytes, ret);
}

bool keys_read_key(struct service_call *call, struct key_text *ret)
{
	if (!keys_read_prefix(call, ret))
		return false;
	if (ret->size)
		return true;
	call_refuse(call, -EINVAL, "the key is empty");
	return false;
}

static bool may_write(const struct keyspace *k, struct service_call *call)
{
	const struct service *service = call->caller->service;

	if (!k->read_only || call->entry.uid == service->uid || !call->entry.uid)
		return true;
	call_refuse(call, -EACCES, "other users may only read it");
	return false;
}

/* ---- answers ---- */

/* What the call's outputs are copied from: their bytes, one tensor behind the other. */
static uint8_t *outputs(const struct service_call *call, struct quoit_key_state **ret_state)
{
	const struct key_words *w = call->key;

	*ret_state = w->value ? &w->value->state : &call->key->state;
	if (call->entry.tensor[0].given)
		return (uint8_t *)*ret_state;
	return call->moves ? w->value->bytes : NULL;
}

void keys_answer(struct service_call *call, const struct quoit_key_state *state)
{
	struct quoit_key_state *to;

	call->dense = outputs(call, &to);
	*to = *state;
	call_answer(call, 0);
}

static struct quoit_key_state state_of(const struct key_table *t, uint64_t revision, uint64_t bytes)
{
	return (struct quoit_key_state){
		.revision = revision, .now = t->revision, .bytes = bytes, .keys = t->nodes.used};
}

/* ---- calls ---- */

/* The key has changed, as `now` says. */
static void changed(struct keyspace *k, struct service_call *call, struct key_text key,
		    uint64_t bytes)
{
	struct quoit_key_state state = state_of(&k->table, k->table.revision, bytes);

	key_watch_wake(k, call->caller->service->home, key);
	keys_answer(call, &state);
}

void keys_put(struct object *o, struct service_call *call)
{
	struct keyspace *k = o->keyspace;
	const uint32_t bytes = (uint32_t)call->entry.scalar[1]; /* checked at the fetch (rules.c) */
	struct key_text key;
	int err;

	if (!keys_read_key(call, &key) || !may_write(k, call))
		return;
	err = key_table_put(&k->table, key, call->key->value->bytes, bytes, call->entry.scalar[0]);
	if (err == -ENOSPC)
		refuse_room(k, call);
	else if (err)
		refuse_revision(call, err, key_table_find(&k->table, key));
	else
		changed(k, call, key, bytes);
}

void keys_delete(struct object *o, struct service_call *call)
{
	struct keyspace *k = o->keyspace;
	struct key_text key;
	int err;

	if (!keys_read_key(call, &key) || !may_write(k, call))
		return;
	err = key_table_delete(&k->table, key, call->entry.scalar[0]);
	if (err)
		refuse_revision(call, err, key_table_find(&k->table, key));
	else
		changed(k, call, key, 0);
}

void keys_get(struct object *o, struct service_call *call)
{
	const struct key_table *t = &o->keyspace->table;
	struct key_words *w = call->key;
	struct quoit_key_state state;
	const struct key_node *n;
	struct key_text key;

	if (!keys_read_key(call, &key))
		return;
	n = key_table_find(t, key);
	if (!n) {
		refuse_revision(call, -ENOENT, n);
		return;
	}
	if (n->value_bytes > w->value_bytes) {
		refuse_values(call, -EMSGSIZE, QUOIT_FIELD_BYTES, n->value_bytes, w->value_bytes);
		return;
	}
	key_table_read_value(t, n, w->value->bytes);
	memset(w->value->bytes + n->value_bytes, 0, w->value_bytes - n->value_bytes);
	state = state_of(t, n->revision, n->value_bytes);
	keys_answer(call, &state);
}

void keys_list(struct object *o, struct service_call *call)
{
	const struct key_table *t = &o->keyspace->table;
	struct key_words *w = call->key;
	struct key_page page = {.bytes = w->value->bytes, .size = w->value_bytes};
	struct key_text prefix, after;
	struct quoit_key_state state;
	struct key_sum sum;

	if (!keys_read_prefix(call, &prefix) || !read_text(call, w->after, w->after_bytes, &after))
		return;
	page.most = QUOIT_LIST_KEYS;
	key_range_list(t, prefix, after, call->entry.scalar[0], &page);
	if (page.lacks && !page.entries) {
		refuse_values(call, -EMSGSIZE, QUOIT_FIELD_BYTES, page.lacks, page.size);
		return;
	}
	memset(page.bytes + page.used, 0, page.size - page.used);
	sum = key_range_sum(t, prefix);
	state = state_of(t, sum.newest, page.used);
	state.keys = sum.count;
	keys_answer(call, &state);
}
