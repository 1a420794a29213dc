/* SPDX-License-Identifier: MIT */
/*
 * trials.h - try the kernel's features that quoitd uses, in this process.
 *
 * quoitd does the same at its start (docs/explanation/kernel-features.md): a version or a sysctl
 * does not tell what a seccomp filter allows.
 */
#ifndef QUOIT_TOOLS_DOCTOR_TRIALS_H
#define QUOIT_TOOLS_DOCTOR_TRIALS_H

#include "judge.h"

/* 0; -errno; -ENOMSG: it was not refused, but had no effect. */
int trial_run(enum feature which);

#endif
