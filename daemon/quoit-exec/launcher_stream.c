/* SPDX-License-Identifier: MIT */
/* launcher_stream.c - streams: choose one, keep the order, see how far each is */
#include "launcher_stream.h"

#include <errno.h>
#include <string.h>

#include "base/tsc.h"
#include "launcher_end.h"
#include "launcher_peers.h"
#include "launcher_private.h"

/* ---- open and close ---- */

static int open_one(struct launcher *l, uint32_t i)
{
	struct stream *s = &l->stream[i];
	int err;

	s->queue.head = s->issuing = NOBODY;
	s->room = STREAM_FIRST;
	s->word = &l->shared->stream[i].word;
	err = l->driver->stream_new(l->device,
				    i >= STREAM_URGENT ? QUOIT_DEVICE_URGENT : QUOIT_DEVICE_NORMAL,
				    &s->stream);
	return err ? err : l->driver->event_new(l->device, &s->event);
}

int streams_open(struct launcher *l)
{
	int err = 0;

	for (uint32_t i = 0; i < STREAMS && !err; i++)
		err = open_one(l, i);
	return err;
}

void streams_close(struct launcher *l)
{
	for (uint32_t i = 0; i < STREAMS; i++) {
		for (uint32_t j = 0; j < STREAM_MARKS; j++)
			if (l->stream[i].mark[j])
				l->driver->event_free(l->stream[i].mark[j]);
		if (l->stream[i].event)
			l->driver->event_free(l->stream[i].event);
		if (l->stream[i].stream)
			l->driver->stream_free(l->stream[i].stream);
	}
}

/* ---- choice ---- */

/* The stream of a flight that it follows, if that flight is the last one there. */
static uint32_t continued_stream(const struct launcher *l, const struct flight *f, uint32_t first,
				 uint32_t last)
{
	for (uint32_t i = 0; i < f->afters; i++) {
		const struct flight *g = &l->flight[f->after[i].index];
		const struct queue *q = &l->stream[g->stream].queue;

		if (g->serial == f->after[i].serial && g->stream >= first && g->stream < last &&
		    q->head != NOBODY && q->tail == f->after[i].index)
			return g->stream;
	}
	return NOBODY;
}

/* While a flight waits to be put in completely, no other may come between. */
static bool has_room(const struct stream *s)
{
	return s->depth < s->room && s->issuing == NOBODY;
}

static uint32_t shortest_stream(const struct launcher *l, uint32_t first, uint32_t last)
{
	uint32_t best = NOBODY;

	for (uint32_t i = first; i < last; i++)
		if (has_room(&l->stream[i]) &&
		    (best == NOBODY || l->stream[i].depth < l->stream[best].depth))
			best = i;
	return best;
}

uint32_t stream_choose(const struct launcher *l, const struct flight *f)
{
	uint32_t first = f->q.urgent ? STREAM_URGENT : STREAM_WORK;
	uint32_t last = f->q.urgent ? STREAMS : STREAM_URGENT, own;

	if (flight_is_from_peer(f))
		own = STREAM_IN;
	else if (flight_is_transfer(f))
		own = f->q.view[0].region == QUOIT_EXEC_ON_DEVICE ? STREAM_IN : STREAM_OUT;
	else
		own = continued_stream(l, f, first, last);
	if (own == NOBODY)
		return shortest_stream(l, first, last);
	return has_room(&l->stream[own]) ? own : NOBODY;
}

/* ---- marks ---- */

static int mark_by_event(struct launcher *l, uint32_t stream, uint64_t number)
{
	struct stream *s = &l->stream[stream];
	struct quoit_device_event **event = &s->mark[number % STREAM_MARKS];
	int err;

	/* The event may still be the mark of an older number. */
	if (number >= STREAM_MARKS && !stream_has_passed(l, stream, number - STREAM_MARKS))
		return -EAGAIN;
	err = *event ? 0 : l->driver->event_new(l->device, event);
	return err ? err : l->driver->event_record(*event, s->stream);
}

int stream_mark(struct launcher *l, uint32_t stream, uint64_t *ret_number)
{
	struct stream *s = &l->stream[stream];
	uint64_t number = s->number + 1;
	int err = launcher_check(
		l, l->signals ? l->driver->signal(s->stream, s->word, (uint32_t)number)
			      : mark_by_event(l, stream, number));

	if (!err) {
		*ret_number = s->number = number;
		s->unmarked = 0;
	}
	return err;
}

/* All unmarked flights of the stream wait for this mark, so all fail. */
static void fail_unmarked(struct launcher *l, const struct stream *s, int err)
{
	for (uint32_t i = s->queue.head; i != NOBODY; i = l->flight[i].next)
		if (l->flight[i].number > s->number && !l->flight[i].res)
			flight_fail(&l->flight[i], err);
}

static int mark_last(struct launcher *l, uint32_t stream)
{
	struct stream *s = &l->stream[stream];
	uint64_t number;
	int err = s->unmarked ? stream_mark(l, stream, &number) : 0;

	if (err && err != -EAGAIN)
		fail_unmarked(l, s, err);
	return err;
}

void streams_mark(struct launcher *l)
{
	for (uint32_t i = 0; i < STREAMS; i++)
		(void)mark_last(l, i);
}

/* A small flight may be answered with later ones: that does not delay it for long. */
static bool is_small(const struct flight *f)
{
	if (f->q.type != QUOIT_EXEC_RUN || f->q.op == QUOIT_OP_LAUNCH)
		return false;
	for (uint32_t i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		if (f->q.view[i].given && flight_view_bytes(&f->q.view[i]) > SMALL_BYTES)
			return false;
	return true;
}

void stream_append(struct launcher *l, uint32_t index)
{
	struct flight *f = &l->flight[index];
	struct stream *s = &l->stream[f->stream];

	f->number = s->number + 1;
	if (!f->issued) /* a staged copy has set it already */
		f->issued = tsc_now();
	queue_append(l, &s->queue, index);
	if (++s->unmarked >= STREAM_SHARE || !is_small(f))
		(void)mark_last(l, f->stream);
}

/* ---- order ---- */

int stream_order(struct launcher *l, struct flight *f)
{
	struct stream *own = &l->stream[f->stream];
	int err = 0;

	for (uint32_t i = 0; i < f->afters && !err; i++) {
		const struct flight *g = &l->flight[f->after[i].index];
		struct stream *other = &l->stream[g->stream];

		if (g->serial != f->after[i].serial || g->stream == f->stream ||
		    own->seen[g->stream] >= g->number)
			continue;
		/* Wait for the other stream's end as it is now: that is enough, or more. */
		if (g->number > other->number && mark_last(l, g->stream))
			return -EAGAIN;
		err = l->driver->event_record(other->event, other->stream);
		if (!err)
			err = l->driver->stream_wait(own->stream, other->event);
		if (!err)
			own->seen[g->stream] = other->number;
	}
	memcpy(f->after_marks, own->seen, sizeof f->after_marks);
	return launcher_check(l, err);
}

/* ---- how far ---- */

static bool ask_event(struct launcher *l, struct quoit_device_event *e)
{
	uint64_t *queries = &l->channels->words->queries;

	__atomic_store_n(queries, *queries + 1, __ATOMIC_RELAXED);
	return launcher_check(l, l->driver->event_done(e)) > 0;
}

/* If a stream cannot write its word, the launcher does. */
static void ask_events(struct launcher *l, struct stream *s)
{
	while (*s->word != (uint32_t)s->number &&
	       ask_event(l, s->mark[(*s->word + 1) % STREAM_MARKS]))
		++*s->word;
}

/* The stream's 32-bit word wraps; `done` has the upper half. */
bool stream_has_passed(struct launcher *l, uint32_t stream, uint64_t number)
{
	struct stream *s = &l->stream[stream];

	if (!l->signals && s->done < number)
		ask_events(l, s);
	s->done += __atomic_load_n(s->word, __ATOMIC_ACQUIRE) - (uint32_t)s->done;
	return s->done >= number;
}

/* False: its stream waits for another one, perhaps for long; that time is not the flight's. */
static bool has_begun(struct launcher *l, const struct flight *f)
{
	for (uint32_t i = 0; i < STREAMS; i++)
		if (!stream_has_passed(l, i, f->after_marks[i]))
			return false;
	return true;
}

/* Publish the stream's oldest flight, or else the staged copy under way. */
static void say_running(struct launcher *l, uint32_t stream)
{
	uint32_t head = l->stream[stream].queue.head;
	uint64_t name = 0;

	if (head == NOBODY && stream <= STREAM_OUT)
		head = l->stage[stream].queue.head;
	if (head != NOBODY && has_begun(l, &l->flight[head]))
		name = channel_name(flight_channel(l, &l->flight[head]), l->flight[head].q.id);
	else if (head != NOBODY)
		claim_waits(&l->stream[stream]);
	if (!name && stream == STREAM_IN) /* a session that leaves may be at work there */
		launcher_works(l, false);
	else
		__atomic_store_n(&l->channels->words->running[stream], name, __ATOMIC_RELAXED);
}

/*
 * If the stream ran dry while flights were held, more may go in.  If the last flight was there for
 * too long, fewer may, by one at a time: perhaps only the machine was busy.
 */
static void adapt(const struct launcher *l, struct stream *s, uint64_t ticks)
{
	if (s->queue.head == NOBODY && l->turns.head != NOBODY)
		s->room = 2 * s->room < STREAM_MOST ? 2 * s->room : STREAM_MOST;
	else if (s->room > STREAM_LEAST && tsc_to_ns(ticks) > STREAM_NS)
		s->room--;
}

static bool collect(struct launcher *l, uint32_t stream, int *ret_err)
{
	struct stream *s = &l->stream[stream];
	uint32_t first = s->queue.head, count = 0;
	uint64_t issued = 0;

	while (s->queue.head != NOBODY && !*ret_err) {
		struct flight *f = &l->flight[s->queue.head];

		/* The flights that it names are done, too, but perhaps not yet seen. */
		if (!stream_has_passed(l, stream, f->number) || flight_waits(l, f))
			break;
		issued = f->issued;
		*ret_err = launcher_answer(l, queue_pop(l, &s->queue));
		count++;
	}
	if (count) {
		claim_passed(l, s, first, count);
		adapt(l, s, s->passed - issued);
	}
	say_running(l, stream);
	return count;
}

bool streams_collect(struct launcher *l, int *ret_err)
{
	bool any = false, more = true;

	while (more && !*ret_err) {
		more = false;
		for (uint32_t i = 0; i < STREAMS && !*ret_err; i++)
			more |= collect(l, i, ret_err);
		any |= more;
	}
	return any;
}
