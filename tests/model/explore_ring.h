/* SPDX-License-Identifier: MIT */
/*
 * explore_ring.h - the shipped ring.h with its accesses led to the scheduler, and
 * a small ring that wraps for scenarios to run on.
 *
 * Mistakes in how the ring is used, chosen at compile time, each of which must be
 * found (mistakes inside ring.h are made by run.sh in a copy of it):
 *   PUBLISH_FIRST       the tail is stored before the slot
 *   RELEASE_FIRST       slots are given back before they are copied
 *   NO_RANGE_CHECK      a peek of more than `entries` is believed
 *   REREAD_TAIL         a poll goes on for as long as there is something
 *   DOUBLE_FETCH        the slot is checked, then copied and used
 *   NO_CREDIT           a job is accepted without room for its completion
 *   SLEEP_UNASKED       the consumer sleeps though quoit_ring_sleep said no
 *   CLEAR_BEFORE_DRAIN  the doorbell of the last wake is drained before the next sleep
 *   NO_COMPARE          the futex does not compare the tail
 *   ARM_RELAXED         the second flag after a flush is loaded without an order
 */
#ifndef EXPLORE_RING_H
#define EXPLORE_RING_H

#include "explore_memory.h"
#include "explore_sched.h"

#define QUOIT_RING_RELAXED            EXPLORE_RELAXED
#define QUOIT_RING_ACQUIRE            EXPLORE_ACQUIRE
#define QUOIT_RING_RELEASE            EXPLORE_RELEASE
#define QUOIT_RING_SEQ_CST            EXPLORE_SEQ_CST
#define QUOIT_RING_LOAD(p, order)     explore_load((p), (order))
#define QUOIT_RING_STORE(p, v, order) explore_put((p), (v), (order))
#include <quoit/ring.h>

#define ENTRIES 2u
#define WORDS   2u               /* words of a slot: two, so that a torn slot shows */
#define ITEMS   4u               /* each slot is used twice */
#define FIRST   (UINT32_MAX - 1) /* indices wrap after two items */

/* The shared words: only addresses, since explore_memory.h holds their values. */
extern uint32_t ring_tail, ring_head;
extern uint64_t ring_slots[ENTRIES][WORDS];
extern uint64_t ring_line[WORDS];

struct quoit_producer producer_at_first(void);
struct quoit_consumer consumer_at_first(void);

/* A correct producer hands ITEMS over to a correct consumer. */
void share_ring(void);
void produce_plain(void);
void produce_bell(void);
void produce_futex(void);
void produce_descriptor(void);
void consume_spin(void);
void consume_bell(void);
void consume_futex(void);
void consume_descriptor(void);
void consume_until_dead(void);

/* The same with a tail that has a line, which carries single items. */
void share_line(void);
void produce_line(void);
void produce_line_bell(void);
void produce_line_futex(void);
void produce_line_descriptor(void);
void consume_line(void);
void consume_line_bell(void);
void consume_line_futex(void);
void consume_line_descriptor(void);
void consume_line_until_dead(void);

/* The peer's words give any value at any load. */
void share_hostile_producer(void);
void consume_hostile(void);
void share_hostile_line(void);
void consume_hostile_line(void);
void share_hostile_consumer(void);
void complete_hostile(void);
void reserve_hostile(void);

#endif
