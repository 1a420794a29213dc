/* SPDX-License-Identifier: MIT */
/*
 * reactor_mail.h - a reactor's half of the control plane.
 *
 *	reactor_mail.c    letters of the control thread, and their answers; sessions and rings come
 *	reactor_cancel.c  jobs are cancelled
 *	reactor_leave.c   rings and sessions go, each once nothing of it is in use
 */
#ifndef QUOITD_REACTOR_MAIL_H
#define QUOITD_REACTOR_MAIL_H

#include "reactor.h"

/* Read the mailbox, and answer what has become answerable.  True: there was something. */
bool reactor_mail(struct reactor *r);

/* The letter of this type is answered. */
void reactor_answer(struct reactor *r, uint8_t type, struct session *s, struct ring *ring,
		    int32_t result);

/*
 * A session broke a rule (reason: a QUOIT_DAEMON_KILL_* counter) or lost its memory:
 * nothing more is fetched, and the control thread is told to end it.
 */
void reactor_kill(struct reactor *r, struct session *s, uint32_t reason);

#endif
