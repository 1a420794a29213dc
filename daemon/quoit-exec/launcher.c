/* SPDX-License-Identifier: MIT */
/* launcher.c - the loop: take requests, answer flights that are done, sleep */
#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <quoit/pause.h>

#include "base/tsc.h"
#include "launcher_clear.h"
#include "launcher_direct.h"
#include "launcher_end.h"
#include "launcher_kernels.h"
#include "launcher_peers.h"
#include "launcher_private.h"
#include "launcher_reach.h"
#include "launcher_turns.h"

/* Looks without news before a sleep, about 20 us, the cost of a sleep and a wake-up. */
#define SPIN_LOOKS 500u

/* With work in flight a sleep lasts 1/NAP_PART of the age of the oldest flight. */
#define NAP_PART     50u
#define NAP_LEAST_NS 2000u
#define NAP_MOST_NS  10000000u

/*
 * The clocks are read again after half a second.  Clocks of machines and devices are within 50 ppm
 * of a second each, so two of them drift apart by no more than this part of the time in between.
 */
#define CLOCK_TICKS_OLD(hz) ((hz) / 2)
#define CLOCK_DRIFT_PART    10000u

/* A device that does not tell its clock is asked again after this time. */
#define CLOCK_TICKS_RETRY(hz) ((hz) / 10)

/* Readings tried at the start; each takes some milliseconds at most. */
#define CLOCK_FIRST_TRIES 8

/* ---- queues of flights ---- */

/* ---- answers ---- */

/* The device's time in ticks of the processor's counter, for quoitd. */
static uint64_t ticks_at(const struct launcher *l, uint64_t device_ns)
{
	double ns = (double)(int64_t)(device_ns - l->clock_ns);

	return l->clock_ticks + (uint64_t)(int64_t)(ns * ((double)tsc_hz() / 1e9));
}

/*
 * How far a stamp may be off: by the error of the reading, by a step of the device's clock, and by
 * the drift between reading and stamp.
 */
static uint64_t stamp_error(const struct launcher *l, uint64_t ticks)
{
	const uint64_t apart =
		ticks > l->clock_ticks ? ticks - l->clock_ticks : l->clock_ticks - ticks;

	return l->clock_error + tsc_from_ns(l->clock_step) + apart / CLOCK_DRIFT_PART + 1;
}

/* A busy device does not tell its clock; asking takes time in which all sessions wait. */
static void read_clock(struct launcher *l, uint64_t now)
{
	if (launcher_check(
		    l, l->driver->clock(l->device, &l->clock_ns, &l->clock_ticks, &l->clock_error)))
		l->clock_retry = now + CLOCK_TICKS_RETRY(tsc_hz());
}

static void fill_stamps(struct launcher *l, const struct flight *f, struct quoit_exec_answer *a)
{
	uint64_t *stamp = l->shared->flight[f - l->flight].stamp, now, error, last;

	if (!f->q.stamps || f->res)
		return;
	now = tsc_now();
	if (tsc_raw(now) - l->clock_ticks > CLOCK_TICKS_OLD(tsc_hz()) && now >= l->clock_retry)
		read_clock(l, now);
	if (!l->clock_ticks) /* a busy device did not tell its clock */
		return;
	a->start = ticks_at(l, stamp[0]);
	a->end = ticks_at(l, stamp[1]);
	error = stamp_error(l, a->start);
	last = stamp_error(l, a->end);
	error = error > last ? error : last;
	a->stamp_error = error > UINT32_MAX ? UINT32_MAX : (uint32_t)error;
}

static void leave_stream(struct launcher *l, const struct flight *f)
{
	l->stream[f->stream].depth--;
	if (__builtin_expect(l->profiled, 0))
		l->driver->range_end(l->device, f->range);
}

int launcher_answer(struct launcher *l, uint32_t index)
{
	struct flight *f = &l->flight[index];
	const struct quoit_device_verdict *v = &l->shared->flight[index].verdict;
	struct quoit_exec_answer a = {.id = f->q.id,
				      .type = f->q.type,
				      .stream = f->step == STEP_HELD ? 0 : f->stream + 1,
				      .field = f->field,
				      .res = f->res,
				      .uncleared = f->q.zero != 0,
				      .refusal = f->refusal,
				      .refused = f->refused,
				      .value = {f->value[0], f->value[1]}};

	if (!a.res && v->res < 0) {
		a.res = v->res;
		a.value[0] = v->value[0];
		a.value[1] = v->value[1];
	}
	fill_stamps(l, f, &a);
	if (f->step != STEP_HELD)
		leave_stream(l, f);
	peer_leave(l, f);
	if (f->q.type == QUOIT_EXEC_EXPORT && !a.res)
		a.res = export_buffer(l, f);
	f->serial = 0;
	l->open--;
	claim_end(l, f);
	a.slab = clear_slab(l, &l->holding[flight_holding(l, f)]);
	return channel_answer(&l->channels->channel[flight_channel(l, f)], &a);
}

void launcher_works(struct launcher *l, bool works)
{
	works |= l->leaving.head != NOBODY;
	l->calls = (l->calls + works) % QUOIT_EXEC_CALLS;
	__atomic_store_n(&l->channels->words->running[STREAM_IN],
			 works ? channel_name(0, QUOIT_EXEC_ASKED + l->calls) : 0,
			 __ATOMIC_RELAXED);
}

/* ---- requests ---- */

static int serve_request(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q)
{
	struct channel *c = &l->channels->channel[channel];
	uint32_t holding = channel * QUOIT_EXEC_SLOTS + q->slot;

	switch (q->type) {
	case QUOIT_EXEC_RUN:
	case QUOIT_EXEC_EXPORT:
		if (q->id >= QUOIT_EXEC_ENTRIES ||
		    l->flight[channel * QUOIT_EXEC_ENTRIES + q->id].serial)
			return -EPROTO;
		flight_take(l, channel, q);
		return 0;
	case QUOIT_EXEC_DROP:
		holding_drop(l, holding, q->id);
		return 0;
	case QUOIT_EXEC_CANCEL:
		turns_cancel(l, holding);
		return 0;
	case QUOIT_EXEC_UNMAP:
		launcher_works(l, true); /* to free large memory takes time */
		holding_leave(l, holding);
		launcher_kernels_leave(l, &c->slots[q->slot]);
		launcher_works(l, false);
		return reach_leave(l, holding);
	case QUOIT_EXEC_LOAD:
		return launcher_kernels_load(l, channel, q);
	case QUOIT_EXEC_FIND:
		return launcher_kernels_find(l, channel, q);
	case QUOIT_EXEC_UNLOAD:
		return launcher_kernels_unload(l, channel, q);
	default:
		return -EPROTO;
	}
}

static int serve_channel(struct launcher *l, uint32_t channel)
{
	struct channel *c = &l->channels->channel[channel];
	int ready = channel_ready(c), err = 0;

	if (ready > 0)
		direct_see(l, channel);
	for (int i = 0; i < ready && !err; i++) {
		struct quoit_exec_request q;

		err = channel_take(c, &q);
		if (!err)
			err = serve_request(l, channel, &q);
	}
	return err ? err : ready;
}

static int serve_all(struct launcher *l)
{
	int served = 0;

	for (uint32_t i = 0; i < l->channels->count; i++) {
		int n = serve_channel(l, i);

		if (n < 0)
			return n;
		served += n;
	}
	return served;
}

/* ---- the loop ---- */

/* 1: there was something to do; 0: there was not; -errno. */
static int pass(struct launcher *l)
{
	int n, err = 0;
	bool any;

	l->reach_requested = false;
	n = serve_all(l);
	if (n < 0)
		return n;
	any = n > 0;
	streams_mark(l);
	if (l->open) {
		any |= stage_advance(l, &err);
		any |= !err && streams_collect(l, &err); /* it also says what runs */
		any |= !err && turns_answer(l, &err);
		any |= !err && flights_resume(l);
		any |= !err && turns_advance(l);
		streams_mark(l);
	}
	any |= !err && reach_advance(l, &err);
	any |= direct_advance(l);
	return err ? err : any || l->reach_requested;
}

static uint64_t nap(const struct launcher *l)
{
	uint64_t now = tsc_now(), age = 0, ns, most = direct_nap(l);

	if (!l->open)
		return most;
	if (most > NAP_MOST_NS)
		most = NAP_MOST_NS;
	for (uint32_t i = 0; i < STREAMS; i++) {
		uint32_t head = l->stream[i].queue.head;

		if (head != NOBODY && now - l->flight[head].arrived > age)
			age = now - l->flight[head].arrived;
	}
	ns = tsc_to_ns(age) / NAP_PART;
	return ns < NAP_LEAST_NS ? NAP_LEAST_NS : ns > most ? most : ns;
}

/* Ask for the device's health: a stream that has died does not write its word. */
static void look_after(struct launcher *l)
{
	const struct quoit_device_verdict *verdict;

	launcher_check(l, l->driver->health(l->device, &verdict));
}

static int loop(struct launcher *l)
{
	uint32_t looks = 0;

	for (;;) {
		int n = pass(l);

		if (n < 0)
			return n;
		if (n) {
			looks = 0;
		} else if (looks++ < SPIN_LOOKS) {
			quoit_pause();
		} else {
			look_after(l);
			n = channels_sleep(l->channels, nap(l));
			if (n > 0)
				n = peers_hear(l);
			if (n < 0)
				return n;
		}
	}
}

/* ---- start ---- */

static int make(struct launcher *l)
{
	uint32_t slots = l->channels->count * QUOIT_EXEC_SLOTS;
	void *memory;
	int err;

	l->flights = l->channels->count * QUOIT_EXEC_ENTRIES;
	l->flight = calloc(l->flights, sizeof *l->flight);
	l->holding = calloc(slots, sizeof *l->holding);
	if (!l->flight || !l->holding || !direct_make(l))
		return -ENOMEM;
	turns_open(l);
	reach_open(l);
	err = l->driver->memory_new(l->device, PAGE_BYTES, &l->nowhere);
	if (err)
		return err;
	err = l->driver->host_new(
		l->device, sizeof *l->shared + l->flights * sizeof l->shared->flight[0], &memory);
	if (err)
		return err;
	l->shared = memory;
	*l->shared = (struct shared){0};
	err = streams_open(l);
	return err ? err : stage_open(l);
}

static void unmake(struct launcher *l)
{
	peers_close(l);
	direct_unmake(l);
	streams_close(l);
	stage_close(l);
	if (l->holding) {
		reach_close(l);
		holdings_close(l);
	}
	if (l->shared)
		l->driver->host_free(l->device, l->shared);
	free(l->flight);
	free(l->holding);
}

int launch(int socket, const struct driver *driver)
{
	struct launcher *l = calloc(1, sizeof *l);
	struct channels *channels = calloc(1, sizeof *channels);
	int err = -ENOMEM;

	(void)prctl(PR_SET_TIMERSLACK, 1UL); /* naps are shorter than the default slack */
	if (l && channels) {
		l->driver = driver->api;
		l->device = driver->device;
		l->signals = driver->info.flags & QUOIT_DEVICE_SIGNALS;
		l->profiled = driver->info.flags & QUOIT_DEVICE_PROFILED;
		l->clock_step = driver->info.clock_step;
		l->channels = channels;
		err = channels_open(channels, socket);
		if (!err) {
			err = make(l);
			if (err)
				launcher_say_why(l, "the device cannot be set up: ", err);
		}
		for (int i = 0; i < CLOCK_FIRST_TRIES && !err && !l->clock_ticks; i++)
			read_clock(l, 0); /* it is idle now, and tells; later it may be busy */
		if (!err)
			err = loop(l);
		unmake(l);
		channels_close(channels);
	}
	free(channels);
	free(l);
	return err == -ECONNRESET ? 0 : err;
}
