/* SPDX-License-Identifier: MIT */
/* launcher_flight.h - a request on its way into a stream */
#ifndef QUOIT_EXEC_LAUNCHER_FLIGHT_H
#define QUOIT_EXEC_LAUNCHER_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/exec.h>

#include "launcher_queue.h"
#include "launcher_stream.h"

struct launcher;
struct peer;

/* What is put into a stream for a flight, step by step; at each step the stream may be full. */
enum step {
	STEP_HELD, /* it has no stream yet */
	STEP_ORDER,
	STEP_CLEAR,
	STEP_BEGIN,
	STEP_PUT,
	STEP_END,
	STEP_CLEAN, /* of one that has failed: what it should have overwritten */
	STEP_MARK,
	STEP_ISSUED,
};

struct flight {
	struct quoit_exec_request q;
	uint64_t serial;  /* 0: free */
	uint64_t arrived; /* TSC */
	/* Flights that it follows: `named` ones by quoitd, then those that clear its buffers. */
	struct flight_name after[QUOIT_EXEC_AFTER + QUOIT_MAX_TENSORS_PER_JOB];
	uint32_t named, afters;
	uint32_t next;   /* in the queue of held or staged flights, or of its stream */
	uint8_t stream;  /* from STEP_ORDER on */
	uint8_t step;    /* enum step: what is to be done next */
	uint64_t issued; /* TSC */
	uint64_t range;  /* the driver's range, from stream to answer, if profiled */
	uint64_t number; /* of its stream, when it is done */
	uint64_t after_marks[STREAMS]; /* of each stream, before it can begin */
	int32_t res;                   /* -errno: it could not run */
	uint8_t field;
	uint64_t value[2];
	uint64_t sent; /* bytes of a transfer that are in its stream */
	uint32_t user, share;
	int64_t counted; /* ticks, counted before its time was known */
	/* The driver did not register so many bytes for it, for this errno. */
	uint64_t refused;
	uint8_t refusal;
	/* For a copy from another device, while it is in its stream: what it reads. */
	struct peer *peer;
	uint64_t imported;
};

/* One copy between the host and the device: dense on both sides. */
struct transfer {
	uint8_t *host;
	uint32_t region; /* of the host memory, and where in it */
	uint64_t offset;
	uint64_t device;
	uint64_t bytes;
	bool in; /* to the device */
};

/* A request has come: it is in flight, and held if it cannot start. */
void flight_take(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);

/*
 * Put the flight into a stream.  False: it waits for a flight that is in no stream yet, or its
 * stream has no room.
 */
bool flight_start(struct launcher *l, uint32_t index);

/* Go on with flights that found their stream full; true: one is in its stream now. */
bool flights_resume(struct launcher *l);

/* It has failed, with this -errno: set what it will be answered. */
void flight_fail(struct flight *f, int err);

/* Stamp the flight's begin (0) or end (1), if its request asks for that. */
int flight_stamp(struct launcher *l, const struct flight *f, uint32_t which);

/* Is a flight that it names still open? */
bool flight_waits(const struct launcher *l, const struct flight *f);

/* Bytes of the elements of a view. */
uint64_t flight_view_bytes(const struct quoit_exec_view *v);

/*
 * Is the flight a transfer?  Then flight_transfer fills *ret, with the device buffer found or made:
 * 0, -ENOMEM, -EPROTO.
 */
bool flight_is_transfer(const struct flight *f);
int flight_transfer(struct launcher *l, struct flight *f, struct transfer *ret);

/* Is it completely in its stream, so that only the device has to work for its answer? */
static inline bool flight_is_issued(const struct flight *f)
{
	return f->step == STEP_ISSUED;
}

#endif
