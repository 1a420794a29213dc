/* SPDX-License-Identifier: MIT */
/*
 * launcher_private.h - what the files behind launcher.h share.  All by one thread.
 *
 *	launcher.c         the loop: taking, answering, sleeping
 *	launcher_end.c     what ends it
 *	launcher_turns.c   who is held, and whose turn it is at a stream
 *	launcher_claims.c  what users have had of the streams
 *	launcher_flight.c  a request on its way into a stream
 *	launcher_clear.c   what somebody has left in device memory
 *	launcher_stream.c  streams: which one, in what order, how far
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
#include "host/ledger.h"
#include "launcher.h"
#include "memory/sizeclass.h"

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
 * Flights in one stream, at most and at least.  What is there is in nobody's hands any more, and
 * who comes new is behind it: so each stream has room for about STREAM_NS of work, found out by
 * what it takes to run dry, and what to be late.  Small jobs need many there, since each look at
 * a stream costs more than one of them.
 */
#define STREAM_MOST  128u
#define STREAM_FIRST 16u
#define STREAM_LEAST 4u
#define STREAM_NS    10000000u

/*
 * A mark costs about what a small job does: so many of those share one, as far as they come at the
 * same time; and small are those whose views are no larger than that, a few microseconds each.
 */
#define STREAM_SHARE 8u
#define SMALL_BYTES  65536u

/* Marks that may be ahead of a stream's word: of flights, and of a copy's parts. */
#define STREAM_MARKS 512u

/* A flight as it was when somebody named it: flights are used again. */
struct flight_name {
	uint32_t index;
	uint64_t serial;
};

/* What is put into a stream for a flight; at each of these the stream may be full for now. */
enum step {
	STEP_HELD, /* it has no stream yet */
	STEP_ORDER,
	STEP_CLEAR,
	STEP_BEGIN,
	STEP_PUT,
	STEP_END,
	STEP_CLEAN, /* of one that has failed: what it should have written whole */
	STEP_MARK,
	STEP_ISSUED,
};

struct flight {
	struct quoit_exec_request q;
	uint64_t serial;  /* 0: free */
	uint64_t arrived; /* TSC */
	/* Those named by quoitd that were open when it came; then who clears buffers of its. */
	struct flight_name after[QUOIT_EXEC_AFTER + QUOIT_MAX_TENSORS_PER_JOB];
	uint32_t named, afters;
	uint32_t next;            /* held, staged, or in its stream */
	uint8_t stream;           /* once it has one */
	uint8_t step;             /* enum step: what is to be done next */
	uint64_t issued;          /* TSC */
	uint64_t range;           /* the driver's, of one that has a stream, if it is profiled */
	uint64_t number;          /* of the stream, when it is done */
	uint64_t behind[STREAMS]; /* and of the others, before it can begin */
	int32_t res;              /* it could not run */
	uint8_t field;
	uint64_t value[2];
	uint64_t sent; /* bytes of a transfer that are in its stream */
	uint32_t user, share;
	int64_t counted; /* ticks, before it was known what it takes */
	/* For its sake the driver was asked to reach so many bytes, and did not: as errno. */
	uint64_t refused;
	uint8_t refusal;
	/* Of a copy from another device, while it is in its stream: what it reads. */
	struct peer *peer;
	uint64_t imported;
};

struct queue {
	uint32_t head, tail; /* flights, linked by next; head NOBODY: empty */
};

struct stream {
	struct quoit_device_stream *stream;
	struct quoit_device_event *event;
	uint32_t *word;         /* in shared memory: how far it is, the lower half of that */
	uint64_t done;          /* all of it, when last looked at */
	uint64_t number;        /* last given out */
	uint64_t seen[STREAMS]; /* it waits for the others up to here */
	struct queue queue;     /* issued; the last of them, */
	uint32_t unmarked;      /* so many, by the mark that is to come */
	uint32_t issuing;       /* who was not all put there when it was full; NOBODY */
	uint64_t passed; /* TSC: when the last ones were seen to be done, or the first to wait */
	uint32_t depth;  /* flights that have it and are not answered, */
	uint32_t room;   /* and how many it may have */
	struct quoit_device_event *mark[STREAM_MARKS]; /* where streams cannot write words */
};

/* What streams write; host memory of the driver. */
struct shared {
	struct {
		QUOIT_ALIGNED(QUOIT_LINE) uint32_t word;
	} stream[STREAMS];
	struct {
		struct quoit_device_verdict verdict;
		uint64_t stamp[2];
	} flight[];
};

/* A session's memory here, by channel and slot. */
struct device_buffer {
	uint64_t address; /* 0: it has none */
	uint64_t bytes;
	bool dirty;                 /* it has somebody's old contents */
	struct flight_name cleaner; /* who cleared it; others come behind */
};

struct holding {
	struct device_buffer *buffer;
	uint32_t count;
	struct device_buffer slab; /* cleared as one */
	/* launcher_reach.c: enum reach, one per stretch of a region; NULL: none is known */
	uint8_t *reach[QUOIT_EXEC_REGIONS];
	uint32_t next_leaving; /* in the list of those */
	/* launcher_turns.c */
	struct queue held, passed; /* flights; the latter were looked at in this pass */
	uint32_t user;             /* whose it is, */
	uint32_t next;             /* and who comes behind it in that user's turns */
	bool has_turn;             /* is there */
	bool went;                 /* one was put into a stream in this pass */
};

/* A user's holdings that have flights held, linked by next, and what it has had of the streams. */
struct claim {
	struct ledger_page page;
	int64_t usual;      /* ticks that one flight takes of a stream, of late */
	struct queue turns; /* those that may still have one of theirs go in this pass */
	struct queue stuck; /* and those that may not, who are first in the next one */
	struct queue went;  /* behind them: one of theirs did */
	bool waits;         /* it is among the users with turns, */
	uint32_t next;      /* and so is this one, behind it */
};

/*
 * The driver is asked to reach host memory in such stretches, when they are first used: to ask for
 * all of a large region would take seconds, which no other session should wait for.
 */
#define REACH_BYTES (UINT64_C(16) << 20)

/* One copy between the host and the device: dense on both sides. */
struct transfer {
	uint8_t *host;
	uint32_t region; /* of the host, and where in it */
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
	bool unmarked;                /* the next part is in the stream, and not its mark */
	uint64_t sent, done;          /* bytes of the first */
	uint64_t number[STAGE_PARTS]; /* of the stream, when that part is done */
};

struct launcher {
	const struct quoit_device_driver *driver;
	struct quoit_device *device;
	bool signals;  /* streams can write words */
	bool profiled; /* jobs are ranges, from their streams to their answers */
	struct channels *channels;
	struct shared *shared;
	uint32_t flights; /* QUOIT_EXEC_ENTRIES per channel */
	struct flight *flight;
	uint64_t serial;
	uint32_t open;          /* flights */
	struct queue turns;     /* users whose holdings have flights held, linked by next */
	_Atomic uint64_t clock; /* what the last of them that was chosen had had (host/ledger.h) */
	struct claim claim[QUOIT_EXEC_USERS];
	struct queue cancelled; /* flights that will not run, until all that they name are over */
	bool asked;             /* in this pass the driver was asked for a stretch */
	struct queue leaving;   /* holdings whose stretches are being given back */
	uint32_t calls;         /* of launcher_works, QUOIT_EXEC_CALLS at most */
	struct stream stream[STREAMS];
	struct stage stage[2];   /* by direction: STREAM_IN, STREAM_OUT */
	struct holding *holding; /* channel * QUOIT_EXEC_SLOTS + slot */
	struct pool pool;
	struct direct *direct;
	struct peer *peer[QUOIT_EXEC_DEVICES]; /* number n is at n - 1; NULL: not reached */
	uint64_t nowhere; /* a page on the device: where tensors without elements are */
	/* The device's time: ns there, ticks here, at one moment; ticks: how exact that is */
	uint64_t clock_ns, clock_ticks, clock_error;
	uint64_t clock_step;  /* ns, quoit_device_info */
	uint64_t clock_retry; /* TSC: not to be asked before */
};

/* ---- queues of flights ---- */

void queue_append(struct launcher *l, struct queue *q, uint32_t index);
uint32_t queue_pop(struct launcher *l, struct queue *q);

/* ---- launcher.c ---- */

/*
 * Say that it is at work, or is not any more, where no stream is: a driver's call may take long,
 * and who owes an answer and works at nothing is taken for dead.
 */
void launcher_works(struct launcher *l, bool works);

/* A flight is over: answer.  -EPROTO. */
int launcher_answer(struct launcher *l, uint32_t index);

/* ---- launcher_end.c ---- */

/* Pass on what a driver's function returned; a sticky error ends the process. */
int launcher_check(struct launcher *l, int result);

/* It is about to end, by this error: say so to quoitd, for people, behind `doing`. */
void launcher_say_why(struct launcher *l, const char *doing, int err);

/* ---- launcher_claims.c ---- */

/* A flight has come: whose it is. */
void claim_take(struct launcher *l, struct flight *f);

/* It goes into its stream, or is answered without. */
void claim_start(struct launcher *l, struct flight *f);
void claim_end(struct launcher *l, const struct flight *f);

/* The first flight of a stream waits for another stream: that is nobody's time. */
void claim_waits(struct stream *s);

/*
 * So many flights, from this one on by their links, were answered: together they were at the head
 * of their stream since the last ones were, or since they came there, or could begin.
 */
void claim_passed(struct launcher *l, struct stream *s, uint32_t index, uint32_t count);

/* ---- launcher_turns.c ---- */

void turns_open(struct launcher *l);

/* The flight is held until it can be put into a stream. */
void turns_hold(struct launcher *l, uint32_t index);

/* Go on with what is held; true: something was put into a stream. */
bool turns_advance(struct launcher *l);

/* A session is dead: what is held of it will not run, and a staged copy goes no further. */
void turns_cancel(struct launcher *l, uint32_t holding);

/* Answer who was cancelled and is behind nobody any more; true: somebody.  *ret_err: -EPROTO. */
bool turns_answer(struct launcher *l, int *ret_err);

/* ---- launcher_flight.c ---- */

/* A request has come: it is in flight, and perhaps held. */
void flight_take(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);

/* Begin to put it into a stream; false: all that it names must be there, or there is no room. */
bool flight_start(struct launcher *l, uint32_t index);

/* Go on with those that found their stream full; true: something was put there. */
bool flights_resume(struct launcher *l);

/* It has failed: what it will be answered. */
void flight_fail(struct flight *f, int err);

/* Stamp the flight's begin (0) or end (1), if somebody wants to know. */
int flight_stamp(struct launcher *l, const struct flight *f, uint32_t which);

/* Is one that it names still open? */
bool flight_waits(const struct launcher *l, const struct flight *f);

/* ---- launcher_clear.c ---- */

/* Who clears buffers of its is before it, as those that it names are. */
void clear_name(struct launcher *l, struct flight *f);

/*
 * Into its stream: clear all old contents that it does not write over, and what it is told to
 * (quoit_exec_request.zero; a bit that is left was not).
 */
int clear_before(struct launcher *l, struct flight *f);

/* It writes over the others; or it has failed, and they are cleared.  -EAGAIN. */
void clear_written(struct launcher *l, const struct flight *f);
int clear_after(struct launcher *l, struct flight *f);

/* Where the session's slab is; 0: it has none, or what clears it is not over. */
uint64_t clear_slab(const struct launcher *l, const struct holding *h);

/* ---- launcher_stream.c ---- */

int streams_open(struct launcher *l);
void streams_close(struct launcher *l);

/* Which stream a flight should have; it has room for one more, or NOBODY. */
uint32_t stream_choose(const struct launcher *l, const struct flight *f);

/* What is put into the flight's stream from now on is behind all that it names. */
int stream_order(struct launcher *l, struct flight *f);

/* The stream will have passed *ret_number after all that it has now.  -errno: not marked. */
int stream_mark(struct launcher *l, uint32_t stream, uint64_t *ret_number);

/* The flight is in its stream, all of it, and will be marked at the latest by streams_mark. */
void stream_append(struct launcher *l, uint32_t index);

/* Mark what is not; where there is no room for that, the next time. */
void streams_mark(struct launcher *l);

bool stream_has_passed(struct launcher *l, uint32_t stream, uint64_t number);

/* Answer what is done; true: something was.  *ret_err: -EPROTO. */
bool streams_collect(struct launcher *l, int *ret_err);

/* ---- launcher_memory.c ---- */

/* Where a session's device buffer is; it is made now if there is none.  -ENOMEM. */
int holding_find(struct launcher *l, uint32_t holding, uint32_t buffer, uint64_t bytes,
		 uint64_t *ret);

/* The buffer, valid until the next holding_find; NULL: there is none. */
struct device_buffer *holding_look(struct launcher *l, uint32_t holding, uint32_t buffer);
void holding_drop(struct launcher *l, uint32_t holding, uint32_t buffer);

/* The session leaves: everything of it on the device is free. */
void holding_leave(struct launcher *l, uint32_t holding);
void holdings_close(struct launcher *l);

/* ---- launcher_reach.c ---- */

void reach_open(struct launcher *l);
void reach_close(struct launcher *l);

/*
 * Does the device reach all host memory of the flight's transfer?  1, 0, or -EAGAIN: to find out
 * takes another pass.
 */
int reach_transfer(struct launcher *l, struct flight *f, const struct transfer *t);

/* How much of it, from `offset` on, the driver takes in one copy. */
uint64_t reach_copy_bytes(const struct transfer *t, uint64_t offset);

/*
 * The session leaves: the driver lets go of its memory, which is then unmapped, and its UNMAP
 * answered, perhaps in a later pass.  -EPROTO.
 */
int reach_leave(struct launcher *l, uint32_t holding);

/* Go on with those; true: something was done.  *ret_err: -EPROTO. */
bool reach_advance(struct launcher *l, int *ret_err);

/* ---- launcher_stage.c ---- */

int stage_open(struct launcher *l);
void stage_close(struct launcher *l);

/* A copy whose host side the device does not reach; it has its stream. */
void stage_take(struct launcher *l, uint32_t index);

/* Go on; true: something was done.  *ret_err: -EPROTO. */
bool stage_advance(struct launcher *l, int *ret_err);

/* ---- launcher_peers.c ---- */

/* Take what quoitd says of other devices' processes.  -ECONNRESET, -EPROTO. */
int peers_hear(struct launcher *l);
void peers_close(struct launcher *l);

/* Does this request read another device's memory? */
bool flight_is_from_peer(const struct flight *f);

/*
 * Put such a copy into the flight's stream.  -ENOTSUP: that device is not reached; nothing was put
 * there then.  -EAGAIN.
 */
int peer_copy(struct launcher *l, struct flight *f);

/* The copy is over: what it read may be freed.  One of another kind is fine. */
void peer_leave(struct launcher *l, struct flight *f);

/* The flight is an EXPORT that is done: name its buffer to others.  -ENOTSUP. */
int export_buffer(struct launcher *l, const struct flight *f);

/* ---- launcher_kernels.c ---- */

/* LOAD, FIND (answered) and UNLOAD.  -EPROTO. */
int launcher_kernels_load(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);
int launcher_kernels_find(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q);
int launcher_kernels_unload(struct launcher *l, uint32_t channel,
			    const struct quoit_exec_request *q);

/* The session leaves. */
void launcher_kernels_leave(struct launcher *l, struct memory *m);

/* Put a LAUNCH into the flight's stream.  As the driver's launch, and -ENOENT: it has no such
 * kernel. */
int launcher_kernels_launch(struct launcher *l, const struct flight *f);
/* ---- launcher_direct.c ---- */

/* False: no memory.  _unmake: consumers are told to leave; what was never made is fine. */
bool direct_make(struct launcher *l);
void direct_unmake(struct launcher *l);

/*
 * Requests have come through this channel: what its direct ring's consumer did before quoitd sent
 * them was done before.  The way was through quoitd, and this makes it one within the process.
 */
void direct_see(const struct launcher *l, uint32_t channel);

/* A job of this channel came through a stream that was meant for its direct ring. */
void direct_want(struct launcher *l, uint32_t channel);

/* Look after all rings; true: something was done. */
bool direct_advance(struct launcher *l);

/* How long the launcher may sleep, in nanoseconds, as far as these rings are concerned. */
uint64_t direct_nap(const struct launcher *l);

/* Requests in the rings that are not done; *ret_name is set to the name of one of them. */
uint32_t direct_count(const struct launcher *l, uint64_t *ret_name);

/*
 * First before any call that may wait for all that runs on the device (device.h lists them).
 * Consumers come back as soon as it was made.
 */
void direct_park(struct launcher *l);

/* ---- where things are ---- */

/* Bytes of the elements of a view. */
uint64_t flight_view_bytes(const struct quoit_exec_view *v);

/* Is this request one?  Then *ret; the device buffer is found or made: 0, -ENOMEM, -EPROTO. */
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

/* Is its answer in sight without any doing of ours? */
static inline bool flight_is_issued(const struct flight *f)
{
	return f->step == STEP_ISSUED;
}

static inline const struct memory *flight_memory(const struct launcher *l, const struct flight *f)
{
	return &l->channels->channel[flight_channel(l, f)].slots[f->q.slot];
}

#endif
