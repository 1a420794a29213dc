/* SPDX-License-Identifier: MIT */
/*
 * ctl_io.h - control messages and descriptors over a socket that never blocks us.
 */
#ifndef QUOITD_CTL_IO_H
#define QUOITD_CTL_IO_H

#include <quoit/ctl.h>

#define CTL_MAX_FDS (3 * QUOIT_MAX_RINGS)

/*
 * Send one message with descriptors (which stay the caller's).  0; -EAGAIN: the client
 * does not read; else -errno.
 */
int ctl_send(int socket, const struct quoit_ctl *message, const int *fds, unsigned count);

/*
 * Receive one message.  1: *ret is filled, and *ret_fd is the descriptor that came with it,
 * -1: none came, -EMFILE: we could not take it; 0: the client has closed; -EAGAIN: nothing
 * there; -EPROTO: a message of another length, or with more descriptors than one (all are
 * closed); else -errno.  The socket has SO_PASSCRED, which tells an empty message from none.
 */
int ctl_receive(int socket, struct quoit_ctl *ret, int *ret_fd);

/*
 * Close the socket so that the client reads what was sent before: if its own messages were
 * left unread, the kernel would give it an error first.
 */
void ctl_hang_up(int socket);

#endif
