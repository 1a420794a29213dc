/* SPDX-License-Identifier: MIT */
/* launcher_stream.h - streams: choice, order, progress */
#ifndef QUOIT_EXEC_LAUNCHER_STREAM_H
#define QUOIT_EXEC_LAUNCHER_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/exec.h>

#include "driver.h"
#include "launcher_queue.h"

struct flight;
struct launcher;

/* Streams: one for each direction of transfer, the others for work. */
enum {
	STREAM_IN,
	STREAM_OUT,
	STREAM_WORK,
	STREAM_URGENT = 6,
	STREAMS = QUOIT_EXEC_STREAMS,
};

/*
 * Flights in one stream, at most and at least.  A flight in a stream cannot be taken back, and a
 * new one comes behind it.  So each stream has room for about STREAM_NS of work: more if it runs
 * dry, less if it is late.  Small jobs need many places, since a look at a stream costs more than
 * one of them.
 */
#define STREAM_MOST  128u
#define STREAM_FIRST 16u
#define STREAM_LEAST 4u
#define STREAM_NS    10000000u

/*
 * A mark costs about as much as a small job, so up to this many small jobs share one if they come
 * at the same time.  A job is small, a few microseconds, if no view is larger than SMALL_BYTES.
 */
#define STREAM_SHARE 8u
#define SMALL_BYTES  65536u

/* Marks that may be ahead of a stream's word: for flights, and for parts of copies. */
#define STREAM_MARKS 512u

struct stream {
	struct quoit_device_stream *stream;
	struct quoit_device_event *event;
	uint32_t *word;         /* in shared memory: the lower half of how far it is */
	uint64_t done;          /* how far it was at the last look */
	uint64_t number;        /* the last one given out */
	uint64_t seen[STREAMS]; /* it waits for each other stream up to here */
	struct queue queue;     /* issued flights */
	uint32_t unmarked;      /* the last of them, which wait for the next mark */
	uint32_t issuing;       /* the flight that found it full while being put there, or NOBODY */
	uint64_t passed; /* TSC: when the last ones were seen done, or the first seen to wait */
	uint32_t depth;  /* flights that have it and are not answered */
	uint32_t room;   /* the most flights that it may have */
	struct quoit_device_event *mark[STREAM_MARKS]; /* if streams cannot write words */
};

/* What streams write, in the driver's host memory. */
struct shared {
	struct {
		QUOIT_ALIGNED(QUOIT_LINE) uint32_t word;
	} stream[STREAMS];
	struct {
		struct quoit_device_verdict verdict;
		uint64_t stamp[2];
	} flight[];
};

int streams_open(struct launcher *l);
void streams_close(struct launcher *l);

/* The stream that a flight should have, which has room for one more; NOBODY: there is none. */
uint32_t stream_choose(const struct launcher *l, const struct flight *f);

/* Make the flight's stream wait, from now on, for all flights that it names. */
int stream_order(struct launcher *l, struct flight *f);

/*
 * Put a mark into the stream, which passes *ret_number when it comes there.  0; -errno: not marked.
 */
int stream_mark(struct launcher *l, uint32_t stream, uint64_t *ret_number);

/* The flight is completely in its stream.  It is marked now, or by streams_mark. */
void stream_append(struct launcher *l, uint32_t index);

/* Mark all unmarked flights; a stream without room is tried again the next time. */
void streams_mark(struct launcher *l);

bool stream_has_passed(struct launcher *l, uint32_t stream, uint64_t number);

/* Answer flights that are done; true: some.  *ret_err: -EPROTO. */
bool streams_collect(struct launcher *l, int *ret_err);

#endif
