/* SPDX-License-Identifier: MIT */
/*
 * keyspace.c - keys and values of keyspaces, as plain calls
 *
 * Each is one job whose tensors lie in one piece of the arena, which quoitd reads and writes itself.
 */
#include <errno.h>
#include <string.h>

#include "library.h"
#include "refusal.h"
#include "wait.h"

/* Where the tensors are, in the piece. */
#define STATE_AT 0u
#define KEY_AT   64u
#define AFTER_AT (KEY_AT + QUOIT_KEY_BYTES)
#define VALUE_AT (AFTER_AT + QUOIT_KEY_BYTES)

struct key_call {
	struct quoit_ring *q;
	uint8_t *memory;
	quoit_tensor state, key, after, value; /* QUOIT_NO_TENSOR: none */
	const char *here;
};

/* At least one: a tensor without elements would lie nowhere. */
static uint64_t words_of(uint64_t bytes)
{
	return bytes ? (bytes + sizeof(int64_t) - 1) / sizeof(int64_t) : 1;
}

/* Some bytes of the piece as a tensor. */
static int make(const struct key_call *c, uint32_t at, uint64_t bytes, quoit_tensor *ret)
{
	const struct quoit_shape shape = {.dtype = QUOIT_I64,
					  .dim = {1, 1, 1, (uint32_t)words_of(bytes)}};

	*ret = quoit_create_in(c->q, &shape, c->memory + at);
	return *ret == QUOIT_NO_TENSOR ? c->q->refusal.error : 0;
}

static int refuse_key(struct quoit_ring *q, size_t bytes)
{
	return libquoit_refuse(q, -ENAMETOOLONG, "a key has at most %u bytes, and this one has %zu",
			       QUOIT_KEY_BYTES - 1, bytes);
}

/* Text with zeros behind it. */
static int make_key(const struct key_call *c, uint32_t at, const char *key, quoit_tensor *ret)
{
	const size_t n = strlen(key), bytes = words_of(n + 1) * sizeof(int64_t);

	if (n >= QUOIT_KEY_BYTES)
		return refuse_key(c->q, n);
	memset(c->memory + at + bytes - sizeof(int64_t), 0, sizeof(int64_t));
	memcpy(c->memory + at, key, n);
	return make(c, at, bytes, ret);
}

/* bytes: of the value, if there is one; key and after may be NULL. */
static int begin(struct key_call *c, const char *key, const char *after, size_t bytes)
{
	int err = libquoit_wait_begin(c->q);

	if (err)
		return err;
	if (bytes > QUOIT_VALUE_BYTES)
		return libquoit_refuse(c->q, -EMSGSIZE,
				       "a value has at most %u bytes, and this one has %zu",
				       QUOIT_VALUE_BYTES, bytes);
	c->memory = quoit_alloc(c->q->session, VALUE_AT + words_of(bytes) * sizeof(int64_t));
	if (!c->memory)
		return libquoit_refuse(c->q, -ENOMEM, "%s", quoit_open_text());
	err = make(c, STATE_AT, sizeof(struct quoit_key_state), &c->state);
	if (!err)
		err = make_key(c, KEY_AT, key, &c->key);
	if (!err && after)
		err = make_key(c, AFTER_AT, after, &c->after);
	return err;
}

/* Nothing is left of it, however it ended. */
static void end(const struct key_call *c)
{
	const quoit_tensor all[] = {c->state, c->key, c->after, c->value};

	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i] != QUOIT_NO_TENSOR)
			(void)quoit_free(c->q, all[i]);
	if (c->memory)
		quoit_dealloc(c->q->session, c->memory);
}

static int run(const struct key_call *c, struct quoit_sqe sqe, int timeout_ms,
	       struct quoit_key_state *ret)
{
	int err = quoit_run_at(c->q, sqe, timeout_ms, c->here);

	if (!err)
		memcpy(ret, c->memory + STATE_AT, sizeof *ret);
	return err;
}

int quoit_put_value_at(struct quoit_ring *q, int number, const char *key, const void *value,
		       size_t bytes, uint64_t expected, uint64_t *ret_revision, const char *here)
{
	struct key_call c = {.q = q, .here = here};
	struct quoit_key_state state;
	int err = begin(&c, key, NULL, bytes);

	if (!err)
		err = make(&c, VALUE_AT, bytes, &c.value);
	if (!err) {
		if (bytes)
			memcpy(c.memory + VALUE_AT, value, bytes);
		err = run(&c, quoit_put_job(number, c.key, c.value, bytes, expected, c.state),
			  QUOIT_FOREVER, &state);
	}
	end(&c);
	if (!err && ret_revision)
		*ret_revision = state.revision;
	return err;
}

/* How long the value is that did not fit. */
static void tell_bytes(struct quoit_ring *q, struct quoit_key_state *ret)
{
	struct quoit_error e;

	if (quoit_get_wait_error(q, &e) && e.field == QUOIT_FIELD_BYTES)
		*ret = (struct quoit_key_state){.bytes = e.value[0]};
}

int quoit_get_value_at(struct quoit_ring *q, int number, const char *key, void *value, size_t size,
		       struct quoit_key_state *ret, const char *here)
{
	const size_t most = size < QUOIT_VALUE_BYTES ? size : QUOIT_VALUE_BYTES;
	struct key_call c = {.q = q, .here = here};
	struct quoit_key_state state;
	int err = begin(&c, key, NULL, most);

	if (!err)
		err = make(&c, VALUE_AT, most, &c.value);
	if (!err)
		err = run(&c, quoit_get_job(number, c.key, c.value, c.state), QUOIT_FOREVER,
			  &state);
	if (!err && state.bytes > most) { /* it fits in the words, but not in the bytes */
		err = libquoit_refuse(q, -EMSGSIZE,
				      "the value has %llu bytes, and there is room for %zu",
				      (unsigned long long)state.bytes, size);
		if (ret)
			*ret = (struct quoit_key_state){.bytes = state.bytes};
	} else if (err == -EMSGSIZE && ret) {
		tell_bytes(q, ret);
	} else if (!err && state.bytes) {
		memcpy(value, c.memory + VALUE_AT, state.bytes);
	}
	end(&c);
	if (!err && ret)
		*ret = state;
	return err;
}

int quoit_delete_key_at(struct quoit_ring *q, int number, const char *key, uint64_t expected,
			uint64_t *ret_revision, const char *here)
{
	struct key_call c = {.q = q, .here = here};
	struct quoit_key_state state;
	int err = begin(&c, key, NULL, 0);

	if (!err)
		err = run(&c, quoit_delete_job(number, c.key, expected, c.state), QUOIT_FOREVER,
			  &state);
	end(&c);
	if (!err && ret_revision)
		*ret_revision = state.revision;
	return err;
}

int quoit_list_keys_at(struct quoit_ring *q, int number, const char *prefix, const char *after,
		       uint64_t since, void *page, size_t size, struct quoit_key_state *ret,
		       const char *here)
{
	const size_t most = (size < QUOIT_VALUE_BYTES ? size : QUOIT_VALUE_BYTES) / 8 * 8;
	struct key_call c = {.q = q, .here = here};
	struct quoit_key_state state;
	int err = begin(&c, prefix, after, most);

	if (!err)
		err = make(&c, VALUE_AT, most, &c.value);
	if (!err)
		err = run(&c, quoit_list_job(number, c.key, c.after, since, c.value, c.state),
			  QUOIT_FOREVER, &state);
	if (!err && state.bytes > most)
		err = libquoit_refuse(q, -EPROTO, "quoitd says that the page has %llu bytes",
				      (unsigned long long)state.bytes);
	if (!err) {
		memcpy(page, c.memory + VALUE_AT, state.bytes);
		*ret = state;
	}
	end(&c);
	return err;
}

static int watch(struct quoit_ring *q, int number, const char *key, unsigned flags, uint64_t since,
		 int timeout_ms, struct quoit_key_state *ret, const char *here)
{
	struct key_call c = {.q = q, .here = here};
	struct quoit_key_state state;
	int err = begin(&c, key, NULL, 0);

	if (!err)
		err = run(&c, quoit_watch_job(number, c.key, flags, since, c.state), timeout_ms,
			  &state);
	end(&c);
	if (!err)
		*ret = state;
	return err;
}

int quoit_watch_key_at(struct quoit_ring *q, int number, const char *key, uint64_t since,
		       int timeout_ms, struct quoit_key_state *ret, const char *here)
{
	return watch(q, number, key, 0, since, timeout_ms, ret, here);
}

int quoit_watch_prefix_at(struct quoit_ring *q, int number, const char *prefix, uint64_t since,
			  int timeout_ms, struct quoit_key_state *ret, const char *here)
{
	return watch(q, number, prefix, QUOIT_WATCH_PREFIX, since, timeout_ms, ret, here);
}

quoit_tensor quoit_create_key(struct quoit_ring *q, const char *key)
{
	char text[QUOIT_KEY_BYTES] = {0};
	const size_t n = strlen(key);
	quoit_tensor t;

	if (n >= sizeof text) {
		(void)refuse_key(q, n);
		return QUOIT_NO_TENSOR;
	}
	memcpy(text, key, n);
	t = quoit_create_vector(q, QUOIT_I64, (uint32_t)words_of(n + 1));
	if (t == QUOIT_NO_TENSOR || !quoit_write(q, t, text, words_of(n + 1) * sizeof(int64_t)))
		return t;
	(void)quoit_free(q, t);
	return QUOIT_NO_TENSOR;
}
