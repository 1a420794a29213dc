/* SPDX-License-Identifier: MIT */
/*
 * reactor_mail.h - a reactor's half of the control plane.
 *
 *	reactor_mail.c    reads and answers letters; takes in sessions and rings
 *	reactor_cancel.c  cancels jobs
 *	reactor_leave.c   lets rings and sessions go, each once nothing of it is in use
 */
#ifndef QUOITD_REACTOR_MAIL_H
#define QUOITD_REACTOR_MAIL_H

#include "reactor.h"

/* Read the mailbox, and let leaving sessions go.  True: there was something to do. */
bool reactor_mail(struct reactor *r);

/* Answer the letter of this type. */
void reactor_answer(struct reactor *r, uint8_t type, struct session *s, struct ring *ring,
		    int32_t result);

#endif
