/* SPDX-License-Identifier: MIT */
/*
 * serve.h - a team that serves a service: its calls come from other sessions.
 *
 * Inputs lie in the caller's memory, which is mapped for reading when the caller's first call comes.
 * Outputs are written into memory of the session's arena; quoitd copies them to the caller, says so
 * in the ring's word of that call's number, and then their memory is free again.
 */
#ifndef LIBQUOIT_SERVE_H
#define LIBQUOIT_SERVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/ctl.h>

struct quoit_exec_call;
struct quoit_team;
struct taken;

/* ---- memory for results ---- */

struct results {
	struct results *next;
	uint64_t id;     /* of their call, once they are quoitd's */
	uint8_t *memory; /* of quoit_alloc */
	uint64_t bytes;
};

/* ---- callers ---- */

enum caller_memory {
	CALLER_UNMAPPED,
	CALLER_ASKED, /* a thread is about to map it */
	CALLER_MAPPED,
};

struct caller {
	struct caller *next; /* in its bucket */
	uint32_t number;
	uint32_t calls; /* that were taken and have not ended */
	bool left;      /* freed when `calls` is 0 */
	enum caller_memory state;
	const uint8_t *base;
	uint64_t bytes;
};

#define CALLER_BUCKETS 64u

struct serve {
	char name[QUOIT_NAME_BYTES];
	uint32_t mode; /* QUOIT_SERVE_* */

	/* held while a thread takes a call; guards what follows */
	pthread_mutex_t lock;
	pthread_cond_t mapped; /* an attempt to map a caller's memory has ended */
	struct caller *caller[CALLER_BUCKETS];

	/* those that quoitd has not copied yet; guarded by team->returning */
	struct results *results;
};

/* ---- serve.c ---- */

/* Free the state, and what it has mapped and allocated; the ring is closed. */
void libquoit_serve_end(struct quoit_team *t);

/* ---- serve_callers.c ---- */

/*
 * Under the lock, behind a CQE that was just taken: hold the caller of a call, or note that a caller
 * has left.
 */
void libquoit_serve_note(struct serve *v, struct taken *k);

/* Map the caller's memory, unless it is.  -errno, with a text for quoit_open_text. */
int libquoit_caller_map(struct quoit_team *t, struct caller *c);

/* A call has ended; c may be NULL. */
void libquoit_caller_drop(struct serve *v, struct caller *c);

/* Unmap and free all. */
void libquoit_callers_end(struct quoit_team *t);

/* ---- serve_call.c ---- */

/*
 * Fill in the tensors of a call, with memory for its results (*ret; NULL: it has none).  -errno: the
 * call fails, and says why.
 */
int libquoit_serve_fill(struct quoit_team *t, const struct taken *k, struct quoit_exec_call *c,
			struct results **ret);

/* The call has failed: its results become its words, if there are some. */
void libquoit_serve_say(struct quoit_team *t, const struct quoit_exec_call *c,
			struct results **results);

/* ---- serve_results.c ---- */

/*
 * Take one that quoitd is done with out of the list; NULL: there is none.  `done` are the ring's
 * words: the serial of the last call of each number whose results quoitd has copied.
 */
struct results *libquoit_results_pop(struct results **list, const uint32_t *done, uint32_t mask);

/*
 * Memory for results; NULL: there is none.  may_wait: then wait a moment for quoitd to be done with
 * earlier ones.
 */
struct results *libquoit_results_take(struct quoit_team *t, uint64_t bytes, bool may_wait);

/* Free what quoitd does not know. */
void libquoit_results_drop(struct quoit_team *t, struct results *r);

/*
 * They go to quoitd with the RETURN that is being put into the ring, under team->returning.  Returns
 * its word.
 */
uint64_t libquoit_results_give(struct quoit_team *t, struct results *r, uint64_t id);

/* Free those that quoitd is done with; all of them, once the ring is closed. */
void libquoit_results_reclaim(struct quoit_team *t);
void libquoit_results_end(struct quoit_team *t);

/* ---- serve_copy.c ---- */

/* Bytes of a dense tensor; false: they do not fit in 63 bits. */
bool libquoit_dense_bytes(const struct quoit_call_tensor *t, uint64_t *ret);

/* Does every element lie within so many bytes of memory? */
bool libquoit_is_within(const struct quoit_call_tensor *t, uint64_t bytes);

/* Copy all elements, of which the first is at `from`, to dense memory. */
void libquoit_gather_dense(uint8_t *to, const uint8_t *from, const struct quoit_call_tensor *t);

#endif
