/* SPDX-License-Identifier: MIT */
/* launcher_turns.h - held flights, and turns at streams */
#ifndef QUOIT_EXEC_LAUNCHER_TURNS_H
#define QUOIT_EXEC_LAUNCHER_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct launcher;

void turns_open(struct launcher *l);

/* Hold the flight until it can be put into a stream. */
void turns_hold(struct launcher *l, uint32_t index);

/* Start held flights; true: something was put into a stream. */
bool turns_advance(struct launcher *l);

/* A session is dead: its held flights will not run, and its staged copies go no further. */
void turns_cancel(struct launcher *l, uint32_t holding);

/* Answer cancelled flights that wait for no other any more; true: some.  *ret_err: -EPROTO. */
bool turns_answer(struct launcher *l, int *ret_err);

#endif
