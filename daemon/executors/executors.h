/* SPDX-License-Identifier: MIT */
/*
 * executors.h - the thread that starts, watches and restarts quoit-exec, one per module and one per
 * device, and one more per device for each user who brings kernels.
 *
 * A thread of its own: starting a process takes a while, which no reactor and no client
 * should wait for.
 */
#ifndef QUOITD_EXECUTORS_H
#define QUOITD_EXECUTORS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "exec_port.h"
#include "gpu.h"
#include "host/config.h"
#include "host/totals.h"

struct executors;

struct executors_config {
	const struct config *config;  /* its modules; outlives the executors */
	const struct gpu_choice *gpu; /* copied */
	struct quoit_totals *totals;
	uint32_t reactors;
	const int *eventfds; /* of each reactor; copied */
	/*
	 * Called for each process of a device, everybody's or a user's own, once it has said hello
	 * and before it serves; by the thread that starts executors.
	 */
	void (*place)(void *arg, uint32_t device, const char *address, pid_t pid);
	/* Called after the first start, and whenever a process came or went; by one thread. */
	void (*changed)(void *arg, const struct executors *e);
	void *arg;
};

/*
 * Start every module and device, wait until each can serve or is left out with a log line, give
 * the modules' operations numbers (optable.h), then watch.  Before the reactors start.  -errno;
 * *ret is NULL where there is nothing to start.
 */
int executors_start(const struct executors_config *config, struct executors **ret);

/* After the reactors have stopped.  NULL is fine. */
void executors_stop(struct executors *e);

/* For the watchdog: a number that changes when their thread has looked at each, and have it look.
 * Any thread. */
uint64_t executors_progress(const struct executors *e);
void executors_kick(const struct executors *e);

/* How many there are: the modules by their number, then the devices, then the users' own. */
uint32_t executors_count(const struct executors *e);

/* The port of one for a reactor; valid until executors_stop. */
struct exec_port *executors_port(struct executors *e, uint32_t number, uint32_t reactor);

/* How many devices jobs can name, and what they are; the first has number 1.  None of NULL. */
uint32_t executors_devices(const struct executors *e);
const struct quoit_device_info *executors_device(const struct executors *e, uint32_t number);

/* What leases may take of each device: of the smallest one, but for what its driver needs; 0 where
 * there are none. */
uint64_t executors_lease_bytes(const struct executors *e);

/* Why there are no more, for people: why one was left out, or there are none, or how many are. */
void executors_missing(struct executors *e, const struct gpu_choice *gpu, char *text, size_t size);

/* How executor `number` of executors_count is; any thread. */
enum exec_port_state executors_state(struct executors *e, uint32_t number);

/* Where that is PORT_LOST: why; any thread. */
void executors_reason(struct executors *e, uint32_t number, char *text, size_t size);

/*
 * A session that brings kernels: the executor, among executors_count, that is the first device of
 * its user's own; the others follow.  They are started now if they are not there, which this does
 * not wait for.  -EUSERS: too many users have some.  Where there are devices; any thread.
 */
int executors_take_own(struct executors *e, uid_t uid);

/* It has gone. */
void executors_give_own(struct executors *e, uid_t uid);

/* Have changed() called once more, soon; any thread. */
void executors_tell(struct executors *e);

/* A line each, for the topology file; from changed() only. */
void executors_describe(const struct executors *e, FILE *out);

#endif
