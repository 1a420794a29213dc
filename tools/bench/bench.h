/* SPDX-License-Identifier: MIT */
/*
 * bench.h - a benchmark: its series, which are measured in turn, and their ratios.
 *
 * Machines drift, so only figures that one run measured side by side may be compared.  Every round
 * measures each series once, in the order of the table, round after round.
 */
#ifndef QUOIT_TOOLS_BENCH_H
#define QUOIT_TOOLS_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit.h>

#include "read/runtime.h"

/* The quoitd that a series is measured on. */
enum bench_cores {
	BENCH_NO_DAEMON = 0,
	BENCH_ALL_CORES, /* one reactor; the quoitd of --socket or $QUOIT_SOCKET, if one is named */
	BENCH_ONE_CORE,
	BENCH_TWO_CORES,
	BENCH_DEVICE, /* with the devices of $QUOIT_GPU; without it, with soft ones */
	BENCH_CORES_NR,
};

struct bench_daemon {
	char socket[QUOIT_SOCKET_BYTES];
	pid_t pid; /* of quoitd */
};

struct bench {
	struct bench_daemon daemon[BENCH_CORES_NR];
	int client_cpu; /* the client's CPU; this process is pinned to it */
	int server_cpu; /* CPU of the reactor, of the one core, or of a peer's server */
};

struct bench_series {
	const char *name;
	const char *unit;
	enum bench_cores cores;

	/*
	 * Measure once.  0 or a negative errno; -ENOTSUP: this machine cannot measure it, and the
	 * series is printed as "-".  NULL: the measure of the series before also fills ret[1].
	 */
	int (*measure)(const struct bench *b, const struct bench_series *s, double *ret);

	unsigned depth;        /* jobs in flight; some measures give it another meaning */
	uint64_t count;        /* jobs of one measurement */
	const char *peer[4];   /* bench_peer: quoit-peer's arguments, ended by NULL */
	const char *peer_word; /* bench_peer: the name of its figure */
};

struct bench_ratio {
	const char *key; /* "nop_1/floor": one word, for scripts */
	const char *ours, *theirs;
};

struct bench_plan {
	const char *name;
	const char *help;
	unsigned rounds;                   /* default of --rounds; odd */
	const struct bench_series *series; /* ended by a NULL name */
	const struct bench_ratio *ratios;  /* ended by a NULL key */
	const char *options[4];            /* more options for its private quoitds; then NULL */
};

extern const struct bench_plan bench_nop, bench_submit, bench_chain, bench_gemm, bench_randn,
	bench_ops, bench_wake, bench_syscalls, bench_idle, bench_crowd, bench_device, bench_call,
	bench_event, bench_service, bench_sync, bench_queue, bench_keyspace;

/* The measure of additions in plan_chain.c, for other plans that compare with it. */
int bench_additions(const struct bench *b, const struct bench_series *s, double *ret);

/* ---- bench_peer.c ---- */

/* The measure of a series that runs quoit-peer and takes one of its figures. */
int bench_peer(const struct bench *b, const struct bench_series *s, double *ret);

/* ---- bench_client.c ---- */

struct bench_client {
	struct quoit_session *session;
	struct quoit_ring *ring;
};

/* Open a session with one ring; 0, or a negative errno after a message on stderr. */
int bench_open(const struct bench *b, enum bench_cores cores,
	       const struct quoit_ring_params *params, struct bench_client *ret);
/* The same with devices, in GPU-direct mode; -ENOTSUP: this mode is not available. */
int bench_open_direct(const struct bench *b, struct bench_client *ret);
void bench_close(struct bench_client *c);

/*
 * Run `total` NOPs through a raw ring, `depth` in flight, and check every CQE.  A depth of 1 waits
 * for each NOP; a larger depth polls for all CQEs.  0 or a negative errno; -EBADMSG: a CQE was
 * wrong.
 */
int bench_run_nops(struct quoit_ring *q, unsigned depth, uint64_t total);

/*
 * Run the same job `count` times in a managed ring; *ret: nanoseconds each.  0, or a negative
 * errno.
 */
int bench_repeat(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count, double *ret);

/* The same, waiting for each job before the next, after a tenth of them as a warm-up. */
int bench_repeat_each(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count, double *ret);

/* The same with 256 jobs in flight, for which the ring must have room. */
int bench_repeat_many(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count, double *ret);

/* The measure of NOPs, each waited for, for other plans that compare with it. */
int bench_nops_each(const struct bench *b, const struct bench_series *s, double *ret);

/*
 * Check that both elements of a float32 tensor are `sum`.  0; -EBADMSG: they are not; else the
 * errno of the read.
 */
int bench_expect(struct quoit_ring *q, quoit_tensor x, uint64_t sum);

/* CLOCK_MONOTONIC in seconds. */
double bench_now(void);

#endif
