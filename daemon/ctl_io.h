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
 * or -1; 0: the client has closed; -EAGAIN: nothing there; -EPROTO: a message of another
 * length, or with more descriptors than one (all are closed); else -errno.
 */
int ctl_receive(int socket, struct quoit_ctl *ret, int *ret_fd);

#endif
