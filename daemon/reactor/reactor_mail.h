/* SPDX-License-Identifier: MIT */
/*
 * reactor_mail.h - a reactor's half of the control plane: sessions and rings come, are
 * cancelled, closed, and go.
 */
#ifndef QUOITD_REACTOR_MAIL_H
#define QUOITD_REACTOR_MAIL_H

#include "reactor.h"

/* Read the mailbox, and answer what has become answerable.  True: there was something. */
bool reactor_mail(struct reactor *r);

/*
 * A session broke a rule (reason: a QUOIT_DAEMON_KILL_* counter) or lost its memory:
 * nothing more is fetched, and the control thread is told to end it.
 */
void reactor_kill(struct reactor *r, struct session *s, uint32_t reason);

#endif
