/* SPDX-License-Identifier: MIT */
/*
 * fake_daemon.h - a quoitd of one thread, for tests of libquoit alone.
 *
 * It serves one client on a socket of its own, in program order.  It knows CREATE,
 * VIEW, FREE and COPY of any shape; every other operation just succeeds.  A test
 * can make it hold jobs, fail an operation, lie, refuse and die.
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

/* What a test may ask for at start; zero is a well-behaved daemon. */
struct fake_options {
	uint64_t arena_bytes; /* 0: 1 MiB */
	uint64_t arena_most;  /* to which it grows, until fake_refuse_arena; 0: it does not */
	int32_t refuse;       /* HELLO's result, with a text */
	uint32_t version;     /* of another quoitd, which refuses ours */
	bool lax;             /* and which is older than that: it takes ours */
	uint64_t features;    /* that it has, whatever was asked for */
	bool wrong_seq;       /* replies that are not to the request */
	bool end;             /* instead of a reply: QUOIT_CTL_END with a text */
};

struct fake_daemon *fake_start(const struct fake_options *options);

/* Die: close every socket at once, what is in the rings stays there. */
void fake_kill(struct fake_daemon *f);
void fake_stop(struct fake_daemon *f);

/* Die, with one of this version in its place before anybody looks. */
void fake_replace(struct fake_daemon *f, uint32_t version);

const char *fake_path(const struct fake_daemon *f);

/* Fetch nothing (the SQ fills up); fetch but do not end jobs that post a CQE. */
void fake_hold_fetch(struct fake_daemon *f, bool hold);
void fake_hold_jobs(struct fake_daemon *f, bool hold);

/* From now on jobs of this operation fail with -error (0: none do). */
void fake_fail(struct fake_daemon *f, uint8_t opcode, int error);

/* Say that it sleeps, from now on, although it serves. */
void fake_say_asleep(struct fake_daemon *f);

/* Put a value into the first ring's CQ tail (or SQ head) that no honest daemon has there. */
void fake_lie_cq_tail(struct fake_daemon *f);
void fake_lie_sq_head(struct fake_daemon *f);

/* From now on, the first ring's CQEs make sense only in the tail's line. */
void fake_spoil_cqes(struct fake_daemon *f);

/* The SQEs fetched so far on all rings, and how many bytes came through doorbells. */
uint32_t fake_fetched(struct fake_daemon *f);
struct quoit_sqe fake_sqe(struct fake_daemon *f, uint32_t i);
uint32_t fake_kicks(struct fake_daemon *f);
uint32_t fake_tensors_alive(struct fake_daemon *f);

/* Where the client said that it runs (quoit_hello). */
uint32_t fake_cpu_hint(struct fake_daemon *f);

/* From now on, whether an arena may grow; and how often it was asked for that. */
void fake_refuse_arena(struct fake_daemon *f, bool refuse);
uint32_t fake_arena_asked(struct fake_daemon *f);

/* How many rings it was asked to close. */
uint32_t fake_closed(struct fake_daemon *f);

/* The first ring's call sites, as a tool would see them. */
const struct quoit_site *fake_sites(struct fake_daemon *f);

/* What the first ring's client notes while it is recorded; 0: it is not. */
const struct quoit_ring_events *fake_events(struct fake_daemon *f);
void fake_record(struct fake_daemon *f, uint32_t allowance);

/* How rare the first ring's samples are to be (quoit/sample.h), and the notes of their submits. */
void fake_sample(struct fake_daemon *f, uint32_t sampling);
const uint64_t *fake_submitted(struct fake_daemon *f);
#endif
