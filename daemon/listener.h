/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the socket that clients connect to, and who is taken.
 *
 * Whoever is taken becomes one of control->connections.  Control thread only.
 */
#ifndef QUOITD_LISTENER_H
#define QUOITD_LISTENER_H

#include "control.h"

/* Open config->socket; -errno.  Its epoll entry is for the caller to add: data.ptr &c->listener. */
int listener_open(struct control *c);

/*
 * Take connections that wait, as many as leave the others their turn.  Where that fails, no
 * more are taken until control->accept_from_ns.
 */
void listener_accept(struct control *c);

/* Once a pass: end that pause when its time has come. */
void listener_resume(struct control *c);

/* Close and unlink; once is enough. */
void listener_close(struct control *c);

#endif
