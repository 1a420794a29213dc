/* SPDX-License-Identifier: MIT */
/*
 * raw_client.h - a client that speaks the protocol by hand.
 *
 * It checks nothing, so a test can write anything into the pages that it shares with
 * quoitd; what libquoit does to be polite is left out.  One client, one ring.
 */
#ifndef TORTURE_RAW_CLIENT_H
#define TORTURE_RAW_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit/ctl.h>
#include <quoit/ring.h>

struct raw_client {
	int socket;
	uint32_t seq;
	bool ended;                  /* quoitd has said END */
	char text[QUOIT_TEXT_BYTES]; /* of the last refusal or end */

	struct quoit_hello_reply info;
	int arena_fd;
	uint8_t *arena; /* NULL: none */
	uint32_t seals; /* that quoitd has asked for, at last */

	uint32_t ring;
	int ring_fd, bell;
	uint8_t *pages; /* of the ring: client, and behind it what quoitd writes */
	struct quoit_ring_layout layout;
	struct quoit_client_words *client;
	struct quoit_daemon_words *daemon;
	struct quoit_sqe *sqes;
	const struct quoit_cqe *cqes;
	const struct quoit_error *errors;
	const struct quoit_stamps *stamps; /* NULL without QUOIT_RING_STAMPS */
	struct quoit_producer sq;
	struct quoit_consumer cq;
};

/* What a session is opened with; zeros are quoitd's defaults, entries 0: no ring. */
struct raw_wish {
	uint64_t host_bytes, arena_bytes, pinned_bytes;
	uint32_t max_tensors;
	uint32_t sq_entries, cq_entries, flags;
	uint64_t features; /* QUOIT_FEATURE_* */
};

/* As whom raw_connect connects from now on where this process is root; 0: as root. */
void raw_set_user(uid_t uid);

/* Only the connection: raw_call can send any request on it.  -errno. */
int raw_connect(struct raw_client *c, const char *path);

/* Hello and, with sq_entries, one ring.  0 or -errno, then with c->text, and c is closed. */
int raw_open(struct raw_client *c, const char *path, const struct raw_wish *wish);

/* Hello alone.  -errno, with c->text. */
int raw_hello(struct raw_client *c, const struct raw_wish *wish);

/* A ring on an open session, instead of the one it may have had.  -errno as quoitd gave it. */
int raw_ring_open(struct raw_client *c, uint32_t sq_entries, uint32_t cq_entries, uint32_t flags);

/* Memory as a client hands it over: `bytes` of a memfd, sealed against a change of size; -1. */
int raw_memory(uint64_t bytes, uint8_t **ret_map);

/* All of its pages, and these seals, too; quoitd is told by raw_ready.  -errno. */
int raw_fill(int fd, uint8_t *map, uint64_t bytes, uint32_t seals);
int raw_ready(struct raw_client *c);

/*
 * The two steps of raw_open and raw_ring_open, one by one: hand over, which says what seals are
 * wanted (c->seals), and fill and be ready.
 */
int raw_give_arena(struct raw_client *c);
int raw_give_ring(struct raw_client *c, uint32_t sq_entries, uint32_t cq_entries, uint32_t flags);
int raw_begin_arena(struct raw_client *c);
int raw_begin_ring(struct raw_client *c);

/*
 * One request and its reply, in place.  At most `room` descriptors come back in ret_fds,
 * *ret_count says how many.  The reply's result; -ECONNRESET: it ended, with c->text saying
 * why if quoitd did.
 */
int raw_call(struct raw_client *c, struct quoit_ctl *m, int *ret_fds, unsigned room,
	     unsigned *ret_count);

/* The same where no descriptor comes back, with one (or -1: none) sent along. */
int raw_call_with(struct raw_client *c, struct quoit_ctl *m, int fd, int *ret_fd);

/* Has quoitd ended the session, or does so in this time?  Then c->text says why. */
bool raw_has_ended(struct raw_client *c, int timeout_ms);

/* Close everything, as a process that dies does. */
void raw_close(struct raw_client *c);

/* ---- the ring, used as it should be ---- */

/* The slot of an SQ index. */
struct quoit_sqe *raw_slot(const struct raw_client *c, uint32_t index);

/* Put one job in, or so many at once, and publish, ringing where it is asked for.  False: the SQ is
 * full. */
bool raw_submit(struct raw_client *c, const struct quoit_sqe *sqe);
bool raw_submit_all(struct raw_client *c, const struct quoit_sqe *sqes, unsigned count);

/* Send a byte on the ring's socket. */
void raw_ring_bell(const struct raw_client *c);

/*
 * The next CQE, released already.  0, -ETIME, or -ECONNRESET: the session has ended and
 * c->text says why.  *ret_error may be NULL.
 */
int raw_reap(struct raw_client *c, int timeout_ms, struct quoit_cqe *ret,
	     struct quoit_error *ret_error);

/* One job from its submit to its result; the ring must be empty.  Its res, or as raw_reap. */
int raw_run(struct raw_client *c, struct quoit_sqe sqe);

/* So many NOPs, with their SQ indices as user_data. */
void raw_submit_nops(struct raw_client *c, unsigned count);

/* Reap so many; true: all came, and all were successes. */
bool raw_reap_good(struct raw_client *c, unsigned count);

/* ---- the ring's words, as one likes ---- */

/* Store the SQ tail and ring. */
void raw_set_tail(const struct raw_client *c, uint32_t tail);
void raw_set_cq_head(const struct raw_client *c, uint32_t head);
uint32_t raw_sq_head(const struct raw_client *c);
uint32_t raw_cq_tail(const struct raw_client *c);

/* Wait until the CQ tail is this, without reading a CQE.  False: the session ended, or never. */
bool raw_await_posted(struct raw_client *c, uint32_t tail);

/* ---- jobs ---- */

struct quoit_sqe raw_job(uint8_t opcode, uint32_t t0, uint32_t t1, uint32_t t2);

/* A tensor of n f32 in the arena at `offset`, or (ARENA_NOT) in quoitd's memory. */
#define RAW_ARENA_NOT UINT64_MAX
struct quoit_sqe raw_vector(uint32_t handle, uint32_t n, uint64_t offset);

#endif
