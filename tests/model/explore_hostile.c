/* SPDX-License-Identifier: MIT */
/* explore_hostile.c - run one side of the ring against a peer that stores anything at any time */
#include "explore_ring.h"

/* ---- a hostile producer: any tail, any slot, at any load ---- */

#define POLLS 3u
#define GOOD  1u /* a slot's first word must be this, or the slot is refused */

void share_hostile_producer(void)
{
	static const uint64_t tails[] = {
		FIRST - 1,           FIRST,
		FIRST + 1,           FIRST + ENTRIES,
		FIRST + ENTRIES + 1, FIRST + 2 * ENTRIES,
		FIRST + (1u << 31),  0,
	};
	static const uint64_t words[] = {GOOD, GOOD + 1};

	explore_share_hostile(&ring_tail, tails, sizeof(tails) / sizeof(tails[0]), "tail");
	explore_share(&ring_head, EXPLORE_ATOMIC, FIRST, "head");
	for (uint32_t s = 0; s < ENTRIES; s++)
		explore_share_hostile(&ring_slots[s][0], words, 2, "slot");
}

/*
 * The tail's line can have anything, too: one item, another one, none, with a tail that fits or
 * not.
 */
void share_hostile_line(void)
{
#define LINE(tail, first) ((uint64_t)(uint32_t)(tail) << 32 | (uint32_t)(first))
	static const uint64_t lines[] = {
		LINE(FIRST + 1, ~GOOD),       LINE(FIRST + 1, ~(GOOD + 1)),    LINE(FIRST + 1, 0),
		LINE(FIRST + 2, ~GOOD),       LINE(FIRST + ENTRIES, 0),        LINE(FIRST, ~GOOD),
		LINE(FIRST + ENTRIES + 1, 0), LINE(FIRST + (1u << 31), ~GOOD),
	};
	static const uint64_t words[] = {GOOD, GOOD + 1};

	explore_share_hostile(&ring_line[0], lines, sizeof(lines) / sizeof(lines[0]), "line");
	explore_share(&ring_head, EXPLORE_ATOMIC, FIRST, "head");
	for (uint32_t s = 0; s < ENTRIES; s++)
		explore_share_hostile(&ring_slots[s][0], words, 2, "slot");
}

static void use_one(uint32_t index)
{
	uint64_t copy[1];

#ifdef DOUBLE_FETCH
	if (QUOIT_RING_LOAD(&ring_slots[index % ENTRIES][0], QUOIT_RING_RELAXED) != GOOD)
		return;
	quoit_ring_copy(copy, ring_slots[index % ENTRIES], 1);
#else
	quoit_ring_copy(copy, ring_slots[index % ENTRIES], 1);
	if (copy[0] != GOOD)
		return;
#endif
	explore_check(copy[0] == GOOD, "what is used is not what was checked");
}

/*
 * Only its first word counts here.  A carried item that is believed must come with a tail that was
 * there.
 */
static bool use_carried(struct quoit_consumer *c, uint32_t n)
{
	uint64_t copy[1];

	if (n != 1 || !c->line || !quoit_ring_carried(c, copy, 1))
		return false;
	explore_check(copy[0] >> 32 == 0, "a word that no slot was checked for");
	return true;
}

/* False: the producer lies, and must be disconnected. */
static bool poll_hostile(struct quoit_consumer *c)
{
	uint32_t n = quoit_ring_peek(c);
	uint32_t done = 0;

	while (n > 0) {
#ifndef NO_RANGE_CHECK
		if (n > ENTRIES)
			return false;
#endif
		explore_check(n <= ENTRIES, "more than the ring holds");
		for (uint32_t i = use_carried(c, n) ? n : 0; i < n; i++)
			use_one(c->next + i);
		quoit_ring_release(c, n);
		done += n;
		explore_check(done <= ENTRIES, "one poll does more than a ring of work");
		n = 0;
#ifdef REREAD_TAIL
		n = quoit_ring_peek(c);
#endif
	}
	return true;
}

void consume_hostile(void)
{
	struct quoit_consumer c = consumer_at_first();

	for (uint32_t i = 0; i < POLLS; i++)
		if (!poll_hostile(&c))
			return;
}

void consume_hostile_line(void)
{
	struct quoit_consumer c = consumer_at_first();

	c.line = ring_line;
	for (uint32_t i = 0; i < POLLS; i++)
		if (!poll_hostile(&c))
			return;
}

/* ---- a hostile consumer: any head; credits keep the ring from overflowing ---- */

void share_hostile_consumer(void)
{
	static const uint64_t heads[] = {
		FIRST - 1, FIRST,     FIRST + 1, FIRST + 2,
		FIRST + 3, FIRST + 4, FIRST + 5, FIRST + (1u << 31),
	};

	explore_share_hostile(&ring_head, heads, sizeof(heads) / sizeof(heads[0]), "head");
	explore_share(&ring_tail, EXPLORE_ATOMIC, FIRST, "tail");
}

static bool has_credit(const struct quoit_producer *p, uint32_t in_flight)
{
#ifdef NO_CREDIT
	(void)p;
	return in_flight < ENTRIES;
#else
	return in_flight < quoit_ring_space(p);
#endif
}

/* The daemon posts at any time jobs that it accepted at any time before. */
void complete_hostile(void)
{
	struct quoit_producer p = producer_at_first();
	uint32_t in_flight = 0;

	for (uint32_t i = 0; i < 3 * ITEMS && p.next != FIRST + ITEMS; i++) {
		uint32_t before = p.cached_head;
		uint32_t index;

		if (explore_choose(2) == 0 && !quoit_ring_refresh(&p))
			return;
		explore_check(p.cached_head - before <= p.published - before,
			      "a head that is not between the last one and the tail");
		explore_check(quoit_ring_space(&p) <= ENTRIES, "more room than the ring has");
		if (has_credit(&p, in_flight))
			in_flight++;
		if (in_flight == 0 || explore_choose(2) == 0)
			continue;
		explore_check(quoit_ring_space(&p) > 0, "no room for a completion");
		if (!quoit_ring_reserve(&p, &index))
			return;
		quoit_ring_submit(&p);
		in_flight--;
	}
}

/* A producer that reserves all it can must not be told that unpublished slots are free. */
void reserve_hostile(void)
{
	struct quoit_producer p = producer_at_first();
	uint32_t index;

	while (quoit_ring_reserve(&p, &index))
		explore_check(p.next - p.published <= ENTRIES, "a slot is reserved twice");
	quoit_ring_submit(&p);
	while (p.next != FIRST + ITEMS && quoit_ring_reserve(&p, &index))
		explore_check(p.next - p.cached_head <= ENTRIES, "a slot is reserved twice");
}
