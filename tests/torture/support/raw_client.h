/* SPDX-License-Identifier: MIT */
/*
 * raw_client.h - a client that speaks the protocol by hand.
 *
 * It checks nothing, so a test can write anything into the pages that it shares with quoitd; it
 * leaves out libquoit's courtesies.  One client, one ring.
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
	bool ended;                  /* quoitd has sent END */
	char text[QUOIT_TEXT_BYTES]; /* of the last refusal or end */

	struct quoit_hello_reply info;
	int arena_fd;
	uint8_t *arena; /* NULL: none */
	uint32_t seals; /* the seals that quoitd asked for last */

	uint32_t ring;
	int ring_fd, bell;
	uint8_t *pages; /* the ring's pages: the client's, then quoitd's */
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

/* Parameters of a session; zeros are quoitd's defaults; entries 0: no ring. */
struct raw_wish {
	uint64_t host_bytes, arena_bytes, pinned_bytes, shared_bytes;
	uint32_t max_tensors;
	uint32_t sq_entries, cq_entries, flags;
	uint64_t features; /* QUOIT_FEATURE_* */
};

/* Let raw_connect connect as this user from now on, if this process is root's; 0: as root. */
void raw_set_user(uid_t uid);

/* Connect only: raw_call can send any request then.  -errno. */
int raw_connect(struct raw_client *c, const char *path);

/*
 * Connect, say hello and, with sq_entries, open one ring.  0 or -errno, then with c->text, and c is
 * closed.
 */
int raw_open(struct raw_client *c, const char *path, const struct raw_wish *wish);

/* Say hello only.  -errno, with c->text. */
int raw_hello(struct raw_client *c, const struct raw_wish *wish);

/* Open a ring in a session, in place of an older one.  -errno as quoitd gave it. */
int raw_ring_open(struct raw_client *c, uint32_t sq_entries, uint32_t cq_entries, uint32_t flags);

/* Memory as a client hands it over: a memfd of `bytes`, sealed against a change of size; -1. */
int raw_memory(uint64_t bytes, uint8_t **ret_map);

/* Allocate all of its pages, and add these seals; raw_ready tells quoitd.  -errno. */
int raw_fill(int fd, uint8_t *map, uint64_t bytes, uint32_t seals);
int raw_ready(struct raw_client *c);

/*
 * The two steps of raw_open and raw_ring_open, one by one: hand over, which tells the seals that
 * quoitd wants (c->seals); then fill and say ready.
 */
int raw_give_arena(struct raw_client *c);
int raw_give_ring(struct raw_client *c, uint32_t sq_entries, uint32_t cq_entries, uint32_t flags);
int raw_begin_arena(struct raw_client *c);
int raw_begin_ring(struct raw_client *c);

/*
 * Send one request and receive its reply, in place.  At most `room` descriptors come back in
 * ret_fds; *ret_count says how many.  Returns the reply's result; -ECONNRESET: the connection has
 * ended, and c->text says why if quoitd did.
 */
int raw_call(struct raw_client *c, struct quoit_ctl *m, int *ret_fds, unsigned room,
	     unsigned *ret_count);

/* The same for a reply without a descriptor; one (or -1: none) is sent along. */
int raw_call_with(struct raw_client *c, struct quoit_ctl *m, int fd, int *ret_fd);

/* Has quoitd ended the session, or does it so within this time?  Then c->text says why. */
bool raw_has_ended(struct raw_client *c, int timeout_ms);

/* Close everything, like a process that dies. */
void raw_close(struct raw_client *c);

/* ---- the ring, used properly ---- */

/* The slot of an SQ index. */
struct quoit_sqe *raw_slot(const struct raw_client *c, uint32_t index);

/*
 * Put one job in, or several at once, publish, and ring if quoitd asks for it.  False: the SQ is
 * full.
 */
bool raw_submit(struct raw_client *c, const struct quoit_sqe *sqe);
bool raw_submit_all(struct raw_client *c, const struct quoit_sqe *sqes, unsigned count);

/* Send a byte on the ring's socket. */
void raw_ring_bell(const struct raw_client *c);

/*
 * Take and release the next CQE.  0, -ETIME, or -ECONNRESET: the session has ended and c->text says
 * why.  ret_error may be NULL.
 */
int raw_reap(struct raw_client *c, int timeout_ms, struct quoit_cqe *ret,
	     struct quoit_error *ret_error);

/*
 * Run one job from its submit to its result; the ring must be empty.  Returns its res, or
 * raw_reap's error.
 */
int raw_run(struct raw_client *c, struct quoit_sqe sqe);

/* Submit this many NOPs, with their SQ indices as user_data. */
void raw_submit_nops(struct raw_client *c, unsigned count);

/* Reap this many; true: all came, and all were successes. */
bool raw_reap_good(struct raw_client *c, unsigned count);

/* ---- the ring's words, with any values ---- */

/* Store the SQ tail, and ring the bell. */
void raw_set_tail(const struct raw_client *c, uint32_t tail);
void raw_set_cq_head(const struct raw_client *c, uint32_t head);
uint32_t raw_sq_head(const struct raw_client *c);
uint32_t raw_cq_tail(const struct raw_client *c);

/*
 * Wait until the CQ tail has this value, without reading a CQE.  False: the session ended, or time
 * ran out.
 */
bool raw_await_posted(struct raw_client *c, uint32_t tail);

/* ---- jobs ---- */

struct quoit_sqe raw_job(uint8_t opcode, uint32_t t0, uint32_t t1, uint32_t t2);

/* Create a tensor of n f32 in the arena at `offset`, or (RAW_ARENA_NOT) in quoitd's memory. */
#define RAW_ARENA_NOT UINT64_MAX
struct quoit_sqe raw_vector(uint32_t handle, uint32_t n, uint64_t offset);

#endif
