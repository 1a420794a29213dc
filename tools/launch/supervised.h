/* SPDX-License-Identifier: MIT */
/* supervised.h - start one of the processes that supervise.c runs */
#ifndef QUOIT_TOOLS_SUPERVISED_H
#define QUOIT_TOOLS_SUPERVISED_H

#include <signal.h>
#include <sys/types.h>

#include "cpu_shares.h"
#include "group_guard.h"
#include "supervise.h"

/* What all processes have in common. */
struct supervised_place {
	const struct supervise_params *params;
	struct cpu_shares cpus;
	struct group_guard guard;
	sigset_t signals; /* the mask that the processes have */
};

/* Start the process of this number, and wait until it runs the program; its PID or -errno. */
pid_t supervised_start(const struct supervised_place *place, unsigned number);

#endif
