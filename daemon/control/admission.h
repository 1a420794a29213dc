/* SPDX-License-Identifier: MIT */
/*
 * admission.h - decides which connections are served.
 *
 * A connection that finds its user with as many as it may have waits before it is refused, until
 * quoitd knows which of them the user had closed by then, and these are hung up.  That takes time
 * where hanging up is dear (base/dear.h), or hangs; it waits hello-ms at most.
 *
 * Control thread only.
 */
#ifndef QUOITD_ADMISSION_H
#define QUOITD_ADMISSION_H

#include "control.h"

/* Serve a connection, let it wait, or refuse it and say why.  fd is taken over. */
void admission_decide(struct control *c, int fd);

/*
 * Serve or refuse connections that wait, where that is known.  To be called once a pass, before
 * new ones are decided and after those that epoll reported are looked at.  all_heard: it reported
 * all that have news.
 */
void admission_go_on(struct control *c, bool all_heard);

/* Is admission_go_on to be called at once?  A connection waits only for epoll to have reported all. */
bool admission_is_due(const struct control *c);

#endif
