/* SPDX-License-Identifier: MIT */
/*
 * trials.h - what quoitd uses of the kernel, tried in this process.
 *
 * As quoitd does at its start (docs/explanation/kernel-features.md): a version or a sysctl
 * does not tell what a seccomp filter lets pass.
 */
#ifndef QUOIT_TOOLS_DOCTOR_TRIALS_H
#define QUOIT_TOOLS_DOCTOR_TRIALS_H

#include "judge.h"

/* 0; -errno; -ENOMSG: nothing was refused, and it has no effect. */
int trial_run(enum feature which);

#endif
