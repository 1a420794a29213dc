/* SPDX-License-Identifier: MIT */
/*
 * exchange.h - letters from reactor to reactor about calls of services.
 *
 * A letter lies in what it is about, so none is ever refused for lack of room.  Sent to the same
 * reactor, it is read at once.  Letters from one reactor to another arrive in their order.
 */
#ifndef QUOITD_EXCHANGE_H
#define QUOITD_EXCHANGE_H

#include "session/owner.h"
#include "session/services.h"

/* Send it; it must not be under way already.  `from` is the calling thread's reactor. */
void exchange_send(struct reactor *from, struct reactor *to, struct letter *letter,
		   enum letter_type type);

/* The same, but it is read later even if it is for the calling thread's reactor. */
void exchange_post(struct reactor *to, struct letter *letter, enum letter_type type);

/* Read all letters that have come; true: there were some. */
bool exchange_read(struct reactor *r);

/* Before a sleep, with need_wake set.  True: none has come, and what comes will wake us. */
bool exchange_may_sleep(struct reactor *r);

#endif
