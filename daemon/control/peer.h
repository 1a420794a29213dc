/* SPDX-License-Identifier: MIT */
/*
 * peer.h - the process at the other end of a connection.
 *
 * A child that it forked may hold its socket after its death, so the socket alone does not
 * tell of that; nor does the number of the process, which may be another's by then.
 */
#ifndef QUOITD_PEER_H
#define QUOITD_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A pidfd of the process that connected this socket, readable once it has ended; -1: not to be had.
 */
int peer_open(int socket, pid_t pid);

/* False also where there is no pidfd (-1). */
bool peer_has_ended(int pidfd);

/*
 * The groups of who connected this socket, of which `primary` is one, to be freed; also where the
 * kernel does not tell the others.  -ENOMEM.
 */
int peer_groups(int socket, gid_t primary, gid_t **ret, size_t *ret_count);

#endif
