/* SPDX-License-Identifier: MIT */
/* connection_memory.c - maps, checks and hands over the memory that clients share with quoitd */
#include "connection_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/log.h"
#include "machine/features.h"
#include "services.h"

/* ---- blocking calls ---- */

/* Map all, or none; if one fails, all descriptors are closed. */
static void map_all(void *of)
{
	struct handover *h = of;

	h->result = 0;
	for (h->at = 0; h->at < h->count && !h->result; h->at++) {
		struct shared *m = &h->memory[h->at];
		int fd = m->fd;

		h->result = shared_map(fd, &h->wish, m, h->text, sizeof h->text);
		if (h->result < 0)
			m->fd = fd;
	}
	for (uint32_t i = 0; i < h->count && h->result < 0; i++)
		if (h->memory[i].base)
			shared_drop(&h->memory[i]);
		else
			close(h->memory[i].fd);
	if (h->result < 0)
		h->at--;
}

/* Pages are elsewhere if the client has bound them, or where the node had no room. */
void connection_count_away(struct handover *h)
{
	struct shared *m = &h->memory[0];
	size_t present, here;

	h->away = 0;
	if (h->kind == HANDOVER_ARENA && h->wish.node >= 0 &&
	    !affinity_count_pages(m->base + h->from, h->upto - h->from, (uint32_t)h->wish.node,
				  &present, &here))
		h->away = (present - here) * PAGE_BYTES;
}

void connection_check_memory(void *of)
{
	struct handover *h = of;

	h->result = 0;
	for (h->at = 0; h->at < h->count && !h->result; h->at++)
		h->result = shared_check(&h->memory[h->at], h->from, h->upto, h->seals, h->text,
					 sizeof h->text);
	if (h->result < 0)
		h->at--;
	else
		connection_count_away(h);
}

/* ---- what is asked for ---- */

/* An executor may have to map the arena of such a session at any time. */
static bool has_executors(const struct connection *c)
{
	return c->control->config->modules || c->session->devices;
}

int connection_seals(const struct connection *c, enum handover_kind kind)
{
	return shared_seals(!c->control->features->missing[FEATURE_SEAL],
			    kind == HANDOVER_ARENA && has_executors(c));
}

/*
 * Without locked memory a client could hold up or burden the threads that serve others, so a
 * service requires it.
 */
static bool must_lock(const struct connection *c)
{
	return !c->control->config->is_private && !c->control->config->lax_memory;
}

void connection_begin_blocking(struct connection *c, const struct quoit_ctl *m,
			       void (*task)(void *))
{
	c->pending = m->type;
	c->pending_seq = m->seq;
	blocking_run(&c->blocking, task, &c->handover);
}

void connection_map(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds,
		    uint64_t bytes)
{
	struct handover *h = &c->handover;

	h->kind = m->type == QUOIT_CTL_ARENA    ? HANDOVER_ARENA
		  : m->type == QUOIT_CTL_TENSOR ? HANDOVER_TENSOR
						: HANDOVER_RINGS;
	h->from = 0;
	h->upto = h->kind == HANDOVER_ARENA ? c->arena_bytes : bytes;
	h->count = fds->count;
	h->wish = (struct shared_wish){
		.bytes = bytes, .locked = h->upto, .node = c->session->memory_node};
	/* The little that may be locked is better left to a private quoitd's user. */
	if (h->kind != HANDOVER_RINGS && c->control->config->is_private)
		h->wish.locked = 0;
	for (uint32_t i = 0; i < h->count; i++)
		h->memory[i] = (struct shared){.fd = fds->fd[i]};
	connection_begin_blocking(c, m, map_all);
}

void connection_take_arena(struct connection *c, const struct quoit_ctl *m,
			   const struct ctl_fds *fds)
{
	if (fds->count == 1 && !c->arena.base && !c->session->arena) {
		connection_map(c, m, fds, c->session->arena_most);
		return;
	}
	connection_drop_fds(c, fds);
	if (fds->count == 1)
		connection_reply_result(c, m->type, m->seq, -EEXIST,
					"the session has its arena already: ARENA is sent once");
	else
		connection_reply_result(
			c, m->type, m->seq, -EMFILE,
			"quoitd has no file descriptor left (its limit: LimitNOFILE= of the unit, "
			"ulimit -n)");
}

void connection_ready(struct connection *c, const struct quoit_ctl *m)
{
	struct handover *h = &c->handover;

	h->from = 0;
	h->count = 1;
	if (c->arena.base) { /* nothing else comes before it is ready */
		h->kind = HANDOVER_ARENA;
		h->memory[0] = c->arena;
		h->upto = c->arena_bytes;
	} else if (c->making.memory.base) {
		h->kind = HANDOVER_TENSOR;
		h->memory[0] = c->making.memory;
		h->upto = c->making.memory.bytes;
	} else {
		h->kind = HANDOVER_RINGS;
		h->count = c->rings_waiting;
		for (uint32_t i = 0; i < h->count; i++)
			h->memory[i] = c->new_rings[i]->memory;
		h->upto = h->memory[0].bytes; /* they are all alike */
	}
	h->seals = connection_seals(c, h->kind);
	if (h->count)
		connection_begin_blocking(c, m, connection_check_memory);
	else
		connection_reply_result(
			c, m->type, m->seq, -EINVAL,
			"READY was sent, but no arena, ring or tensor waits for it");
}

/* ---- what is answered ---- */

/* Refuse the request: name what the blocking call failed at, and say why. */
static void refuse(struct connection *c, uint16_t type, int err, const char *why)
{
	const struct handover *h = &c->handover;

	c->pending = 0;
	if (h->kind == HANDOVER_RINGS)
		connection_reply_result(c, type, c->pending_seq, err, "ring %u is refused: %s",
					c->first_ring + h->at, why);
	else
		connection_reply_result(c, type, c->pending_seq, err, "the %s is refused: %s",
					h->kind == HANDOVER_ARENA ? "arena" : "tensor", why);
}

static void say_unlocked(const struct connection *c, int err)
{
	const struct handover *h = &c->handover;
	uint64_t bytes = h->upto - h->from;
	char what[24];

	if (h->kind == HANDOVER_RINGS)
		snprintf(what, sizeof what, "ring %u", c->first_ring + h->at);
	else
		snprintf(what, sizeof what, "its %s",
			 h->kind == HANDOVER_ARENA ? "arena" : "tensor");
	log_session(
		c->session,
		"session %llu: %llu KiB of %s cannot be locked (%s) and may be paged out; " FEATURES_MORE_MEMLOCK,
		(unsigned long long)c->session->id, (unsigned long long)bytes >> 10, what,
		strerror(-err));
}

/* 0: everything is locked, or need not be. */
int connection_look_at_locks(struct connection *c)
{
	struct handover *h = &c->handover;

	for (h->at = 0; h->at < h->count; h->at++) {
		int err = h->memory[h->at].unlocked;

		if (!err)
			continue;
		if (must_lock(c)) {
			snprintf(h->text, sizeof h->text, "quoitd cannot lock it in memory: %s",
				 strerror(-err));
			return -ENOMEM;
		}
		say_unlocked(c, err);
	}
	return 0;
}

static void drop_handover(struct connection *c)
{
	for (uint32_t i = 0; i < c->handover.count; i++)
		blocking_drop(&c->blocking, &c->handover.memory[i]);
}

static void mapped(struct connection *c, bool late)
{
	struct handover *h = &c->handover;
	struct quoit_ctl answer = {.type = c->pending, .seq = c->pending_seq};
	int err = h->result;

	if (late) {
		if (!err)
			drop_handover(c);
		return;
	}
	if (!err) {
		err = connection_look_at_locks(c);
		if (err < 0)
			drop_handover(c);
	}
	if (err < 0) {
		if (h->kind == HANDOVER_RINGS)
			connection_uncharge_rings(c);
		if (h->kind == HANDOVER_TENSOR)
			services_drop_tensor(c);
		refuse(c, answer.type, err, h->text);
		return;
	}
	if (answer.type == QUOIT_CTL_RING_OPEN) {
		connection_make_rings(c, h->memory);
		return;
	}
	c->pending = 0;
	*(h->kind == HANDOVER_ARENA ? &c->arena : &c->making.memory) = h->memory[0];
	answer.ring_reply.seals = (uint32_t)connection_seals(c, h->kind);
	connection_reply(c, &answer, NULL, 0);
}

/* A session without rings is not at work, so its reactor does not look at the arena yet. */
static void take_arena(struct connection *c)
{
	struct session *s = c->session;

	s->arena_memory = c->arena;
	s->arena = c->arena.base;
	/* Its reactor may be publishing the counters; it may read the old value or the new one. */
	__atomic_store_n(&s->arena_away, c->handover.away, __ATOMIC_RELAXED);
	c->arena = (struct shared){.fd = -1};
	if (c->handover.away)
		log_session(s,
			    "session %llu: %llu KiB of its arena lie on other NUMA nodes than its "
			    "own, %d",
			    (unsigned long long)s->id, (unsigned long long)c->handover.away >> 10,
			    s->memory_node);
}

static void checked(struct connection *c, bool late)
{
	struct handover *h = &c->handover;

	if (late)
		return; /* the memory goes with the session */
	if (h->result < 0) {
		refuse(c, QUOIT_CTL_READY, h->result, h->text);
		connection_drop_memory(c);
		return;
	}
	if (h->kind == HANDOVER_RINGS) {
		connection_hand_rings_over(c);
		return;
	}
	if (h->kind == HANDOVER_TENSOR) {
		services_name_tensor(c);
		return;
	}
	take_arena(c);
	c->pending = 0;
	connection_reply_result(c, QUOIT_CTL_READY, c->pending_seq, 0, NULL);
}

void connection_look_at_memory(struct connection *c)
{
	bool late = c->state == CONNECTION_GONE || c->state == CONNECTION_DRAINING;

	if (!blocking_ran(&c->blocking))
		return;
	if (c->pending == QUOIT_CTL_ARENA_MORE)
		connection_arena_checked(c, late);
	else if (c->pending == QUOIT_CTL_READY)
		checked(c, late);
	else
		mapped(c, late);
}

void connection_drop_memory(struct connection *c)
{
	blocking_drop(&c->blocking, &c->arena);
	services_drop_tensor(c);
	for (; c->rings_waiting; c->rings_waiting--)
		connection_drop_ring(c, c->new_rings[c->rings_waiting - 1]);
}
