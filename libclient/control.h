/* SPDX-License-Identifier: MIT */
/* control.h - the control socket: connecting, requests, and how long quoitd may take */
#ifndef LIBQUOIT_CONTROL_H
#define LIBQUOIT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/ctl.h>

struct quoit_session;

/* ---- patience.c ---- */

/*
 * Between begin and end, sends and receives on the socket fail with EAGAIN now and then, so that
 * the caller can decide whether to go on.  -errno.
 */
int libquoit_patience_begin(int socket);
void libquoit_patience_end(int socket);

/* False: quoitd is stopped, or has used up its time since began_ns (clock_ns()); sets the text. */
bool libquoit_patience_left(int socket, uint64_t began_ns);

/* ---- connect.c, control.c ---- */

/*
 * Pass a new descriptor, or -1 with errno.  Returns a descriptor above 2 in its place, or -errno.
 * If the program's standard descriptors are closed, ours would take their numbers, and the program
 * would print into them.
 */
int libquoit_above_standard(int fd);

/*
 * Connect to quoitd at `path` (NULL: at the usual places), and check the server's user.  *ret_fd is
 * the caller's.
 */
int libquoit_connect(const char *path, int *ret_fd);

/*
 * Send one request and receive its reply, in place.  `count` descriptors go along, at most
 * QUOIT_MAX_RINGS.  A success must bring exactly `want` descriptors, which are the caller's in
 * ret_fds.  quoit_open_text gets the text of a refusal.
 */
int libquoit_control_call(struct quoit_session *s, struct quoit_ctl *message, const int *fds,
			  unsigned count, int *ret_fds, unsigned want);

/* The same for a reply without descriptors; fd: the one to send, or -1. */
static inline int libquoit_control_ask(struct quoit_session *s, struct quoit_ctl *message, int fd)
{
	return libquoit_control_call(s, message, &fd, fd >= 0, NULL, 0);
}

#endif
