/* SPDX-License-Identifier: MIT */
/*
 * ctl_io.h - messages and descriptors over a socket that never blocks us: a client's control
 * messages, and what quoitd and quoit-exec tell each other.
 */
#ifndef QUOITD_CTL_IO_H
#define QUOITD_CTL_IO_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/ctl.h>

#define CTL_MAX_FDS (3 * QUOIT_MAX_RINGS)

/*
 * Send one message with descriptors, CTL_MAX_FDS at most (which stay the caller's).  0; -EAGAIN:
 * the peer does not read; else -errno.
 */
int ctl_send_bytes(int socket, const void *message, size_t size, const int *fds, unsigned count);

static inline int ctl_send(int socket, const struct quoit_ctl *message, const int *fds,
			   unsigned count)
{
	return ctl_send_bytes(socket, message, sizeof *message, fds, count);
}

/* As many descriptors as the kernel lets one message carry: all are seen, so all can be closed. */
#define CTL_FDS_MOST 253

/* Descriptors that a message brought; the receiver's. */
struct ctl_fds {
	unsigned count;
	int fd[CTL_FDS_MOST];
	bool lost; /* there were more than we could take: we have no descriptor left */
};

/*
 * Receive one message.  1: *ret is filled; 0: the client has closed; -EAGAIN: nothing there;
 * -EPROTO: a message of another length; else -errno.  *ret_fds is filled whatever comes.  The
 * socket has SO_PASSCRED, which tells an empty message from none.
 */
int ctl_receive(int socket, struct quoit_ctl *ret, struct ctl_fds *ret_fds);

/*
 * Take one message from a ring's socket and throw its bytes away: its count of bytes, 0 for
 * the end, -errno.  *ret_fds is filled whatever comes.
 */
int ctl_take_bell(int socket, struct ctl_fds *ret_fds);

/* May the peer send descriptors with its messages?  Before Linux 6.16 it always may. */
void ctl_let_descriptors_pass(int socket, bool on);

/*
 * No message goes either way any more; the peer reads what was sent before, then the end.
 * True: the socket is closed.  False: messages of the peer are in it, which would make the
 * kernel give it an error first, and may hold descriptors: ctl_drain, then close it, where
 * that may take its time.
 */
bool ctl_hang_up(int socket);
void ctl_drain(int socket);

#endif
