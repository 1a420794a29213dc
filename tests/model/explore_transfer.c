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
	c.next = c.cached_tail = FIRST;
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

static void slot_fill(uint32_t index)
{
	for (uint32_t w = 0; w < WORDS; w++)
		explore_put(&ring_slots[index % ENTRIES][w], index, EXPLORE_PLAIN);
}

/* Hand ITEMS over in flushes of one or two, as `submit` does it. */
static void produce(void (*submit)(struct quoit_producer *))
{
	struct quoit_producer p = producer_at_first();

	while (p.next != FIRST + ITEMS) {
		uint32_t index;

		if (!quoit_ring_reserve(&p, &index))
			continue;
#ifdef PUBLISH_FIRST
		submit(&p);
		slot_fill(index);
#else
		slot_fill(index);
		if (quoit_ring_space(&p) == 0 || p.next == FIRST + ITEMS || explore_choose(2) == 0)
			submit(&p);
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

/* Take ITEMS; `idle` is what to do when there is nothing. */
static void consume(void (*idle)(struct quoit_consumer *))
{
	struct quoit_consumer c = consumer_at_first();

	while (c.next != FIRST + ITEMS) {
		uint32_t n = quoit_ring_peek(&c);

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
		explore_futex_wait(&ring_tail, c->cached_tail);
#endif
	}
	quoit_ring_awake(&need_wake);
}

void produce_plain(void)
{
	produce(submit_plain);
}

void produce_bell(void)
{
	produce(submit_bell);
}

void produce_futex(void)
{
	produce(submit_futex);
}

void produce_descriptor(void)
{
	produce(submit_descriptor);
}

void consume_spin(void)
{
	consume(idle_spin);
}

void consume_bell(void)
{
	consume(idle_bell);
}

void consume_futex(void)
{
	consume(idle_futex);
}

void consume_descriptor(void)
{
	consume(idle_descriptor);
}

/* ---- the producer dies: what was handed over is a prefix, and there is an end to it ---- */

void consume_until_dead(void)
{
	struct quoit_consumer c = consumer_at_first();

	while (c.next != FIRST + ITEMS) {
		bool dead = explore_is_dead(0);
		uint32_t n = quoit_ring_peek(&c);

		if (n == 0 && dead)
			return;
		if (n > 0)
			take(&c, n);
	}
}
