/* SPDX-License-Identifier: MIT */
/* explore_transfer.c - one side to the other: every item once, whole, in order, no wake lost */
#include "explore_ring.h"

#ifdef SLEEP_UNASKED
#define ASKED false
#else
#define ASKED true
#endif

#ifdef ARM_RELAXED
#define ARM_ORDER QUOIT_RING_RELAXED
#else
#define ARM_ORDER QUOIT_RING_SEQ_CST
#endif

uint32_t ring_tail, ring_head;
uint64_t ring_slots[ENTRIES][WORDS];
uint32_t ring_laps[ENTRIES];

static uint32_t need_wake, arm;

struct quoit_producer producer_at_first(void)
{
	struct quoit_producer p;

	quoit_producer_init(&p, &ring_tail, &ring_head, ENTRIES);
	p.next = p.published = p.cached_head = FIRST;
	return p;
}

struct quoit_consumer consumer_at_first(void)
{
	struct quoit_consumer c;

	quoit_consumer_init(&c, &ring_head, &ring_tail, ENTRIES);
	c.next = c.cached_tail = c.late = FIRST;
	return c;
}

void share_ring(void)
{
	static const char *const names[ENTRIES][WORDS] = {
		{"slot 0 word 0", "slot 0 word 1"},
		{"slot 1 word 0", "slot 1 word 1"},
	};

	explore_share(&ring_tail, EXPLORE_ATOMIC, FIRST, "tail");
	explore_share(&ring_head, EXPLORE_ATOMIC, FIRST, "head");
	explore_share(&need_wake, EXPLORE_ATOMIC, 0, "need_wake");
	explore_share(&arm, EXPLORE_ATOMIC, 0, "arm");
	for (uint32_t s = 0; s < ENTRIES; s++)
		for (uint32_t w = 0; w < WORDS; w++)
			explore_share(&ring_slots[s][w], EXPLORE_SLOT, UINT64_MAX, names[s][w]);
}

/* A slot's lap word is zero until a batch that begins there is announced. */
void share_laps(void)
{
	static const char *const names[ENTRIES] = {"lap 0", "lap 1"};

	share_ring();
	for (uint32_t s = 0; s < ENTRIES; s++)
		explore_share(&ring_laps[s], EXPLORE_ATOMIC, 0, names[s]);
}

static uint32_t *lap_of(uint32_t index)
{
	return &ring_laps[index % ENTRIES];
}

static void slot_fill(uint32_t index)
{
	for (uint32_t w = 0; w < WORDS; w++)
		explore_put(&ring_slots[index % ENTRIES][w], index, EXPLORE_PLAIN);
}

/* A transfer of so many items; with laps: announced by libquoit and quoitd, and found that way. */
struct use {
	bool laps;
	bool parts; /* taken in parts, with a last look at any time, as by a client that arms */
	uint32_t items;
};

static const struct use plain = {.items = ITEMS};
static const struct use laps = {.laps = true, .items = ITEMS};
static const struct use laps_in_parts = {.laps = true, .parts = true, .items = ITEMS};
static const struct use laps_asleep = {.laps = true, .items = ITEMS - 1}; /* one more has ten times
									   the states */

static void announce(struct quoit_producer *p, const struct use *u)
{
	if (u->laps)
		quoit_ring_announce(p, lap_of(p->published), 0);
}

/* In flushes of one or two, as `submit` does it. */
static void produce(void (*submit)(struct quoit_producer *), const struct use *u)
{
	struct quoit_producer p = producer_at_first();

	while (p.next != FIRST + u->items) {
		uint32_t index;

		if (!quoit_ring_reserve(&p, &index))
			continue;
		if (u->laps)
			QUOIT_RING_STORE(lap_of(index), 0u, QUOIT_RING_RELAXED);
#ifdef PUBLISH_FIRST
		announce(&p, u);
		submit(&p);
		slot_fill(index);
#else
		slot_fill(index);
		if (quoit_ring_space(&p) == 0 || p.next == FIRST + u->items ||
		    explore_choose(2) == 0) {
			announce(&p, u);
			submit(&p);
		}
#endif
	}
}

static void take(struct quoit_consumer *c, uint32_t n)
{
	explore_check(n <= ENTRIES, "more than the ring holds");
#ifdef RELEASE_FIRST
	uint32_t first = c->next;

	quoit_ring_release(c, n);
#else
	uint32_t first = c->next;
#endif
	for (uint32_t i = 0; i < n; i++) {
		uint64_t copy[WORDS];

		quoit_ring_copy(copy, ring_slots[(first + i) % ENTRIES], WORDS);
		for (uint32_t w = 0; w < WORDS; w++)
			explore_check(copy[w] == first + i, "an item is lost, doubled or torn");
	}
#ifndef RELEASE_FIRST
	quoit_ring_release(c, n);
#endif
}

static uint32_t peek(struct quoit_consumer *c, const struct use *u)
{
	return u->laps ? quoit_ring_peek_batch(c, lap_of(c->next)) : quoit_ring_peek(c);
}

/* `idle` is what to do when there is nothing. */
static void consume(void (*idle)(struct quoit_consumer *), const struct use *u)
{
	struct quoit_consumer c = consumer_at_first();

	while (c.next != FIRST + u->items) {
		uint32_t n = peek(&c, u);

		if (u->parts && explore_choose(2) == 0)
			(void)quoit_ring_look(&c);
		if (u->parts && n > 1)
			n = 1 + explore_choose(2);
		if (n > 0)
			take(&c, n);
		else
			idle(&c);
	}
}

static void submit_plain(struct quoit_producer *p)
{
	quoit_ring_submit(p);
}

static void submit_bell(struct quoit_producer *p)
{
	if (quoit_ring_submit_wake(p, &need_wake))
		explore_bell_send();
}

static void submit_futex(struct quoit_producer *p)
{
	if (quoit_ring_submit_wake(p, &need_wake))
		explore_futex_wake();
}

/* The daemon posts to a client that may sleep on the tail or in an epoll of its own. */
static void submit_descriptor(struct quoit_producer *p)
{
	if (quoit_ring_submit_wake(p, &need_wake))
		explore_futex_wake();
	if (QUOIT_RING_LOAD(&arm, ARM_ORDER) != 0)
		explore_bell_send();
}

static void idle_spin(struct quoit_consumer *c)
{
	(void)c;
}

/* Sleep on the socket; the byte is drained before the tail is looked at again. */
static void sleep_on_bell(struct quoit_consumer *c, uint32_t *flag)
{
	if (quoit_ring_sleep(c, flag) || !ASKED) {
#ifdef CLEAR_BEFORE_DRAIN
		explore_bell_drain();
		explore_bell_wait();
#else
		explore_bell_wait();
		explore_bell_drain();
#endif
	}
	quoit_ring_awake(flag);
}

/* The reactor. */
static void idle_bell(struct quoit_consumer *c)
{
	sleep_on_bell(c, &need_wake);
}

/* A client in an epoll of its own. */
static void idle_descriptor(struct quoit_consumer *c)
{
	sleep_on_bell(c, &arm);
}

/* A client on the CQ tail. */
static void idle_futex(struct quoit_consumer *c)
{
	if (quoit_ring_sleep(c, &need_wake)) {
#ifdef NO_COMPARE
		explore_futex_sleep();
#else
		explore_futex_wait(&ring_tail, c->slept_at);
#endif
	}
	quoit_ring_awake(&need_wake);
}

void produce_plain(void)
{
	produce(submit_plain, &plain);
}

void produce_bell(void)
{
	produce(submit_bell, &plain);
}

void produce_futex(void)
{
	produce(submit_futex, &plain);
}

void produce_descriptor(void)
{
	produce(submit_descriptor, &plain);
}

void consume_spin(void)
{
	consume(idle_spin, &plain);
}

void consume_bell(void)
{
	consume(idle_bell, &plain);
}

void consume_futex(void)
{
	consume(idle_futex, &plain);
}

void consume_descriptor(void)
{
	consume(idle_descriptor, &plain);
}

/* ---- the same by laps ---- */

void produce_laps(void)
{
	produce(submit_plain, &laps);
}

void produce_laps_bell(void)
{
	produce(submit_bell, &laps_asleep);
}

void produce_laps_futex(void)
{
	produce(submit_futex, &laps_asleep);
}

void produce_laps_descriptor(void)
{
	produce(submit_descriptor, &laps_asleep);
}

/* Without an end to its looks at the laps it needs no tail, but to sleep. */
void consume_laps(void)
{
	consume(idle_spin, &laps);
}

void consume_laps_in_parts(void)
{
	consume(idle_spin, &laps_in_parts);
}

void consume_laps_bell(void)
{
	consume(idle_bell, &laps_asleep);
}

void consume_laps_futex(void)
{
	consume(idle_futex, &laps_asleep);
}

void consume_laps_descriptor(void)
{
	consume(idle_descriptor, &laps_asleep);
}

/* ---- the producer dies: what was handed over is a prefix, and there is an end to it ---- */

static void take_until_dead(const struct use *u)
{
	struct quoit_consumer c = consumer_at_first();

	while (c.next != FIRST + u->items) {
		bool dead = explore_is_dead(0);
		uint32_t n = peek(&c, u);

		if (n == 0 && dead)
			return;
		if (n > 0)
			take(&c, n);
	}
}

void consume_until_dead(void)
{
	take_until_dead(&plain);
}

void consume_laps_until_dead(void)
{
	take_until_dead(&laps);
}
