/* SPDX-License-Identifier: MIT */
/*
 * ctl_io.h - sends and receives messages with descriptors, without blocking: clients' control
 * messages, and those between quoitd and quoit-exec.
 */
#ifndef QUOITD_CTL_IO_H
#define QUOITD_CTL_IO_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/ctl.h>

#define CTL_MAX_FDS (3 * QUOIT_MAX_RINGS)

/*
 * Send one message with at most CTL_MAX_FDS descriptors, which stay the caller's.  0; -EAGAIN: the
 * peer does not read; else -errno.
 */
int ctl_send_bytes(int socket, const void *message, size_t size, const int *fds, unsigned count);

static inline int ctl_send(int socket, const struct quoit_ctl *message, const int *fds,
			   unsigned count)
{
	return ctl_send_bytes(socket, message, sizeof *message, fds, count);
}

/* The most descriptors that one message can carry: quoitd sees all, so it can close them. */
#define CTL_FDS_MOST 253

/* Descriptors that came with a message; the receiver owns them. */
struct ctl_fds {
	unsigned count;
	int fd[CTL_FDS_MOST];
	bool lost; /* there were more, but quoitd has no descriptor left */
};

/*
 * Receive one message.  1: *ret is filled; 0: the client has closed; -EAGAIN: no message; -EPROTO:
 * a message of another length; else -errno.  *ret_fds is always filled.  The socket has
 * SO_PASSCRED, by which an empty message differs from the end.
 */
int ctl_receive(int socket, struct quoit_ctl *ret, struct ctl_fds *ret_fds);

/*
 * Take one message from a ring's socket and drop its bytes.  Returns how many there were, 0 for the
 * end, or -errno.  *ret_fds is always filled.
 */
int ctl_take_bell(int socket, struct ctl_fds *ret_fds);

/* Has the peer taken all messages that were sent to it? */
bool ctl_is_read(int socket);

/* May the peer send descriptors with its messages?  Before Linux 6.16 it always may. */
void ctl_let_descriptors_pass(int socket, bool on);

/*
 * End messages in both directions; the peer reads what was sent before, then the end.  True: the
 * socket is closed.  False: messages of the peer are in it, perhaps with descriptors, and a close
 * would give the peer an error first.  Then call ctl_hang_up_full, where that may take long.
 */
bool ctl_hang_up(int socket);

/*
 * Hang up a socket that may have messages in it.  The end comes first, so that the peer reads it
 * although the close of a descriptor that it sent may wait for a process of its choice.
 */
void ctl_hang_up_full(int socket);

#endif
