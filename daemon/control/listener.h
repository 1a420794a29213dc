/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the socket that clients connect to, and who is taken.
 *
 * Whoever is taken becomes one of control->connections.  Control thread only.
 */
#ifndef QUOITD_LISTENER_H
#define QUOITD_LISTENER_H

#include "control.h"

/* Open config->socket, or take that which was passed; -errno.  Its epoll entry is for the caller to
 * add: data.ptr &c->listener. */
int listener_open(struct control *c);

/* Connections taken before those that are there have their turn. */
#define LISTENER_BURST 64

struct arrivals {
	int fd[LISTENER_BURST];
	unsigned count;
};

/*
 * Take connections that wait, to be admitted once all is known of who has gone before they
 * came.  Where that fails, no more are taken until control->accept_from_ns.
 */
void listener_take(struct control *c, struct arrivals *ret);

/* Make it a connection, or refuse it and say why.  fd is taken over. */
void listener_admit(struct control *c, int fd);

/* Once a pass: end that pause when its time has come. */
void listener_resume(struct control *c);

/* Close it, and unlink what is ours; once is enough. */
void listener_close(struct control *c);

#endif
