/* SPDX-License-Identifier: MIT */
/*
 * launcher_direct.c - GPU-direct rings: start and stop their consumers, and serve the rings
 * without.
 *
 * A consumer is started when a stream gets a job that was meant for its ring, or when something is
 * in its ring.  One that does not beat is told to leave.  Until it has left, nothing is started or
 * taken over, because its kernel may still write.  While no consumer can be started, the requests
 * in the ring go through a stream, in their order.
 */
#include "launcher_direct.h"

#include <stdlib.h>
#include <time.h>

#include "base/tsc.h"
#include "launcher_end.h"
#include "launcher_private.h"

#define MASK (QUOIT_DIRECT_ENTRIES - 1)

/* The stream for a ring's requests while it has no consumer. */
#define STREAM_DIRECT STREAM_WORK

#define STALE_NS UINT64_C(50000000)   /* without a beat for so long: not resident */
#define RETRY_NS UINT64_C(1000000000) /* how long no start is tried after a stale or failed one */
#define PARK_NS  UINT64_C(1000000000) /* how long direct_park waits for consumers to leave */
#define LOOK_NS  UINT64_C(2000000)    /* how often consumers are checked */
#define SOON_NS  UINT64_C(100000)     /* how often if something is due */
#define STEP_NS  10000

enum direct_state {
	DIRECT_AWAY,
	DIRECT_COMING, /* started, and has not beaten */
	DIRECT_UP,
	DIRECT_LEAVING, /* it was told to */
};

struct direct_ring {
	enum direct_state state;
	bool wanted;                           /* to be started once that is possible */
	bool deaf;                             /* it did not leave in time when it was told to */
	uint32_t beat;                         /* as last seen */
	uint64_t seen;                         /* TSC: when that was */
	uint64_t retry;                        /* TSC: not to be started before */
	bool stale;                            /* it was told to leave because it did not beat */
	struct quoit_consumer c;               /* ours, for the time without a consumer */
	bool unmarked;                         /* the next request is in the stream, not its mark */
	uint32_t issued;                       /* requests before this one are in the stream */
	uint64_t number[QUOIT_DIRECT_ENTRIES]; /* of the stream, when that request is done */
};

struct direct {
	bool open_tried, possible; /* direct_open was called, and succeeded */
	uint32_t resident;         /* rings that are not AWAY */
	struct direct_ring ring[];
};

static struct quoit_direct_words *words_of(const struct launcher *l, uint32_t i)
{
	return &l->channels->direct_words[i];
}

static void say(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* ---- start ---- */

/*
 * Opens GPU-direct mode once: all that it needs is loaded and registered before any consumer runs.
 */
static bool is_possible(struct launcher *l)
{
	struct direct *d = l->direct;
	int err;

	if (d->open_tried || !l->driver->direct_open)
		return d->possible;
	d->open_tried = true;
	launcher_works(l, true); /* to load all kernels may take seconds */
	err = launcher_check(l,
			     l->driver->direct_open(l->device, l->channels->direct_requests,
						    l->channels->direct_words, l->channels->count));
	launcher_works(l, false);
	d->possible = !err;
	__atomic_store_n(&l->channels->words->direct, err, __ATOMIC_RELAXED);
	return d->possible;
}

static bool start(struct launcher *l, uint32_t i)
{
	struct direct_ring *r = &l->direct->ring[i];
	struct quoit_direct_words *w = words_of(l, i);

	if (tsc_now() < r->retry || r->issued != r->c.next || r->unmarked || !is_possible(l) ||
	    l->direct->resident == QUOIT_DIRECT_CONSUMERS)
		return false;
	say(&w->leave, 0);
	say(&w->left, 0);
	say(&w->need_wake, 0);
	if (launcher_check(l, l->driver->direct_start(l->device, i)) < 0) {
		/* No consumer is there: before a sleep, the tail is looked at once more. */
		__atomic_store_n(&w->need_wake, 1, __ATOMIC_SEQ_CST);
		say(&w->left, 1);
		r->retry = tsc_now() + tsc_from_ns(RETRY_NS);
		return false;
	}
	r->state = DIRECT_COMING;
	r->wanted = r->deaf = false;
	r->beat = __atomic_load_n(&w->beat, __ATOMIC_RELAXED);
	r->seen = tsc_now(); /* loading may have taken seconds */
	l->direct->resident++;
	return true;
}

/* ---- end ---- */

static void tell_to_leave(struct launcher *l, uint32_t i)
{
	say(&words_of(l, i)->up, 0);
	say(&words_of(l, i)->leave, 1);
	l->direct->ring[i].state = DIRECT_LEAVING;
}

/* True: the consumer has left, and the ring is ours from where it stopped. */
static bool has_left(struct launcher *l, uint32_t i)
{
	struct direct_ring *r = &l->direct->ring[i];
	struct quoit_direct_words *w = words_of(l, i);

	if (!__atomic_load_n(&w->left, __ATOMIC_ACQUIRE))
		return false;
	say(&w->up, 0);
	r->state = DIRECT_AWAY;
	if (r->stale) /* it found no room on the device: use streams for a while */
		r->retry = tsc_now() + tsc_from_ns(RETRY_NS);
	r->stale = false;
	r->c.next = r->c.cached_tail = r->issued = __atomic_load_n(&w->head, __ATOMIC_RELAXED);
	l->direct->resident--;
	return true;
}

/* ---- a running consumer ---- */

static bool beats(struct launcher *l, uint32_t i)
{
	struct direct_ring *r = &l->direct->ring[i];
	uint32_t beat = __atomic_load_n(&words_of(l, i)->beat, __ATOMIC_RELAXED);

	if (beat == r->beat)
		return false;
	r->beat = beat;
	r->seen = tsc_now();
	return true;
}

/* True: something has changed. */
static bool look_after(struct launcher *l, uint32_t i)
{
	struct direct_ring *r = &l->direct->ring[i];

	if (has_left(l, i))
		return true;
	if (r->state == DIRECT_LEAVING)
		return false;
	if (beats(l, i)) {
		if (r->state == DIRECT_UP)
			return false;
		r->state = DIRECT_UP;
		say(&words_of(l, i)->up, 1);
		return true;
	}
	if (tsc_now() - r->seen < tsc_from_ns(STALE_NS))
		return false;
	r->stale = true;
	tell_to_leave(l, i);
	return true;
}

/* ---- through a stream ---- */

/*
 * Put the next request into the stream, and its mark.  If the mark finds no room, only the mark is
 * tried again: the work must not be done twice.
 */
static int put_into_stream(struct launcher *l, struct direct_ring *r, uint32_t i)
{
	struct quoit_device_call call;
	int err = 0;

	if (!r->unmarked) {
		quoit_ring_copy((uint64_t *)&call,
				(const uint64_t *)&l->channels->direct_requests[i]
					.request[r->issued & MASK],
				sizeof call / sizeof(uint64_t));
		err = launcher_check(l, l->driver->run(l->stream[STREAM_DIRECT].stream, &call));
		r->unmarked = !err;
	}
	if (!err)
		err = stream_mark(l, STREAM_DIRECT, &r->number[r->issued & MASK]);
	if (!err)
		r->unmarked = false;
	return err;
}

/* A request that cannot be put there now can be later: its job cannot be at fault. */
static bool stream_requests(struct launcher *l, uint32_t i)
{
	struct direct_ring *r = &l->direct->ring[i];
	struct quoit_direct_words *w = words_of(l, i);
	uint32_t tail = __atomic_load_n(r->c.tail, __ATOMIC_ACQUIRE);
	bool any = false;

	while (r->issued != tail && !put_into_stream(l, r, i)) {
		r->issued++;
		any = true;
	}
	while (r->c.next != r->issued &&
	       stream_has_passed(l, STREAM_DIRECT, r->number[r->c.next & MASK])) {
		say(&w->streamed, w->streamed + 1);
		quoit_ring_release(&r->c, 1);
		any = true;
	}
	return any;
}

static bool has_requests(const struct direct_ring *r)
{
	return r->c.next != __atomic_load_n(r->c.tail, __ATOMIC_SEQ_CST);
}

/* ---- for the loop ---- */

static bool advance(struct launcher *l, uint32_t i)
{
	struct direct_ring *r = &l->direct->ring[i];
	bool has;

	if (r->state != DIRECT_AWAY)
		return look_after(l, i);
	has = has_requests(r);
	if ((has || r->wanted) && start(l, i))
		return true;
	return has && stream_requests(l, i);
}

bool direct_advance(struct launcher *l)
{
	bool any = false;

	for (uint32_t i = 0; i < l->channels->count; i++)
		any |= advance(l, i);
	return any;
}

void direct_see(const struct launcher *l, uint32_t channel)
{
	(void)__atomic_load_n(&words_of(l, channel)->head, __ATOMIC_ACQUIRE);
}

void direct_want(struct launcher *l, uint32_t channel)
{
	l->direct->ring[channel].wanted = true;
}

uint64_t direct_nap(const struct launcher *l)
{
	uint64_t nap = l->direct->resident ? LOOK_NS : CHANNELS_FOREVER;

	for (uint32_t i = 0; i < l->channels->count; i++) {
		const struct direct_ring *r = &l->direct->ring[i];

		if (r->state == DIRECT_COMING || (r->state == DIRECT_AWAY && has_requests(r)))
			nap = SOON_NS;
	}
	return nap;
}

uint32_t direct_count(const struct launcher *l, uint64_t *ret_name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->channels->count; i++) {
		uint32_t head = __atomic_load_n(&words_of(l, i)->head, __ATOMIC_RELAXED);
		uint32_t open =
			__atomic_load_n(&l->channels->direct_requests[i].tail, __ATOMIC_RELAXED) -
			head;

		if (open)
			*ret_name = channel_name(i, QUOIT_EXEC_ENTRIES + (head & MASK));
		count += open;
	}
	return count;
}

/* ---- parking ---- */

static bool is_waited_for(const struct launcher *l)
{
	for (uint32_t i = 0; i < l->channels->count; i++)
		if (l->direct->ring[i].state != DIRECT_AWAY && !l->direct->ring[i].deaf)
			return true;
	return false;
}

void direct_park(struct launcher *l)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	uint64_t begin = tsc_now();

	if (!l->direct->resident)
		return;
	for (uint32_t i = 0; i < l->channels->count; i++)
		if (l->direct->ring[i].state == DIRECT_COMING ||
		    l->direct->ring[i].state == DIRECT_UP) {
			tell_to_leave(l, i);
			l->direct->ring[i].wanted = true;
		}
	while (is_waited_for(l) && tsc_now() - begin < tsc_from_ns(PARK_NS)) {
		for (uint32_t i = 0; i < l->channels->count; i++)
			if (l->direct->ring[i].state == DIRECT_LEAVING)
				(void)has_left(l, i);
		if (is_waited_for(l))
			(void)nanosleep(&step, NULL);
	}
	for (uint32_t i = 0; i < l->channels->count; i++)
		l->direct->ring[i].deaf = l->direct->ring[i].state != DIRECT_AWAY;
}

/* ---- open and close ---- */

bool direct_make(struct launcher *l)
{
	l->direct = calloc(1, sizeof *l->direct + l->channels->count * sizeof l->direct->ring[0]);
	if (!l->direct)
		return false;
	for (uint32_t i = 0; i < l->channels->count; i++) {
		quoit_consumer_init(&l->direct->ring[i].c, &words_of(l, i)->head,
				    &l->channels->direct_requests[i].tail, QUOIT_DIRECT_ENTRIES);
		say(&words_of(l, i)->left, 1);
	}
	return true;
}

void direct_unmake(struct launcher *l)
{
	if (l->direct)
		direct_park(l);
	free(l->direct);
}
