/* SPDX-License-Identifier: MIT */
/*
 * fake_daemon.h - a quoitd of one thread, for tests of libquoit alone.
 *
 * It serves one client on a socket of its own, in program order.  It knows CREATE, VIEW, FREE and
 * COPY of any shape; every other operation just succeeds.  A test can make it hold jobs, fail an
 * operation, lie, refuse and die.
 */
#ifndef TESTS_FAKE_DAEMON_H
#define TESTS_FAKE_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/ctl.h>
#include <quoit/trace.h>

#define FAKE_TENSORS 64u
#define FAKE_LOG     4096u

struct fake_daemon;

/* Options at its start; zeros give a well-behaved daemon. */
struct fake_options {
	uint64_t arena_bytes; /* 0: 1 MiB */
	/* the arena can grow to this, until fake_refuse_arena; 0: it cannot grow */
	uint64_t arena_most;
	int32_t refuse;    /* HELLO's result, with a text */
	uint32_t version;  /* the version of another quoitd, which refuses ours */
	bool lax;          /* that quoitd is older and accepts ours */
	uint64_t features; /* its features, whatever the client asks for */
	bool wrong_seq;    /* its replies have a wrong seq */
	bool end;          /* instead of a reply: QUOIT_CTL_END with a text */
};

struct fake_daemon *fake_start(const struct fake_options *options);

/* Die: close every socket at once; the rings stay as they are. */
void fake_kill(struct fake_daemon *f);
void fake_stop(struct fake_daemon *f);

/* Die; another quoitd of this version takes its place before the client looks. */
void fake_replace(struct fake_daemon *f, uint32_t version);

const char *fake_path(const struct fake_daemon *f);

/* Fetch nothing (the SQ fills up); or fetch, but do not end jobs that post a CQE. */
void fake_hold_fetch(struct fake_daemon *f, bool hold);
void fake_hold_jobs(struct fake_daemon *f, bool hold);

/* From now on jobs of this operation fail with -error (0: they succeed). */
void fake_fail(struct fake_daemon *f, uint8_t opcode, int error);

/* Say from now on that it sleeps, although it serves. */
void fake_say_asleep(struct fake_daemon *f);

/* Put a value into the first ring's CQ tail (or SQ head) that no honest daemon puts there. */
void fake_lie_cq_tail(struct fake_daemon *f);
void fake_lie_sq_head(struct fake_daemon *f);

/* From now on, the first ring's CQEs are valid only in the tail's line. */
void fake_spoil_cqes(struct fake_daemon *f);

/* How many SQEs it has fetched on all rings; and how many bytes came through doorbells. */
uint32_t fake_fetched(struct fake_daemon *f);
struct quoit_sqe fake_sqe(struct fake_daemon *f, uint32_t i);
uint32_t fake_kicks(struct fake_daemon *f);
uint32_t fake_tensors_alive(struct fake_daemon *f);

/* The CPU that the client gave in its hello (quoit_hello). */
uint32_t fake_cpu_hint(struct fake_daemon *f);

/* Set whether an arena may grow from now on; and how often the client asked for that. */
void fake_refuse_arena(struct fake_daemon *f, bool refuse);
uint32_t fake_arena_asked(struct fake_daemon *f);

/* How many bytes of the arena have pages. */
uint64_t fake_arena_allocated(struct fake_daemon *f);

/* How many rings the client has closed. */
uint32_t fake_closed(struct fake_daemon *f);

/* The first ring's call sites, as a tool sees them. */
const struct quoit_site *fake_sites(struct fake_daemon *f);

/* The first ring's notes while it is recorded; 0: it is not recorded. */
const struct quoit_ring_events *fake_events(struct fake_daemon *f);
void fake_record(struct fake_daemon *f, uint32_t allowance);

/* Set how rare the first ring's samples are (quoit/sample.h); and the notes of their submits. */
void fake_sample(struct fake_daemon *f, uint32_t sampling);
const uint64_t *fake_submitted(struct fake_daemon *f);
#endif
