/* SPDX-License-Identifier: MIT */
/* launcher_peers.h - memory of other devices */
#ifndef QUOIT_EXEC_LAUNCHER_PEERS_H
#define QUOIT_EXEC_LAUNCHER_PEERS_H

#include <stdbool.h>

struct flight;
struct launcher;

/* Take messages about other devices' processes.  0, -ECONNRESET or -EPROTO. */
int peers_hear(struct launcher *l);
void peers_close(struct launcher *l);

/* Does this request read another device's memory? */
bool flight_is_from_peer(const struct flight *f);

/*
 * Put such a copy into the flight's stream.  0; -ENOTSUP: that device is not reached, and nothing
 * was put there; -EAGAIN; else -errno.
 */
int peer_copy(struct launcher *l, struct flight *f);

/* The copy is over: release what it read.  A flight of another kind is fine. */
void peer_leave(struct launcher *l, struct flight *f);

/* The flight is an EXPORT that is done: give its buffer a name for others.  0 or -ENOTSUP. */
int export_buffer(struct launcher *l, const struct flight *f);

#endif
