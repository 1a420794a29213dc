/* SPDX-License-Identifier: MIT */
/*
 * connection_private.h - declares what the files behind connection.h share: connection.c (answers
 * and the end), connection_check.c (which messages are allowed), connection_request.c (requests),
 * connection_files.c (files), connection_rings.c (rings), connection_memory.c (shared memory) and
 * connection_kernels.c (images and kernels).  Control thread only.
 */
#ifndef QUOITD_CONNECTION_PRIVATE_H
#define QUOITD_CONNECTION_PRIVATE_H

#include <unistd.h>

#include "connection.h"

/* ---- connection.c ---- */

/*
 * Send a message with descriptors, which stay the caller's.  A client that does not take the
 * message is ended.
 */
void connection_reply(struct connection *c, struct quoit_ctl *m, const int *fds, unsigned count);

/* The same, with a result and one sentence (format NULL: none). */
void connection_reply_result(struct connection *c, uint16_t type, uint32_t seq, int32_t result,
			     const char *format, ...);

/* Send a letter to the session's reactor. */
void connection_send_mail(struct connection *c, uint8_t type, uint32_t a, uint32_t b);

/* ---- connection_check.c ---- */

/*
 * Check a message's form, that the connection's state allows it, and that it brings as many
 * descriptors as it must.  False: the client broke the protocol or may not ask, and the connection
 * is ended.  The descriptors stay the caller's.
 */
bool connection_check(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds);

/* ---- connection_request.c ---- */

/* False: it is too late for a request that had to wait. */
bool connection_may_go_on(const struct connection *c);

/* ---- connection_files.c ---- */

/* FILE_ADD: refuse it, or have the file looked at.  The descriptors are taken over. */
void connection_add_file(struct connection *c, const struct quoit_ctl *m,
			 const struct ctl_fds *fds);

/* If a file has been looked at, refuse it, or have the reactor add it. */
void connection_look_at_files(struct connection *c);

/* ---- connection_rings.c ---- */

/* RING_OPEN: refuse it, or charge it and have its memory mapped.  Takes the descriptors over. */
void connection_open_rings(struct connection *c, const struct quoit_ctl *m,
			   const struct ctl_fds *fds);

/* The opening has failed: give back what was charged. */
void connection_uncharge_rings(struct connection *c);

/* Make rings in this memory, which is taken over, and answer.  They wait for READY. */
void connection_make_rings(struct connection *c, struct shared *memory);

/* The rings are ready: have the reactor add them. */
void connection_hand_rings_over(struct connection *c);

/* Handle the reactor's answer for one ring; after the last one, answer the client. */
void connection_answer_ring(struct connection *c, const struct mail *m);

/* No reactor has this ring any more: free it, and give back what was charged. */
void connection_drop_ring(struct connection *c, struct ring *ring);

/* May this client see all users, and what is theirs, and change their shares? */
static inline bool connection_is_in_charge(const struct connection *c)
{
	return c->uid == 0 || c->uid == geteuid();
}

#endif
