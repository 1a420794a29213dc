/* SPDX-License-Identifier: MIT */
/* listener.h - the socket that clients connect to.  Control thread only. */
#ifndef QUOITD_LISTENER_H
#define QUOITD_LISTENER_H

#include "control.h"

/*
 * Open config->socket, or use the socket that was passed; -errno.  The caller adds it to epoll,
 * with data.ptr &c->listener.
 */
int listener_open(struct control *c);

/* So many connections are taken before those that exist have their turn. */
#define LISTENER_BURST 64

struct arrivals {
	int fd[LISTENER_BURST];
	unsigned count;
};

/*
 * Take connections that wait there.  Where taking fails, no more are taken until
 * control->accept_from_ns.
 */
void listener_take(struct control *c, struct arrivals *ret);

/* Once a pass: end that pause when its time has come. */
void listener_resume(struct control *c);

/* Close the socket, and unlink it if it is quoitd's own.  A second call does nothing. */
void listener_close(struct control *c);

#endif
