/* SPDX-License-Identifier: MIT */
/* answers.h - calls of objects wait at their home, and are answered there */
#ifndef QUOITD_ANSWERS_H
#define QUOITD_ANSWERS_H

#include "session/services.h"

/*
 * The call ends.  Its reactor hears of it later, even if it is this one: else the jobs behind it
 * could ask for the same object again in the midst of this, one in the other.  One that is answered
 * while it is submitted is told when that is done (objects.c).
 */
void call_answer(struct service_call *call, int32_t result);

/* The same with a negative errno, and why. */
void call_refuse(struct service_call *call, int32_t error, const char *why);

void call_wait_in(struct call_queue *q, struct service_call *call);
void call_stop_waiting(struct service_call *call);

/* It waits no more; NULL: none waits. */
struct service_call *call_take_oldest(struct call_queue *q);

#endif
