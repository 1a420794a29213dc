/* SPDX-License-Identifier: MIT */
/*
 * bind.h - binds a session's memory to its reactor's node.
 *
 * Unbound memory lies where it is first touched: by the client, which may run anywhere, or by the
 * control thread.  If the kernel refuses, the session works all the same, and the refusal is
 * logged.
 */
#ifndef QUOITD_BIND_H
#define QUOITD_BIND_H

#include <stdint.h>

struct session;

/* Ask for the node's memory for all that is ours; what the client brings later asks for it, too. */
void bind_session(struct session *s, int32_t node);

/* Bind only the pinned region, which devices read and write, to another node. */
void bind_pinned(const struct session *s, int32_t node);

#endif
