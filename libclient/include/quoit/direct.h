/* SPDX-License-Identifier: MIT */
/*
 * direct.h - GPU-direct rings: small jobs from a reactor straight to a consumer on a device.
 *
 * One ring (ring.h) per device and reactor.  quoitd writes the requests and the tail, in pages that
 * quoit-exec maps read-only; everything else lies in quoit-exec's own pages.  There are three
 * parties:
 *
 *	quoitd     puts a request in if `up` is set and need_wake is not, and reaps by the head
 *	consumer   stays on the device and runs requests in their order, one after the other
 *	launcher   quoit-exec's own thread: starts the consumer and tells it to leave
 *
 *	        launcher starts it        first beat        told to, or idle
 *	away ──────────────────────► coming ──────► up ──────────────────────► left, away
 *
 * There are no answers.  quoitd has checked each request, so none can fail by itself.  The head
 * counts the requests that are done; a reader of the head sees all that these jobs wrote.  A fault
 * breaks the whole device, as on a stream.
 *
 * A consumer that finds no request for QUOIT_DIRECT_IDLE_NS leaves by the ring's edge W: either
 * quoitd sees need_wake and rings the channel's socket, or the consumer sees the tail and stays.
 * Requests that are left in the ring are run by the next consumer, or by the launcher through a
 * stream.  The launcher is then the ring's consumer, and `streamed` counts these requests.
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

#define QUOIT_DIRECT_ELEMENTS 4096u /* elements of its largest tensor */
#define QUOIT_DIRECT_SIDE     64u   /* of a product: the most rows, columns, and terms of a sum */

/* ---- where its tensors are ---- */

/* Each session has one such piece of memory on each device; quoitd places buffers in it. */
#define QUOIT_DIRECT_SLAB_BYTES   (UINT64_C(4) << 20)
#define QUOIT_DIRECT_BUFFER_BYTES 32768u /* the largest buffer there */

/* ---- the consumer's time ---- */

#define QUOIT_DIRECT_IDLE_NS 2000000u /* a consumer leaves after this time without a request */
/* between jobs the consumer looks at `leave`, and beats, this often */
#define QUOIT_DIRECT_LOOK_NS 10000u

/* This many rings of a device can have a consumer; the rings of further reactors have none. */
#define QUOIT_DIRECT_CONSUMERS 8u

/* ---- the ring ---- */

#define QUOIT_DIRECT_ENTRIES 64u

/* A call without a verdict (NULL); its addresses are the device's. */
struct quoit_direct_request {
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_device_call call;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_direct_request) == 256, "requests begin on lines");

/* The pages that quoitd writes. */
struct quoit_direct_requests {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t tail;
	QUOIT_ALIGNED(QUOIT_LINE) struct quoit_direct_request request[QUOIT_DIRECT_ENTRIES];
};

/* The words that quoit-exec and the consumer write: one line for each pair of writer and reader. */
struct quoit_direct_words {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t head; /* the consumer writes it */
	uint32_t need_wake; /* the consumer writes it; 1: it is leaving, or has left */
	/* the launcher writes it; 1: there is a consumer, and it beats */
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t up;
	uint32_t streamed; /* the launcher writes it: how many requests it put into a stream */
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t leave; /* the launcher tells the consumer: 1: leave */
	/* the consumer writes it: it changes while the consumer is there */
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t beat;
	/*
	 * The consumer writes it, and while there is none, the launcher.  1: no consumer touches
	 * these pages any more.
	 */
	uint32_t left;
};
QUOIT_STATIC_ASSERT(sizeof(struct quoit_direct_words) == 4 * QUOIT_LINE, "rings begin on lines");

/*
 * Is a product of these dims of C and A small enough?  A stream runs such products by the same
 * algorithm as the consumer, so that both give the same bits.
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
