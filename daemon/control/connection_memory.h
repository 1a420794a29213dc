/* SPDX-License-Identifier: MIT */
/*
 * connection_memory.h - takes over the memory that a client shares with quoitd.  One blocking call maps
 * it; once the client says that it is ready, another one checks it.  Control thread only.
 *
 *	ARENA ─────► mapped ──READY──► the session's
 *	RING_OPEN ─► mapped ──READY──► with the reactor
 *	TENSOR ────► mapped ──READY──► a tensor with a name (services_tensor.c)
 *	ARENA_MORE (connection_arena.c) ─► with the reactor
 */
#ifndef QUOITD_CONNECTION_MEMORY_H
#define QUOITD_CONNECTION_MEMORY_H

#include "connection_private.h"

/* ARENA: refuse it, or have it mapped.  The descriptors are taken over. */
void connection_take_arena(struct connection *c, const struct quoit_ctl *m,
			   const struct ctl_fds *fds);

/* READY: refuse it, or have the memory checked. */
void connection_ready(struct connection *c, const struct quoit_ctl *m);

/* Have `bytes` of each descriptor mapped, then answer `m`.  The descriptors are taken over. */
void connection_map(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds,
		    uint64_t bytes);

/* The F_SEAL_* that memory of this kind must have when it is ready. */
int connection_seals(const struct connection *c, enum handover_kind kind);

/* Run a blocking call on c->handover; `m` is answered afterwards. */
void connection_begin_blocking(struct connection *c, const struct quoit_ctl *m,
			       void (*task)(void *));

/* The blocking call that checks the memory of a handover. */
void connection_check_memory(void *handover);

/* Count, into h->away, the bytes of the arena that are on other nodes than they should be. */
void connection_count_away(struct handover *h);

/* Is all memory of the handover locked that must be?  0, or -ENOMEM and the reason in its text. */
int connection_look_at_locks(struct connection *c);

/* ---- connection_arena.c ---- */

/* ARENA_MORE: refuse it, or have the new part checked. */
void connection_arena_more(struct connection *c, const struct quoit_ctl *m);
void connection_arena_checked(struct connection *c, bool late);

/* ---- connection_memory.c ---- */

/* Go on with the request that waited for a blocking call, if it is done. */
void connection_look_at_memory(struct connection *c);

/* The session is being given back: drop the memory that it has not taken yet. */
void connection_drop_memory(struct connection *c);

#endif
