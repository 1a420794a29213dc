/* SPDX-License-Identifier: MIT */
/*
 * executors_private.h - what the files behind executors.h share: executors.c and executors_loop.c.
 */
#ifndef QUOITD_EXECUTORS_PRIVATE_H
#define QUOITD_EXECUTORS_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "executor.h"
#include "executors.h"
#include "own_processes.h"

struct executors {
	struct executors_config config;
	struct executor_house house;
	struct gpu_choice gpu;
	uint32_t devices; /* that can be used */
	uint32_t count;
	uint32_t first_own; /* from here on: `devices` executors for each place of `own` */
	struct own_processes own;
	uint64_t own_due; /* CLOCK_BOOTTIME: when `own` may change without news */
	struct executor executor[CONFIG_EXECUTORS];
	_Atomic bool stop;
	_Atomic bool tell;      /* changed() is wanted */
	_Atomic uint64_t looks; /* for the watchdog */
	bool running;           /* the thread */
	pthread_t thread;
	_Atomic pid_t tid; /* 0: it has not begun */
};

/* ---- executors_loop.c ---- */

/* Start all executors, and wait until each can serve or is left out.  Before the thread runs. */
void executors_settle(struct executors *e);

/* Something may have changed: introduce devices to each other, count executors, call changed(). */
void executors_publish(struct executors *e);

/* The thread: it watches until e->stop. */
void *executors_run(void *executors);

#endif
