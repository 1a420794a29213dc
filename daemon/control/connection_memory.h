/* SPDX-License-Identifier: MIT */
/*
 * connection_memory.h - what a client hands over of the memory that both sides see: mapped by one
 * errand, and once the client says that it is ready, looked through by another.  Control thread
 * only.
 *
 *	ARENA ─────► mapped ──READY──► the session's
 *	RING_OPEN ─► mapped ──READY──► with the reactor
 *	ARENA_MORE (connection_arena.c) ─► with the reactor
 */
#ifndef QUOITD_CONNECTION_MEMORY_H
#define QUOITD_CONNECTION_MEMORY_H

#include "connection_private.h"

/* ARENA: refuse it, or have it mapped.  Its descriptors are taken over. */
void connection_take_arena(struct connection *c, const struct quoit_ctl *m,
			   const struct ctl_fds *fds);

/* READY: refuse it, or have looked whether it is so. */
void connection_ready(struct connection *c, const struct quoit_ctl *m);

/* Have `bytes` of each of these descriptors mapped, which are taken over; `m` is answered then. */
void connection_map(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds,
		    uint64_t bytes);

/* F_SEAL_*: what the arena, or a ring, is to have before it is ready. */
int connection_seals(const struct connection *c, bool arena);

/* Run an errand on c->handover; `m` is answered then. */
void connection_begin_errand(struct connection *c, const struct quoit_ctl *m, void (*task)(void *));

/* The errand that looks whether what a handover says is there. */
void connection_check_memory(void *handover);

/* And what then counts those of its pages that are on other nodes than they should be. */
void connection_count_away(struct handover *h);

/* Is all of the handover locked that has to be?  0; -ENOMEM, and its text says why not. */
int connection_look_at_locks(struct connection *c);

/* ---- connection_arena.c ---- */

/* ARENA_MORE: refuse it, or have looked whether it is so. */
void connection_arena_more(struct connection *c, const struct quoit_ctl *m);
void connection_arena_checked(struct connection *c, bool late);

/* ---- connection_memory.c ---- */

/* Go on where an errand is done. */
void connection_look_at_memory(struct connection *c);

/* The session is given back: drop what it has not got yet. */
void connection_drop_memory(struct connection *c);

#endif
