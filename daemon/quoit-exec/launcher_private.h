/* SPDX-License-Identifier: MIT */
/*
 * launcher_private.h - what the files behind launcher.h share.  One thread calls all functions.
 *
 *	launcher.c         the loop: taking, answering, sleeping
 *	launcher_end.c     the end, by a sticky error
 *	launcher_turns.c   held flights, and turns at streams
 *	launcher_claims.c  the stream time that users have used
 *	launcher_flight.c  a request on its way into a stream
 *	launcher_clear.c   old contents of device memory
 *	launcher_stream.c  streams: choice, order, progress
 *	launcher_memory.c  device memory
 *	launcher_reach.c   the host memory that the device reaches
 *	launcher_stage.c   copies from and to memory that it does not reach
 *	launcher_peers.c   memory of other devices
 *	launcher_kernels.c kernels that clients have brought
 *	launcher_direct.c  GPU-direct rings: consumers that stay on the device
 */
#ifndef QUOIT_EXEC_LAUNCHER_PRIVATE_H
#define QUOIT_EXEC_LAUNCHER_PRIVATE_H

#include <stdbool.h>

#include "channel.h"
#include "fair/ledger.h"
#include "launcher.h"
#include "store/sizeclass.h"

#define NOBODY UINT32_MAX

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

/* A flight and its serial, which tells whether it is still the same: flights are used again. */
struct flight_name {
	uint32_t index;
	uint64_t serial;
};

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

struct queue {
	uint32_t head, tail; /* flights, linked by next; head NOBODY: empty */
};

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

/* A buffer of a session, by channel and slot. */
struct device_buffer {
	uint64_t address; /* 0: it has no memory */
	uint64_t bytes;
	bool dirty;                 /* it may have another session's old contents */
	struct flight_name cleaner; /* the flight that cleared it; others follow that */
};

struct holding {
	struct device_buffer *buffer;
	uint32_t count;
	struct device_buffer slab; /* cleared as one */
	/* launcher_reach.c: enum reach, one for each stretch of a region; NULL: none is known */
	uint8_t *reach[QUOIT_EXEC_REGIONS];
	uint32_t next_leaving; /* the next holding in launcher.leaving */
	/* launcher_turns.c */
	struct queue held, passed; /* flights; those in `passed` were looked at in this pass */
	uint32_t user;             /* its user */
	uint32_t next;             /* the next holding in that user's turns */
	bool has_turn;             /* it is in a queue of that user's turns */
	bool progressed;           /* a flight of it was put into a stream in this pass */
};

/* A user's holdings that have flights held, linked by next, and the stream time it has used. */
struct claim {
	struct ledger_page page;
	int64_t usual;           /* ticks that one flight has taken of a stream, of late */
	struct queue turns;      /* holdings that may still start a flight in this pass */
	struct queue stuck;      /* holdings that may not, and come first in the next one */
	struct queue progressed; /* holdings that started one, and come after those */
	bool waits;              /* it is among the users with turns */
	uint32_t next;           /* the next one of them */
};

/*
 * The driver is asked to reach host memory in such stretches, when they are first used: to ask for
 * a whole large region would take seconds, in which all sessions would wait.
 */
#define REACH_BYTES (UINT64_C(16) << 20)

/* One copy between the host and the device: dense on both sides. */
struct transfer {
	uint8_t *host;
	uint32_t region; /* of the host memory, and where in it */
	uint64_t offset;
	uint64_t device;
	uint64_t bytes;
	bool in; /* to the device */
};

/* Freed device memory by size class, last in first out. */
struct pool {
	struct {
		uint64_t *address;
		uint32_t count, room;
	} free[SIZECLASS_NR];
	uint64_t cached, used, most; /* bytes: free here, in use, and in use at most */
};

/* Copies through a staging buffer, one at a time each way. */
#define STAGE_PARTS 4u
#define STAGE_BYTES (UINT64_C(256) << 10)

struct stage {
	struct queue queue; /* the first is under way */
	uint8_t *memory;    /* STAGE_PARTS times STAGE_BYTES */
	bool begun;
	bool unmarked;                /* the next part is in the stream, but not its mark */
	uint64_t sent, done;          /* bytes of the first copy */
	uint64_t number[STAGE_PARTS]; /* of the stream, when that part is done */
};

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

/* ---- queues of flights ---- */

void queue_append(struct launcher *l, struct queue *q, uint32_t index);
uint32_t queue_pop(struct launcher *l, struct queue *q);

/* ---- launcher.c ---- */

/*
 * Say whether the launcher is at work without a stream: a driver's call may take long, and an
 * executor that owes answers and works at nothing is taken for dead.
 */
void launcher_works(struct launcher *l, bool works);

/* A flight is over: answer its request.  0 or -EPROTO. */
int launcher_answer(struct launcher *l, uint32_t index);

/* ---- launcher_end.c ---- */

/* Returns `result` of a driver's function; a sticky error ends the process. */
int launcher_check(struct launcher *l, int result);

/* The process is about to end by this error: store the reason for quoitd, after `doing`. */
void launcher_say_why(struct launcher *l, const char *doing, int err);

/* ---- launcher_claims.c ---- */

/* A flight has come: note its user and share. */
void claim_take(struct launcher *l, struct flight *f);

/* _start: it goes into its stream.  _end: it is answered, whether it was in a stream or not. */
void claim_start(struct launcher *l, struct flight *f);
void claim_end(struct launcher *l, const struct flight *f);

/* The first flight of a stream waits for another stream: that time counts for no user. */
void claim_waits(struct stream *s);

/*
 * `count` flights were answered, from `index` on by their links.  Together they were at the head of
 * their stream since the last ones were, or since they came there, or could begin.
 */
void claim_passed(struct launcher *l, struct stream *s, uint32_t index, uint32_t count);

/* ---- launcher_turns.c ---- */

void turns_open(struct launcher *l);

/* Hold the flight until it can be put into a stream. */
void turns_hold(struct launcher *l, uint32_t index);

/* Start held flights; true: something was put into a stream. */
bool turns_advance(struct launcher *l);

/* A session is dead: its held flights will not run, and its staged copies go no further. */
void turns_cancel(struct launcher *l, uint32_t holding);

/* Answer cancelled flights that wait for no other any more; true: some.  *ret_err: -EPROTO. */
bool turns_answer(struct launcher *l, int *ret_err);

/* ---- launcher_flight.c ---- */

/* A request has come: it is in flight, and held if it cannot start. */
void flight_take(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);

/* Put it into a stream; false: a flight that it names is not in one yet, or there is no room. */
bool flight_start(struct launcher *l, uint32_t index);

/* Go on with flights that found their stream full; true: one is in its stream now. */
bool flights_resume(struct launcher *l);

/* It has failed, with this -errno: set what it will be answered. */
void flight_fail(struct flight *f, int err);

/* Stamp the flight's begin (0) or end (1), if its request asks for that. */
int flight_stamp(struct launcher *l, const struct flight *f, uint32_t which);

/* Is a flight that it names still open? */
bool flight_waits(const struct launcher *l, const struct flight *f);

/* ---- launcher_clear.c ---- */

/* Add to the flights that it follows those that clear its buffers. */
void clear_name(struct launcher *l, struct flight *f);

/*
 * Put into its stream: clear all old contents that it does not overwrite, and the places in
 * quoit_exec_request.zero; a bit that stays set was not cleared.
 */
int clear_before(struct launcher *l, struct flight *f);

/*
 * Its work is in the stream: buffers that it overwrites are no longer dirty.  Or it has failed:
 * clear those.  0 or -EAGAIN.
 */
void clear_written(struct launcher *l, const struct flight *f);
int clear_after(struct launcher *l, struct flight *f);

/* The address of the session's slab; 0: it has none, or its clearing is not over. */
uint64_t clear_slab(const struct launcher *l, const struct holding *h);

/* ---- launcher_stream.c ---- */

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

/* ---- launcher_memory.c ---- */

/*
 * The address of a session's device buffer, which is made now if it has no memory.  0; -ENOMEM;
 * -EPROTO: it would lie outside the slab.
 */
int holding_find(struct launcher *l, uint32_t holding, uint32_t buffer, uint64_t bytes,
		 uint64_t *ret);

/* The buffer, valid until the next holding_find; NULL: it has no memory.  _drop: free it. */
struct device_buffer *holding_look(struct launcher *l, uint32_t holding, uint32_t buffer);
void holding_drop(struct launcher *l, uint32_t holding, uint32_t buffer);

/* The session leaves: free all that it has on the device. */
void holding_leave(struct launcher *l, uint32_t holding);
void holdings_close(struct launcher *l);

/* ---- launcher_reach.c ---- */

void reach_open(struct launcher *l);
void reach_close(struct launcher *l);

/*
 * Does the device reach all host memory of the transfer?  1; 0; -EAGAIN: ask again in the next
 * pass.
 */
int reach_transfer(struct launcher *l, struct flight *f, const struct transfer *t);

/* How many bytes of it, from `offset` on, the driver takes in one copy. */
uint64_t reach_copy_bytes(const struct transfer *t, uint64_t offset);

/*
 * The session leaves: give its stretches back, unmap its memory and answer UNMAP, perhaps in a
 * later pass.  0 or -EPROTO.
 */
int reach_leave(struct launcher *l, uint32_t holding);

/* Go on with sessions that leave; true: something was done.  *ret_err: -EPROTO. */
bool reach_advance(struct launcher *l, int *ret_err);

/* ---- launcher_stage.c ---- */

int stage_open(struct launcher *l);
void stage_close(struct launcher *l);

/* Take a copy whose host side the device does not reach; it has its stream. */
void stage_take(struct launcher *l, uint32_t index);

/* Go on with staged copies; true: something was done.  *ret_err: -EPROTO. */
bool stage_advance(struct launcher *l, int *ret_err);

/* ---- launcher_peers.c ---- */

/* Take messages about other devices' processes.  0, -ECONNRESET or -EPROTO. */
int peers_hear(struct launcher *l);
void peers_close(struct launcher *l);

/* Does this request read another device's memory? */
bool flight_is_from_peer(const struct flight *f);

/*
 * Put such a copy into the flight's stream.  0; -ENOTSUP: that device is not reached, and nothing
 * was put there; -EAGAIN; else -errno.
 */
int peer_copy(struct launcher *l, struct flight *f);

/* The copy is over: release what it read.  A flight of another kind is fine. */
void peer_leave(struct launcher *l, struct flight *f);

/* The flight is an EXPORT that is done: give its buffer a name for others.  0 or -ENOTSUP. */
int export_buffer(struct launcher *l, const struct flight *f);

/* ---- launcher_kernels.c ---- */

/* Serve LOAD and FIND, which are answered, and UNLOAD.  0 or -EPROTO. */
int launcher_kernels_load(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);
int launcher_kernels_find(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);
int launcher_kernels_unload(struct launcher *l, uint32_t channel,
			    const struct quoit_exec_request *q);

/* The session leaves: unload its modules. */
void launcher_kernels_leave(struct launcher *l, struct memory *m);

/*
 * Put a LAUNCH into the flight's stream.  As the driver's launch, or -ENOENT: the session has no
 * such kernel.
 */
int launcher_kernels_launch(struct launcher *l, const struct flight *f);

/* ---- launcher_direct.c ---- */

/* direct_make: false: no memory.  direct_unmake: consumers leave; without rings it does nothing. */
bool direct_make(struct launcher *l);
void direct_unmake(struct launcher *l);

/*
 * Requests have come through this channel: see all that its direct ring's consumer did before
 * quoitd sent them.  The order came by way of quoitd; this makes it one within the process.
 */
void direct_see(const struct launcher *l, uint32_t channel);

/* A stream got a job of this channel that was meant for its direct ring. */
void direct_want(struct launcher *l, uint32_t channel);

/* Look after all rings; true: something was done. */
bool direct_advance(struct launcher *l);

/* How long the launcher may sleep, in nanoseconds, as far as these rings are concerned. */
uint64_t direct_nap(const struct launcher *l);

/* Requests in the rings that are not done; *ret_name is set to the name of one of them. */
uint32_t direct_count(const struct launcher *l, uint64_t *ret_name);

/*
 * Have all consumers leave.  Call it before each driver call that may wait for all that runs on the
 * device (device.h lists them).  Consumers come back after that call.
 */
void direct_park(struct launcher *l);

/* ---- where things are ---- */

/* Bytes of the elements of a view. */
uint64_t flight_view_bytes(const struct quoit_exec_view *v);

/*
 * Is the flight a transfer?  Then flight_transfer fills *ret, with the device buffer found or made:
 * 0, -ENOMEM, -EPROTO.
 */
bool flight_is_transfer(const struct flight *f);
int flight_transfer(struct launcher *l, struct flight *f, struct transfer *ret);

static inline uint32_t flight_channel(const struct launcher *l, const struct flight *f)
{
	return (uint32_t)(f - l->flight) / QUOIT_EXEC_ENTRIES;
}

static inline uint32_t flight_holding(const struct launcher *l, const struct flight *f)
{
	return flight_channel(l, f) * QUOIT_EXEC_SLOTS + f->q.slot;
}

/* Is it completely in its stream, so that only the device has to work for its answer? */
static inline bool flight_is_issued(const struct flight *f)
{
	return f->step == STEP_ISSUED;
}

static inline const struct memory *flight_memory(const struct launcher *l, const struct flight *f)
{
	return &l->channels->channel[flight_channel(l, f)].slots[f->q.slot];
}

#endif
