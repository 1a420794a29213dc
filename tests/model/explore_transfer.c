/* SPDX-License-Identifier: MIT */
/* explore_transfer.c - hand items over: every item once, whole, in order, and no wake-up is lost */
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
uint64_t ring_line[WORDS];

static uint32_t need_wake, arm;

/* A transfer of this many items, with or without a line of the tail. */
struct use {
	bool line;
	uint32_t items;
};

static const struct use plain = {false, ITEMS};
static const struct use line = {true, ITEMS};
/* one item more has ten times the states */
static const struct use line_asleep = {true, ITEMS - 1};

static struct quoit_producer producer_of(const struct use *u)
{
	struct quoit_producer p;

	if (u->line)
		quoit_producer_init_line(&p, ring_line, &ring_head, ENTRIES);
	else
		quoit_producer_init(&p, &ring_tail, &ring_head, ENTRIES);
	p.next = p.published = p.cached_head = FIRST;
	return p;
}

static struct quoit_consumer consumer_of(const struct use *u)
{
	struct quoit_consumer c;

	if (u->line)
		quoit_consumer_init_line(&c, &ring_head, ring_line, ENTRIES);
	else
		quoit_consumer_init(&c, &ring_head, &ring_tail, ENTRIES);
	c.next = c.cached_tail = FIRST;
	return c;
}

struct quoit_producer producer_at_first(void)
{
	return producer_of(&plain);
}

struct quoit_consumer consumer_at_first(void)
{
	return consumer_of(&plain);
}

static void share_all_but_tail(void)
{
	static const char *const names[ENTRIES][WORDS] = {
		{"slot 0 word 0", "slot 0 word 1"},
		{"slot 1 word 0", "slot 1 word 1"},
	};

	explore_share(&ring_head, EXPLORE_ATOMIC, FIRST, "head");
	explore_share(&need_wake, EXPLORE_ATOMIC, 0, "need_wake");
	explore_share(&arm, EXPLORE_ATOMIC, 0, "arm");
	for (uint32_t s = 0; s < ENTRIES; s++)
		for (uint32_t w = 0; w < WORDS; w++)
			explore_share(&ring_slots[s][w], EXPLORE_SLOT, UINT64_MAX, names[s][w]);
}

void share_ring(void)
{
	explore_share(&ring_tail, EXPLORE_ATOMIC, FIRST, "tail");
	share_all_but_tail();
}

void share_line(void)
{
	explore_share(&ring_line[0], EXPLORE_ATOMIC, (uint64_t)FIRST << 32, "tail and item");
	explore_share(&ring_line[1], EXPLORE_ATOMIC, 0, "item word 1");
	share_all_but_tail();
}

static void slot_fill(uint32_t index)
{
	for (uint32_t w = 0; w < WORDS; w++)
		explore_put(&ring_slots[index % ENTRIES][w], index, EXPLORE_PLAIN);
}

/* Publish one or two items at a time by `submit`. */
static void produce(void (*submit)(struct quoit_producer *), const struct use *u)
{
	struct quoit_producer p = producer_of(u);

	while (p.next != FIRST + u->items) {
		uint32_t index;

		if (!quoit_ring_reserve(&p, &index))
			continue;
#ifdef PUBLISH_FIRST
		submit(&p);
		slot_fill(index);
#else
		slot_fill(index);
		if (quoit_ring_space(&p) == 0 || p.next == FIRST + u->items ||
		    explore_choose(2) == 0)
			submit(&p);
#endif
	}
}

static void check_item(const uint64_t *copy, uint32_t index)
{
	for (uint32_t w = 0; w < WORDS; w++)
		explore_check(copy[w] == index, "an item is lost, doubled or torn");
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
		check_item(copy, first + i);
	}
#ifndef RELEASE_FIRST
	quoit_ring_release(c, n);
#endif
}

/* Take a single item out of the tail's line, if it is there. */
static bool take_carried(struct quoit_consumer *c, uint32_t n, const struct use *u)
{
	uint64_t copy[WORDS];

	if (!u->line || n != 1 || !quoit_ring_carried(c, copy, WORDS))
		return false;
	check_item(copy, c->next);
	quoit_ring_release(c, 1);
	return true;
}

/* `idle` is called when there is no item. */
static void consume(void (*idle)(struct quoit_consumer *), const struct use *u)
{
	struct quoit_consumer c = consumer_of(u);

	while (c.next != FIRST + u->items) {
		uint32_t n = quoit_ring_peek(&c);

		if (n == 0)
			idle(&c);
		else if (!take_carried(&c, n, u))
			take(&c, n);
	}
}

static void submit_plain(struct quoit_producer *p)
{
	quoit_ring_submit(p);
}

/* A single item is carried; its two words are equal, so a slot of either kind will do. */
static bool submit_wake(struct quoit_producer *p)
{
	uint64_t item[WORDS] = {p->published, p->published};

	if (!p->line)
		return quoit_ring_submit_wake(p, &need_wake);
	return quoit_ring_submit_line(p, p->next - p->published == 1 ? item : NULL, WORDS,
				      &need_wake);
}

static void submit_line(struct quoit_producer *p)
{
	(void)submit_wake(p);
}

static void submit_bell(struct quoit_producer *p)
{
	if (!quoit_ring_must_ring(p, submit_wake(p)))
		return;
	explore_bell_send();
	quoit_ring_rang(p);
}

static void submit_futex(struct quoit_producer *p)
{
	if (!quoit_ring_must_ring(p, submit_wake(p)))
		return;
	explore_futex_wake();
	quoit_ring_rang(p);
}

/* The daemon posts to a client that may sleep on the tail or in its own epoll. */
static void submit_descriptor(struct quoit_producer *p)
{
	submit_futex(p);
	if (QUOIT_RING_LOAD(&arm, ARM_ORDER) != 0)
		explore_bell_send();
}

static void idle_spin(struct quoit_consumer *c)
{
	(void)c;
}

/* Sleep on the socket; drain the byte before looking at the tail again. */
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

/* A client in its own epoll. */
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
		explore_futex_wait(c->tail, c->cached_tail);
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

/* ---- the same with a line ---- */

void produce_line(void)
{
	produce(submit_line, &line);
}

void produce_line_bell(void)
{
	produce(submit_bell, &line_asleep);
}

void produce_line_futex(void)
{
	produce(submit_futex, &line_asleep);
}

void produce_line_descriptor(void)
{
	produce(submit_descriptor, &line_asleep);
}

void consume_line(void)
{
	consume(idle_spin, &line);
}

void consume_line_bell(void)
{
	consume(idle_bell, &line_asleep);
}

void consume_line_futex(void)
{
	consume(idle_futex, &line_asleep);
}

void consume_line_descriptor(void)
{
	consume(idle_descriptor, &line_asleep);
}

/* ---- the producer dies: the consumer gets a prefix, and then comes to an end ---- */

static void take_until_dead(const struct use *u)
{
	struct quoit_consumer c = consumer_of(u);

	while (c.next != FIRST + u->items) {
		bool dead = explore_is_dead(0);
		uint32_t n = quoit_ring_peek(&c);

		if (n == 0 && dead)
			return;
		if (n > 0 && !take_carried(&c, n, u))
			take(&c, n);
	}
}

void consume_until_dead(void)
{
	take_until_dead(&plain);
}

void consume_line_until_dead(void)
{
	take_until_dead(&line);
}
