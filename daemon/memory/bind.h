/* SPDX-License-Identifier: MIT */
/*
 * bind.h - a session's memory beside its reactor.
 *
 * Else it lies where it is first touched: by the client, which may be anywhere, or by the
 * control thread.  Where the kernel refuses, the session works all the same, and it is logged.
 */
#ifndef QUOITD_BIND_H
#define QUOITD_BIND_H

#include <stdint.h>

struct session;

/* Asks for the node's memory for all that is ours; what its client brings will ask for the same. */
void bind_session(struct session *s, int32_t node);

/* For its pinned region alone, which devices read and write: another node's. */
void bind_pinned(const struct session *s, int32_t node);

#endif
