/* SPDX-License-Identifier: MIT */
/* config_check.h - checks options that only this machine and build can judge; logs errors */
#ifndef QUOITD_CONFIG_CHECK_H
#define QUOITD_CONFIG_CHECK_H

#include "config/config.h"
#include "machine/features.h"
#include "processes/gpu.h"

/* Settle which operations are on and which devices are wanted.  -errno: an option is wrong. */
int config_check_words(const struct config *config, struct gpu_choice *gpu);

/* Check the same, and whether modules can be read, for --check-config. */
int config_check(const struct config *config);

/* As config_check, while quoitd runs. */
int config_check_again(const struct config *config);

/*
 * quoitd serves several users only if no user can hold up or burden the others by the memory that
 * it shares with quoitd.  -EPERM: the kernel, a filter or a limit does not allow that.
 */
int config_check_shared(const struct config *config, const struct features *features);

#endif
