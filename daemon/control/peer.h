/* SPDX-License-Identifier: MIT */
/*
 * peer.h - the process at the other end of a connection.
 *
 * The socket alone does not tell that it has ended, since a forked child may still hold the socket.
 * Nor does the process's number, which another process may have by then.
 */
#ifndef QUOITD_PEER_H
#define QUOITD_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A pidfd of the process that connected this socket, readable once that has ended; -1: none. */
int peer_open(int socket, pid_t pid);

/* Also false without a pidfd (-1). */
bool peer_has_ended(int pidfd);

/*
 * The groups of the process that connected this socket, for the caller to free: its own, and the
 * others if the kernel tells them.  -errno.
 */
int peer_groups(int socket, gid_t **ret, size_t *ret_count);

#endif
