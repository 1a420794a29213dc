/* SPDX-License-Identifier: MIT */
/* probes.c - the semaphores of libquoit's probes */
#include "probes.h"

/* Weak: a program may contain quoitd's probes, too, whose semaphores have the same names. */
#define DEFINE(name)                                                                               \
	__attribute__((section(".probes"), aligned(QUOIT_LINE), weak)) PROBE_SEMAPHORE(name) = {0}

DEFINE(submit);
DEFINE(wake);
DEFINE(reap);
