/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what a benchmark is made of: series, measured in turn, and their ratios.
 *
 * Machines drift, so only what one run measured side by side may be compared: every
 * round measures each series once, in the order of the table, round after round.
 */
#ifndef QUOIT_TOOLS_BENCH_H
#define QUOIT_TOOLS_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <quoit.h>

#include "runtime.h"

/* Which quoitd a series is measured on. */
enum bench_cores {
	BENCH_NO_DAEMON = 0,
	BENCH_ALL_CORES, /* one reactor; the one that --socket or $QUOIT_SOCKET names, if any */
	BENCH_ONE_CORE,
	BENCH_TWO_CORES,
	BENCH_DEVICE, /* with the devices of $QUOIT_GPU, soft ones without */
	BENCH_CORES_NR,
};

struct bench_daemon {
	char socket[QUOIT_SOCKET_BYTES];
	pid_t pid; /* of quoitd */
};

struct bench {
	struct bench_daemon daemon[BENCH_CORES_NR];
	int client_cpu; /* where the client runs; we are pinned to it */
	int server_cpu; /* where the reactor, the one core, or a peer's server runs */
};

struct bench_series {
	const char *name;
	const char *unit;
	enum bench_cores cores;

	/*
	 * Measure once.  0 or a negative errno; -ENOTSUP: it cannot be had here, and the
	 * series is printed as "-".  NULL: the series before fills ret[1] as well.
	 */
	int (*measure)(const struct bench *b, const struct bench_series *s, double *ret);

	unsigned depth;        /* jobs in flight, or what the measure makes of it */
	uint64_t count;        /* jobs of one measurement */
	const char *peer[4];   /* bench_peer: quoit-peer's words, ended by NULL */
	const char *peer_word; /* bench_peer: which of its figures */
};

struct bench_ratio {
	const char *key; /* "nop_1/floor": one word that scripts look for */
	const char *ours, *theirs;
};

struct bench_plan {
	const char *name;
	const char *help;
	unsigned rounds;                   /* unless --rounds says otherwise; odd */
	const struct bench_series *series; /* ended by a name that is NULL */
	const struct bench_ratio *ratios;  /* ended by a key that is NULL */
	const char *options[4];            /* of its private quoitds, besides; then NULL */
};

extern const struct bench_plan bench_nop, bench_submit, bench_chain, bench_gemm, bench_randn,
	bench_ops, bench_wake, bench_syscalls, bench_idle, bench_crowd, bench_device;

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
/* The same with the devices, in GPU-direct mode; -ENOTSUP: that is not to be had. */
int bench_open_direct(const struct bench *b, struct bench_client *ret);
void bench_close(struct bench_client *c);

/*
 * Run `total` NOPs through a raw ring, `depth` in flight, checking every CQE.  One at a time they
 * are waited for, of more all are reaped by polling.  0 or a negative errno; -EBADMSG: a CQE was
 * wrong.
 */
int bench_run_nops(struct quoit_ring *q, unsigned depth, uint64_t total);

/* The same job `count` times in a managed ring; nanoseconds each.  0, or a negative errno. */
int bench_repeat(struct quoit_ring *q, struct quoit_sqe sqe, uint64_t count, double *ret);

/* Is each of two elements, of float32, so much?  0; -EBADMSG: not so; or why it cannot be read. */
int bench_expect(struct quoit_ring *q, quoit_tensor x, uint64_t sum);

/* CLOCK_MONOTONIC in seconds. */
double bench_now(void);

#endif
