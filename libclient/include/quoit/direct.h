/* SPDX-License-Identifier: MIT */
/*
 * direct.h - GPU-direct rings: small jobs from a reactor straight to a consumer on a device.
 *
 * One ring (ring.h) per device and reactor.  quoitd writes the requests and the tail, in pages
 * that quoit-exec maps for reading only; all else is in pages of quoit-exec's.  There are three
 * parties:
 *
 *	quoitd     puts a request in if `up` is set and need_wake is not, and reaps by the head
 *	consumer   stays on the device and runs requests in their order, one after the other
 *	launcher   quoit-exec's own thread: starts the consumer and tells it to leave
 *
 *	        launcher starts it        first beat        told to, or idle
 *	away ──────────────────────► coming ──────► up ──────────────────────► left, away
 *
 * There are no answers.  What is put in has been checked and has no way to fail of its own; the
 * head says how much is done, and who sees it sees all that these jobs wrote.  A fault breaks the
 * whole device, as on a stream.
 *
 * A consumer that finds nothing for QUOIT_DIRECT_IDLE_NS leaves by the ring's edge W: either
 * quoitd sees need_wake and rings the channel's socket, or the consumer sees the tail and stays.
 * What is in the ring of a consumer that is away is run by the next one, or by the launcher
 * through a stream: it is the ring's consumer then, and `streamed` counts what it did.
 */
#ifndef QUOIT_DIRECT_H
#define QUOIT_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>
#include <quoit/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a small job is ---- */

#define QUOIT_DIRECT_ELEMENTS 4096u /* of its largest tensor */
#define QUOIT_DIRECT_SIDE     64u   /* of a product: rows, columns, and what is summed */

/* ---- where its tensors are ---- */

/* Each session has such a piece of each device, in which quoitd itself finds places. */
#define QUOIT_DIRECT_SLAB_BYTES   (UINT64_C(4) << 20)
#define QUOIT_DIRECT_BUFFER_BYTES 32768u /* of a buffer there, at most */

/* ---- the consumer's time ---- */

#define QUOIT_DIRECT_IDLE_NS 2000000u /* without a request, before it leaves */
#define QUOIT_DIRECT_LOOK_NS 10000u   /* between jobs it looks for `leave`, and beats, so often */

/* Resident on one device at a time: the rings of other reactors have none. */
#define QUOIT_DIRECT_CONSUMERS 8u

/* ---- the ring ---- */

#define QUOIT_DIRECT_ENTRIES 64u

/* A call whose verdict is NULL; addresses are the device's. */
struct quoit_direct_request {
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_device_call call;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_direct_request) == 256, "requests begin on lines");

/* What quoitd writes. */
struct quoit_direct_requests {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t tail;
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_direct_request request[QUOIT_DIRECT_ENTRIES];
};

/* What the other side writes: a line per writer and reader. */
struct quoit_direct_words {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t head; /* the consumer's */
	uint32_t need_wake;                      /* the same: 1: it is leaving, or has left */
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t up;   /* the launcher's: 1: there is one, and it beats */
	uint32_t streamed;                       /* the same: requests that it put into a stream */
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t leave; /* to the consumer: 1: go */
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t beat;  /* from the consumer: changes while it is there */
	/* The same, and the launcher's while there is none: 1: no consumer touches these pages any
	 * more. */
	uint32_t left;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_direct_words) == 4 * QUOIT_LINE, "rings begin on lines");

/*
 * Is a product of these dims of C and A small enough?  Those that are have the same algorithm in
 * a stream, so that their results are the same bits.
 */
static inline bool quoit_direct_product(const uint32_t *c, const uint32_t *a, uint8_t dtype)
{
	return (dtype == QUOIT_F32 || dtype == QUOIT_F64) && c[0] == 1 && c[1] == 1 &&
	       c[2] <= QUOIT_DIRECT_SIDE && c[3] <= QUOIT_DIRECT_SIDE &&
	       a[2] <= QUOIT_DIRECT_SIDE && a[3] <= QUOIT_DIRECT_SIDE;
}

#ifdef __cplusplus
}
#endif

#endif
