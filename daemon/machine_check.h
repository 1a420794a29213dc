/* SPDX-License-Identifier: MIT */
/* machine_check.h - options that only this machine and this build can judge; what is wrong is
 * logged */
#ifndef QUOITD_MACHINE_CHECK_H
#define QUOITD_MACHINE_CHECK_H

#include "executors/gpu.h"
#include "host/config.h"
#include "host/features.h"

/* Settle which operations are on and which devices there are to be; -errno: a word is wrong. */
int machine_check_words(const struct config *config, struct gpu_choice *gpu);

/* The same, and whether modules can be read, for who asks no more than that. */
int machine_check(const struct config *config);

/* The same while quoitd runs. */
int machine_check_again(const struct config *config);

/*
 * Several users are served only where none can hold up or burden the others by the memory that it
 * shares with quoitd; -EPERM: the kernel, a filter or a limit keeps us from that.
 */
int machine_check_shared(const struct config *config, const struct features *features);

#endif
