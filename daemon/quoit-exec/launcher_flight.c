/* SPDX-License-Identifier: MIT */
/* launcher_flight.c - put a request into a stream */
#include "launcher_flight.h"

#include <errno.h>
#include <string.h>

#include "base/tsc.h"
#include "launcher_clear.h"
#include "launcher_direct.h"
#include "launcher_end.h"
#include "launcher_kernels.h"
#include "launcher_peers.h"
#include "launcher_private.h"
#include "launcher_reach.h"
#include "launcher_turns.h"

/* ---- flights that it waits for ---- */

bool flight_waits(const struct launcher *l, const struct flight *f)
{
	for (uint32_t i = 0; i < f->afters; i++)
		if (l->flight[f->after[i].index].serial == f->after[i].serial)
			return true;
	return false;
}

/* True: each flight that it names is in a stream, or over, so this one can be put behind. */
static bool can_be_issued(const struct launcher *l, const struct flight *f)
{
	for (uint32_t i = 0; i < f->afters; i++) {
		const struct flight *g = &l->flight[f->after[i].index];

		if (g->serial == f->after[i].serial && !flight_is_issued(g))
			return false;
	}
	return true;
}

static void name_afters(struct launcher *l, struct flight *f, uint32_t channel)
{
	for (uint32_t i = 0; i < f->q.afters && i < QUOIT_EXEC_AFTER; i++) {
		uint32_t index = channel * QUOIT_EXEC_ENTRIES + f->q.after[i] % QUOIT_EXEC_ENTRIES;

		if (l->flight[index].serial)
			f->after[f->named++] = (struct flight_name){index, l->flight[index].serial};
	}
}

/* ---- transfers ---- */

bool flight_is_transfer(const struct flight *f)
{
	return f->q.op == QUOIT_OP_COPY && !flight_is_from_peer(f) && f->q.view[0].given &&
	       f->q.view[1].given &&
	       (f->q.view[0].region == QUOIT_EXEC_ON_DEVICE) !=
		       (f->q.view[1].region == QUOIT_EXEC_ON_DEVICE);
}

static uint64_t element_bytes(uint8_t dtype)
{
	static const uint8_t bytes[QUOIT_DTYPE_NR] = {
		[QUOIT_F32] = 4, [QUOIT_F64] = 8,  [QUOIT_I32] = 4,
		[QUOIT_I64] = 8, [QUOIT_BF16] = 2, [QUOIT_F16] = 2};

	return dtype < QUOIT_DTYPE_NR ? bytes[dtype] : 0;
}

uint64_t flight_view_bytes(const struct quoit_exec_view *v)
{
	return (uint64_t)v->dim[0] * v->dim[1] * v->dim[2] * v->dim[3] * element_bytes(v->dtype);
}

int flight_transfer(struct launcher *l, struct flight *f, struct transfer *ret)
{
	const struct memory *m = flight_memory(l, f);
	bool in = f->q.view[0].region == QUOIT_EXEC_ON_DEVICE;
	const struct quoit_exec_view *there = &f->q.view[in ? 0 : 1],
				     *here = &f->q.view[in ? 1 : 0];
	int err;

	if (m->err)
		return m->err;
	*ret = (struct transfer){.region = here->region,
				 .offset = here->offset,
				 .bytes = flight_view_bytes(there),
				 .in = in};
	if (!ret->bytes)
		return 0; /* such a buffer has no memory */
	if (here->region >= QUOIT_EXEC_REGIONS || here->offset > m->bytes[here->region] ||
	    ret->bytes > m->bytes[here->region] - here->offset)
		return -EPROTO;
	ret->host = m->base[here->region] + here->offset;
	err = holding_find(l, flight_holding(l, f), there->buffer, f->q.bytes[in ? 0 : 1],
			   &ret->device);
	ret->device += there->offset;
	return err;
}

/* ---- into the stream ---- */

static int fill_call(struct launcher *l, const struct flight *f, struct quoit_device_call *call)
{
	int err = 0;

	*call = (struct quoit_device_call){.opcode = f->q.op,
					   .arg = f->q.arg,
					   .scalar = {f->q.scalar[0], f->q.scalar[1]},
					   .verdict = &l->shared->flight[f - l->flight].verdict};
	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB && !err; i++) {
		const struct quoit_exec_view *v = &f->q.view[i];
		struct quoit_device_tensor *t = &call->tensor[i];

		if (!v->given)
			continue;
		if (v->region != QUOIT_EXEC_ON_DEVICE)
			return -EPROTO;
		t->data = l->nowhere;
		if (f->q.bytes[i]) {
			err = holding_find(l, flight_holding(l, f), v->buffer, f->q.bytes[i],
					   &t->data);
			t->data += v->offset;
		}
		memcpy(t->dim, v->dim, sizeof t->dim);
		memcpy(t->stride, v->stride, sizeof t->stride);
		t->dtype = v->dtype;
	}
	return err;
}

/* May the driver have to load code for it first? */
static bool may_load(const struct quoit_device_call *call)
{
	return call->opcode == QUOIT_OP_GEMM &&
	       !quoit_direct_product(call->tensor[0].dim, call->tensor[1].dim,
				     call->tensor[1].dtype);
}

static int run(struct launcher *l, const struct flight *f)
{
	struct quoit_device_call call;
	int err = fill_call(l, f, &call);

	if (!err && may_load(&call))
		direct_park(l);
	if (!err)
		err = launcher_check(l, l->driver->run(l->stream[f->stream].stream, &call));
	return err;
}

int flight_stamp(struct launcher *l, const struct flight *f, uint32_t which)
{
	if (!f->q.stamps)
		return 0;
	return launcher_check(l, l->driver->stamp(l->stream[f->stream].stream,
						  &l->shared->flight[f - l->flight].stamp[which]));
}

/* Returned by put: the copy goes through the staging buffer. */
#define STAGED 1

static int copy_next(struct launcher *l, struct flight *f, const struct transfer *t)
{
	uint64_t bytes = reach_copy_bytes(t, f->sent), there = t->device + f->sent;
	uint64_t here = (uint64_t)(uintptr_t)(t->host + f->sent);
	int err =
		launcher_check(l, l->driver->copy(l->stream[f->stream].stream, t->in ? there : here,
						  t->in ? here : there, bytes,
						  t->in ? QUOIT_DEVICE_IN : QUOIT_DEVICE_OUT));

	f->sent += err ? 0 : bytes;
	return err;
}

static int put_transfer(struct launcher *l, struct flight *f)
{
	struct transfer t;
	int err = flight_transfer(l, f, &t), reached;

	if (err || !t.bytes)
		return err;
	reached = reach_transfer(l, f, &t);
	if (reached <= 0)
		return reached ? reached : STAGED;
	while (f->sent < t.bytes && !err)
		err = copy_next(l, f, &t);
	return err;
}

static int put(struct launcher *l, struct flight *f)
{
	if (f->q.op == QUOIT_OP_NOP) /* it only had buffers to clear */
		return 0;
	if (f->q.op == QUOIT_OP_LAUNCH)
		return launcher_kernels_launch(l, f);
	if (flight_is_from_peer(f))
		return peer_copy(l, f);
	return flight_is_transfer(f) ? put_transfer(l, f) : run(l, f);
}

/* The size of its largest buffer. */
static uint64_t most_bytes(const struct quoit_exec_request *q)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		most = q->bytes[i] > most ? q->bytes[i] : most;
	return most;
}

void flight_fail(struct flight *f, int err)
{
	bool of_arg = err == -EINVAL || err == -ENOENT;

	f->res = err;
	f->field = err == -ENOMEM    ? QUOIT_FIELD_MEMORY
		   : of_arg          ? QUOIT_FIELD_ARG
		   : err == -ENOTSUP ? QUOIT_FIELD_OPCODE
				     : QUOIT_FIELD_NONE;
	f->value[0] = err == -ENOMEM    ? most_bytes(&f->q)
		      : of_arg          ? f->q.arg
		      : err == -ENOTSUP ? f->q.op
					: 0;
}

static int do_step(struct launcher *l, uint32_t index)
{
	struct flight *f = &l->flight[index];
	int err;

	switch (f->step) {
	case STEP_ORDER:
		return stream_order(l, f);
	case STEP_CLEAR:
		return clear_before(l, f);
	case STEP_BEGIN:
		return flight_stamp(l, f, 0);
	case STEP_PUT:
		err = put(l, f);
		if (!err)
			clear_written(l, f);
		return err;
	case STEP_END:
		return flight_stamp(l, f, 1);
	case STEP_CLEAN:
		return f->res ? clear_after(l, f) : 0;
	default:
		stream_append(l, index);
		return 0;
	}
}

/* Put it into its stream.  A flight that cannot run takes its place there.  False: go on later. */
static bool issue(struct launcher *l, uint32_t index)
{
	struct flight *f = &l->flight[index];

	while (!flight_is_issued(f)) {
		int err = do_step(l, index);

		if (err < 0 && err != -EAGAIN)
			flight_fail(f, err);
		if (err == -EAGAIN)
			return false;
		f->step = err < 0 ? STEP_CLEAN : f->step + 1;
		if (err == STAGED) {
			stage_take(l, index);
			return true;
		}
	}
	return true;
}

/* Begin a range for a profiler; it ends with the answer. */
static void begin_range(struct launcher *l, struct flight *f)
{
	const struct quoit_exec_daemon_channel *said =
		l->channels->channel[flight_channel(l, f)].daemon;

	f->range = l->driver->range_begin(l->device, f->q.op, said->job[f->q.id]);
}

bool flight_start(struct launcher *l, uint32_t index)
{
	struct flight *f = &l->flight[index];
	uint32_t stream;

	clear_name(l, f);
	if (!can_be_issued(l, f))
		return false;
	stream = stream_choose(l, f);
	if (stream == NOBODY)
		return false;
	f->stream = (uint8_t)stream;
	f->step = STEP_ORDER;
	claim_start(l, f);
	l->stream[stream].depth++;
	if (__builtin_expect(l->profiled, 0))
		begin_range(l, f);
	if (!issue(l, index))
		l->stream[stream].issuing = index;
	return true;
}

/*
 * Until a flight has cleared its buffers, others may clear them in streams of their own: then it
 * must follow those.
 */
static bool resume(struct launcher *l, uint32_t index)
{
	struct flight *f = &l->flight[index];

	if (f->step <= STEP_CLEAR) {
		f->step = STEP_ORDER;
		clear_name(l, f);
		if (!can_be_issued(l, f))
			return false;
	}
	return issue(l, index);
}

bool flights_resume(struct launcher *l)
{
	bool any = false;

	for (uint32_t i = 0; i < STREAMS; i++) {
		struct stream *s = &l->stream[i];

		if (s->issuing == NOBODY || !resume(l, s->issuing))
			continue;
		s->issuing = NOBODY;
		any = true;
	}
	return any;
}

/* ---- taking ---- */

void flight_take(struct launcher *l, uint32_t channel, const struct quoit_exec_request *q)
{
	uint32_t index = channel * QUOIT_EXEC_ENTRIES + q->id;
	struct flight *f = &l->flight[index];

	*f = (struct flight){.q = *q, .arrived = tsc_now(), .stream = STREAM_WORK};
	l->shared->flight[index].verdict = (struct quoit_device_verdict){0};
	name_afters(l, f, channel);
	claim_take(l, f);
	f->serial = ++l->serial;
	l->open++;
	if (!flight_start(l, index))
		turns_hold(l, index);
	if (q->direct)
		direct_want(l, channel);
}
