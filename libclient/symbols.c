/* SPDX-License-Identifier: MIT */
/*
 * symbols.c - the inline functions and macros of quoit.h as symbols, for programs that cannot
 * compile the header (Fortran, Python, dlopen).
 *
 * `extern inline` makes this file emit the functions that are inline in every other file.
 */
#define QUOIT_INLINE extern inline
#include "library.h"

#undef quoit_acquire
#undef quoit_delete_key
#undef quoit_get_value
#undef quoit_list_keys
#undef quoit_put_value
#undef quoit_receive_next
#undef quoit_run
#undef quoit_start_acquire
#undef quoit_wait
#undef quoit_watch_key
#undef quoit_watch_prefix
#undef quoit_wait_n
#undef quoit_wait_any
#undef quoit_wait_all_of
#undef quoit_wait_tensor
#undef quoit_wait_all
#undef quoit_window
#undef quoit_write
#undef quoit_read

/* A caller without macros has no place in a source file to name. */
#define NOWHERE NULL

int quoit_receive_next(struct quoit_ring *q, int number, int timeout_ms, quoit_tensor *ret)
{
	return quoit_receive_next_at(q, number, timeout_ms, ret, NOWHERE);
}

int quoit_put_value(struct quoit_ring *q, int number, const char *key, const void *value,
		    size_t bytes, uint64_t expected, uint64_t *ret_revision)
{
	return quoit_put_value_at(q, number, key, value, bytes, expected, ret_revision, NOWHERE);
}

int quoit_get_value(struct quoit_ring *q, int number, const char *key, void *value, size_t size,
		    struct quoit_key_state *ret)
{
	return quoit_get_value_at(q, number, key, value, size, ret, NOWHERE);
}

int quoit_delete_key(struct quoit_ring *q, int number, const char *key, uint64_t expected,
		     uint64_t *ret_revision)
{
	return quoit_delete_key_at(q, number, key, expected, ret_revision, NOWHERE);
}

int quoit_list_keys(struct quoit_ring *q, int number, const char *prefix, const char *after,
		    uint64_t since, void *page, size_t size, struct quoit_key_state *ret)
{
	return quoit_list_keys_at(q, number, prefix, after, since, page, size, ret, NOWHERE);
}

int quoit_watch_key(struct quoit_ring *q, int number, const char *key, uint64_t since,
		    int timeout_ms, struct quoit_key_state *ret)
{
	return quoit_watch_key_at(q, number, key, since, timeout_ms, ret, NOWHERE);
}

int quoit_watch_prefix(struct quoit_ring *q, int number, const char *prefix, uint64_t since,
		       int timeout_ms, struct quoit_key_state *ret)
{
	return quoit_watch_prefix_at(q, number, prefix, since, timeout_ms, ret, NOWHERE);
}

int quoit_run(struct quoit_ring *q, struct quoit_sqe sqe, int timeout_ms)
{
	return quoit_run_at(q, sqe, timeout_ms, NOWHERE);
}

int quoit_wait(struct quoit_ring *q, quoit_job job, int timeout_ms)
{
	return quoit_wait_at(q, job, timeout_ms, NOWHERE);
}

int quoit_wait_n(struct quoit_ring *q, const quoit_job *jobs, unsigned count, unsigned n,
		 int timeout_ms)
{
	return quoit_wait_n_at(q, jobs, count, n, timeout_ms, NOWHERE);
}

int quoit_wait_any(struct quoit_ring *q, const quoit_job *jobs, unsigned count, int timeout_ms)
{
	return quoit_wait_any_at(q, jobs, count, timeout_ms, NOWHERE);
}

int quoit_wait_all_of(struct quoit_ring *q, const quoit_job *jobs, unsigned count, int timeout_ms)
{
	return quoit_wait_all_of_at(q, jobs, count, timeout_ms, NOWHERE);
}

int quoit_wait_tensor(struct quoit_ring *q, quoit_tensor t, int timeout_ms)
{
	return quoit_wait_tensor_at(q, t, timeout_ms, NOWHERE);
}

int quoit_wait_all(struct quoit_ring *q, int timeout_ms)
{
	return quoit_wait_all_at(q, timeout_ms, NOWHERE);
}

int quoit_window(struct quoit_ring *q, unsigned n, int timeout_ms)
{
	return quoit_window_at(q, n, timeout_ms, NOWHERE);
}

int quoit_write(struct quoit_ring *q, quoit_tensor t, const void *from, size_t size)
{
	return quoit_write_at(q, t, from, size, NOWHERE);
}

int quoit_read(struct quoit_ring *q, quoit_tensor t, void *to, size_t size)
{
	return quoit_read_at(q, t, to, size, NOWHERE);
}

int quoit_acquire(struct quoit_ring *q, quoit_tensor t, enum quoit_access access, int timeout_ms,
		  void **ret)
{
	return quoit_acquire_at(q, t, access, timeout_ms, ret, NOWHERE);
}

int quoit_start_acquire(struct quoit_ring *q, quoit_tensor t, enum quoit_access access,
			quoit_job *ret)
{
	return quoit_start_acquire_at(q, t, access, ret, NOWHERE);
}
