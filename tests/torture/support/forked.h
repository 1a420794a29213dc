/* SPDX-License-Identifier: MIT */
/* forked.h - processes that a case has started, and their ends */
#ifndef TORTURE_FORKED_H
#define TORTURE_FORKED_H

#include <sys/types.h>

#include "stage.h"

/* It ends by itself, well, within a minute; else it is killed. */
void forked_await_exit(struct stage *s, pid_t pid);

/* Kill it, and wait until it has ended of that. */
void forked_kill(struct stage *s, pid_t pid);

#endif
