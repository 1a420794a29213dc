/* SPDX-License-Identifier: MIT */
/*
 * connection_private.h - what the files behind connection.h share: connection.c (answers and
 * the end), connection_request.c (requests), connection_rings.c (rings), connection_memory.c
 * (memory that both sides see) and connection_kernels.c (images and kernels).  Control thread only.
 */
#ifndef QUOITD_CONNECTION_PRIVATE_H
#define QUOITD_CONNECTION_PRIVATE_H

#include "connection.h"

/* ---- connection.c ---- */

/*
 * Send a message with descriptors, which stay the caller's.  A client that cannot be told
 * something is ended.
 */
void connection_reply(struct connection *c, struct quoit_ctl *m, const int *fds, unsigned count);

/* The same with a result and at most a sentence (format NULL: none). */
void connection_reply_result(struct connection *c, uint16_t type, uint32_t seq, int32_t result,
			     const char *format, ...);

/* Write to its session's reactor. */
void connection_send_mail(struct connection *c, uint8_t type, uint32_t a, uint32_t b);

/* ---- connection_rings.c ---- */

/* RING_OPEN: refuse it, or charge it and have its memory mapped.  Its descriptors are taken over.
 */
void connection_open_rings(struct connection *c, const struct quoit_ctl *m,
			   const struct ctl_fds *fds);

/* That cannot be: what was charged for it comes back. */
void connection_uncharge_rings(struct connection *c);

/* Make the rings in this memory, which is taken over, and answer; they wait for READY. */
void connection_make_rings(struct connection *c, struct shared *memory);

/* They are ready: have the reactor add them. */
void connection_hand_rings_over(struct connection *c);

/* The reactor's answer for one of them; after the last the client has its own. */
void connection_answer_ring(struct connection *c, const struct mail *m);

/* No reactor has it, or has it any more: free it, and what was charged comes back. */
void connection_drop_ring(struct connection *c, struct ring *ring);

#endif
