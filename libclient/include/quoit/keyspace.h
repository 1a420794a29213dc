/* SPDX-License-Identifier: MIT */
/*
 * keyspace.h - keys with values that programs share, each change with a revision of its own.
 *
 *	int keys = quoit_open_keyspace(s, "settings", NULL);
 *
 *	quoit_put_value(q, keys, "rate", &rate, sizeof rate, QUOIT_ANY_REVISION, NULL);
 *	quoit_get_value(q, keys, "rate", &rate, sizeof rate, &state);
 *	quoit_put_value(q, keys, "rate", &rate, sizeof rate, state.revision, NULL); // if it is the same
 *
 * A keyspace has a name, users and a mode as a lock has (sync.h).  A key is 1 to 255 bytes of
 * printable ASCII, blanks and '/' among them; a value is up to QUOIT_VALUE_BYTES bytes, whatever they
 * mean.  Keys are in the order of their bytes.
 *
 * Each change has a revision: 1, 2, 3 and so on over all keys of the keyspace.  A key has that of its
 * last change, and no key is -ENOENT or revision 0.  All calls of all sessions are done one after the
 * other, each as a whole: whoever changes a key of the revision it has seen knows that nobody was
 * faster, and whoever waits for a change after it misses none.
 *
 * The first functions below are done when they return.  Each is one job; the builders further down
 * are the same as jobs of their own, with keys and values in tensors.  What is put stays when its
 * session ends; the keyspace ends with the last session that has it open.
 */
#ifndef QUOIT_KEYSPACE_H
#define QUOIT_KEYSPACE_H

#include <quoit/sync.h>

/*
 * As quoit_open_lock.  It is made with room for params->value keys (0: 1024), and for params->most
 * bytes (0: 1 MiB) of what is longer: of a key and its value together 75 bytes need none of these,
 * and each 252 beyond take 256.  This is charged to this user when it is made; one that is there
 * keeps its sizes.  QUOIT_SYNC_OTHERS_READ: other users than this one, and root, may only read.
 */
QUOIT_TO_CHECK int quoit_open_keyspace(struct quoit_session *s, const char *name,
				       const struct quoit_sync_params *params);

/* ---- plain calls: `number` is what quoit_open_keyspace returned ---- */

/*
 * Put a value, if the key has the revision `expected`: 0: there must be no such key;
 * QUOIT_ANY_REVISION: it may have any.  *ret_revision, unless NULL, is the new one.  -EEXIST: there is
 * such a key; -ESTALE: it has another revision, or is not there; -ENOSPC: the keyspace is full;
 * -EMSGSIZE: the value has more than QUOIT_VALUE_BYTES; -EINVAL, -ENAMETOOLONG: of the key;
 * -EACCES: this user may only read; -ENOMEM: the session's arena has no room.
 */
QUOIT_TO_CHECK int quoit_put_value_at(struct quoit_ring *q, int number, const char *key,
				      const void *value, size_t bytes, uint64_t expected,
				      uint64_t *ret_revision, const char *here);
QUOIT_TO_CHECK int quoit_put_value(struct quoit_ring *q, int number, const char *key,
				   const void *value, size_t bytes, uint64_t expected,
				   uint64_t *ret_revision);
#define quoit_put_value(...) quoit_put_value_at(__VA_ARGS__, QUOIT_HERE)

/*
 * Get a value of up to `size` bytes; what is behind it is left as it is.  *ret, unless NULL, says how
 * many it has, and the key's revision.  -ENOENT: there is no such key; -EMSGSIZE: the value is longer,
 * and ret->bytes says by how much.
 */
QUOIT_TO_CHECK int quoit_get_value_at(struct quoit_ring *q, int number, const char *key,
				      void *value, size_t size, struct quoit_key_state *ret,
				      const char *here);
QUOIT_TO_CHECK int quoit_get_value(struct quoit_ring *q, int number, const char *key, void *value,
				   size_t size, struct quoit_key_state *ret);
#define quoit_get_value(...) quoit_get_value_at(__VA_ARGS__, QUOIT_HERE)

/* Delete a key, if it has the revision `expected`, as quoit_put_value.  -ENOENT: there is none. */
QUOIT_TO_CHECK int quoit_delete_key_at(struct quoit_ring *q, int number, const char *key,
				       uint64_t expected, uint64_t *ret_revision, const char *here);
QUOIT_TO_CHECK int quoit_delete_key(struct quoit_ring *q, int number, const char *key,
				    uint64_t expected, uint64_t *ret_revision);
#define quoit_delete_key(...) quoit_delete_key_at(__VA_ARGS__, QUOIT_HERE)

/*
 * List keys that begin with `prefix` ("": all), come behind the key `after` (NULL: from the first one),
 * and have changed after the revision `since` (0: all), as entries in a page: quoit_next_entry walks
 * over them.  The page has up to QUOIT_LIST_KEYS of them, as many as fit in `size` bytes, of which at
 * most QUOIT_VALUE_BYTES are used.  ret->bytes is what it has, 0: there are no further ones;
 * ret->keys is how many keys have the prefix, and ret->now the revision of the list.  Each page is
 * true for its own moment.  -EMSGSIZE: the first entry does not fit.
 */
QUOIT_TO_CHECK int quoit_list_keys_at(struct quoit_ring *q, int number, const char *prefix,
				      const char *after, uint64_t since, void *page, size_t size,
				      struct quoit_key_state *ret, const char *here);
QUOIT_TO_CHECK int quoit_list_keys(struct quoit_ring *q, int number, const char *prefix,
				   const char *after, uint64_t since, void *page, size_t size,
				   struct quoit_key_state *ret);
#define quoit_list_keys(...) quoit_list_keys_at(__VA_ARGS__, QUOIT_HERE)

/* The entry behind this one (NULL: the first one) of a page of so many bytes; NULL: there is none. */
QUOIT_INLINE const struct quoit_key_entry *quoit_next_entry(const void *page, uint64_t bytes,
							    const struct quoit_key_entry *e)
{
	const uint64_t at = e ? (uint64_t)((const char *)e - (const char *)page) + e->size : 0;

	return at < bytes ? (const struct quoit_key_entry *)(const void *)((const char *)page + at)
			  : NULL;
}

/*
 * Wait until the key has changed after the revision `since`, up to timeout_ms (QUOIT_FOREVER: any
 * time): ret->revision is what it has now, 0: it has been deleted, and ret->now is the `since` of the
 * next wait.  One that has changed already is told at once; several changes may be told as one.  If a
 * key beside it was deleted, the wait may end though this one has not changed.  -ETIME: no change was
 * told in time; give it some milliseconds also where one is expected to be there.
 */
QUOIT_TO_CHECK int quoit_watch_key_at(struct quoit_ring *q, int number, const char *key,
				      uint64_t since, int timeout_ms, struct quoit_key_state *ret,
				      const char *here);
QUOIT_TO_CHECK int quoit_watch_key(struct quoit_ring *q, int number, const char *key,
				   uint64_t since, int timeout_ms, struct quoit_key_state *ret);
#define quoit_watch_key(...) quoit_watch_key_at(__VA_ARGS__, QUOIT_HERE)

/*
 * The same for any key that begins with `prefix`: ret->keys is how many there are.  quoit_list_keys,
 * with the same `since`, says which have changed.
 */
QUOIT_TO_CHECK int quoit_watch_prefix_at(struct quoit_ring *q, int number, const char *prefix,
					 uint64_t since, int timeout_ms,
					 struct quoit_key_state *ret, const char *here);
QUOIT_TO_CHECK int quoit_watch_prefix(struct quoit_ring *q, int number, const char *prefix,
				      uint64_t since, int timeout_ms, struct quoit_key_state *ret);
#define quoit_watch_prefix(...) quoit_watch_prefix_at(__VA_ARGS__, QUOIT_HERE)

/* ---- jobs ---- */

/*
 * Make a tensor with this text, for the jobs below; the caller frees it.  QUOIT_NO_TENSOR: it could
 * not be made, quoit_error_text says why.
 */
QUOIT_TO_CHECK quoit_tensor quoit_create_key(struct quoit_ring *q, const char *key);

/*
 * All tensors of these jobs are on the host and have no gaps.  A key is text up to a NUL, or to the
 * end of its tensor, which has at most QUOIT_KEY_BYTES.  `state` is a vector of four QUOIT_I64, which
 * gets a struct quoit_key_state, or QUOIT_NO_TENSOR.  As with all jobs, those of one ring that have
 * no tensor in common that one of them writes may be done in another order: give them the same
 * `state` if this must not be.  One that is refused, as by its revision, poisons what it should have
 * written.  All but quoit_watch_job are answered at once, and cannot be cancelled once they have
 * begun.
 */

/* Put the first `bytes` of a tensor as the key's value; as quoit_put_value. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_put_job(int number, quoit_tensor key,
							  quoit_tensor value, uint64_t bytes,
							  uint64_t expected, quoit_tensor state)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_PUT, state);

	sqe.tensor[1] = key;
	sqe.tensor[2] = value;
	sqe.scalar[0] = expected;
	sqe.scalar[1] = bytes;
	return sqe;
}

/* Get it into a tensor, with zeros behind it; as quoit_get_value. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_get_job(int number, quoit_tensor key,
							  quoit_tensor value, quoit_tensor state)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_GET, state);

	sqe.tensor[1] = key;
	sqe.tensor[2] = value;
	return sqe;
}

/* As quoit_delete_key. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_delete_job(int number, quoit_tensor key,
							     uint64_t expected, quoit_tensor state)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_DELETE, state);

	sqe.tensor[1] = key;
	sqe.scalar[0] = expected;
	return sqe;
}

/* As quoit_list_keys; `after` may be QUOIT_NO_TENSOR. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_list_job(int number, quoit_tensor prefix,
							   quoit_tensor after, uint64_t since,
							   quoit_tensor page, quoit_tensor state)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_LIST, state);

	sqe.tensor[1] = prefix;
	sqe.tensor[2] = page;
	sqe.tensor[3] = after;
	sqe.scalar[0] = since;
	return sqe;
}

/* As quoit_watch_key, or, with QUOIT_WATCH_PREFIX, quoit_watch_prefix. */
QUOIT_TO_PUSH QUOIT_INLINE struct quoit_sqe quoit_watch_job(int number, quoit_tensor key,
							    unsigned flags, uint64_t since,
							    quoit_tensor state)
{
	struct quoit_sqe sqe = quoit_sync_job(number, QUOIT_SYNC_WATCH, state);

	sqe.tensor[1] = key;
	sqe.arg = flags <= QUOIT_WATCH_PREFIX ? (uint8_t)flags : UINT8_MAX;
	sqe.scalar[0] = since;
	return sqe;
}

#endif
