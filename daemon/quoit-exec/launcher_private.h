/* SPDX-License-Identifier: MIT */
/*
 * launcher_private.h - what one launcher is, of parts that their owners declare: streams, flights,
 * claims, memory, staging.  launcher_*.h say what each file behind launcher.h does.  One thread
 * calls all functions.
 */
#ifndef QUOIT_EXEC_LAUNCHER_PRIVATE_H
#define QUOIT_EXEC_LAUNCHER_PRIVATE_H

#include <stdbool.h>

#include "channel.h"
#include "launcher.h"
#include "launcher_claims.h"
#include "launcher_flight.h"
#include "launcher_memory.h"
#include "launcher_queue.h"
#include "launcher_stage.h"
#include "launcher_stream.h"

struct launcher {
	const struct quoit_device_driver *driver;
	struct quoit_device *device;
	bool signals;  /* streams can write words */
	bool profiled; /* jobs are shown as ranges, from their streams to their answers */
	struct channels *channels;
	struct shared *shared;
	uint32_t flights; /* QUOIT_EXEC_ENTRIES per channel */
	struct flight *flight;
	uint64_t serial;
	uint32_t open;          /* flights */
	struct queue turns;     /* users whose holdings have flights held, linked by next */
	_Atomic uint64_t clock; /* the time used by the last user chosen (fair/ledger.h) */
	struct claim claim[QUOIT_EXEC_USERS];
	struct queue cancelled; /* flights that will not run and wait for those they name */
	bool reach_requested;   /* in this pass the driver was asked for a stretch */
	struct queue leaving;   /* holdings whose stretches are being given back */
	uint32_t calls;         /* of launcher_works, modulo QUOIT_EXEC_CALLS */
	struct stream stream[STREAMS];
	struct stage stage[2];   /* by direction: STREAM_IN, STREAM_OUT */
	struct holding *holding; /* channel * QUOIT_EXEC_SLOTS + slot */
	struct pool pool;
	struct direct *direct;
	struct peer *peer[QUOIT_EXEC_DEVICES]; /* number n is at n - 1; NULL: not reached */
	uint64_t nowhere; /* a page on the device, for tensors without elements */
	/* The device's time: ns there and ticks here at one moment, and the error in ticks. */
	uint64_t clock_ns, clock_ticks, clock_error;
	uint64_t clock_step;  /* ns, quoit_device_info */
	uint64_t clock_retry; /* TSC: the clock is not read before */
};

/* ---- launcher.c ---- */

/*
 * Say whether the launcher is at work without a stream: a driver's call may take long, and an
 * executor that owes answers and works at nothing is taken for dead.
 */
void launcher_works(struct launcher *l, bool works);

/* A flight is over: answer its request.  0 or -EPROTO. */
int launcher_answer(struct launcher *l, uint32_t index);

/* ---- where a flight belongs ---- */

static inline uint32_t flight_channel(const struct launcher *l, const struct flight *f)
{
	return (uint32_t)(f - l->flight) / QUOIT_EXEC_ENTRIES;
}

static inline uint32_t flight_holding(const struct launcher *l, const struct flight *f)
{
	return flight_channel(l, f) * QUOIT_EXEC_SLOTS + f->q.slot;
}

static inline const struct memory *flight_memory(const struct launcher *l, const struct flight *f)
{
	return &l->channels->channel[flight_channel(l, f)].slots[f->q.slot];
}

#endif
