/* SPDX-License-Identifier: MIT */
/* leftovers.h - see that a quoitd without clients has kept nothing of theirs */
#ifndef TORTURE_LEFTOVERS_H
#define TORTURE_LEFTOVERS_H

#include "stage.h"

/* Wait until it has no service or thing, and no session or memory of our user. */
void leftovers_await_none(struct stage *s, const struct daemon *d);

#endif
