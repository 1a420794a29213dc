/* SPDX-License-Identifier: MIT */
/*
 * executors.h - the thread that starts, watches and restarts quoit-exec: one for each module and
 * each device, and one more for each device and each user that brings kernels.
 *
 * It is a thread of its own because starting a process takes a while, for which no reactor and no
 * client should wait.
 */
#ifndef QUOITD_EXECUTORS_H
#define QUOITD_EXECUTORS_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "backend/executor/exec_port.h"
#include "config/config.h"
#include "gpu.h"
#include "observe/totals.h"

struct executors;

struct executors_config {
	const struct config *config;  /* its modules; outlives the executors */
	const struct gpu_choice *gpu; /* copied */
	struct quoit_totals *totals;
	uint32_t reactors;
	const int *eventfds; /* of each reactor; copied */
	/*
	 * Called for each process of a device, shared or a user's own, once it has said hello and
	 * before it serves; by the thread that starts executors.
	 */
	void (*place)(void *arg, uint32_t device, const char *address, pid_t pid);
	/* Called after the first start, and whenever a process came or went; by one thread. */
	void (*changed)(void *arg, const struct executors *e);
	void *arg;
};

/*
 * Start every module and device, and wait until each can serve, or is left out with a log line.
 * Then give the modules' operations numbers (optable.h), and watch.  Call it before the reactors
 * start.  0 or -errno; *ret is NULL if there is nothing to start.
 */
int executors_start(const struct executors_config *config, struct executors **ret);

/* Stop the thread and end all executors, after the reactors have stopped; NULL is fine. */
void executors_stop(struct executors *e);

/*
 * For the watchdog; any thread.  _progress: a number that changes when the starter has looked at
 * each executor.  _tid: the kernel's id of its thread, 0: it has not begun.  _kick: have it look.
 */
uint64_t executors_progress(const struct executors *e);
pid_t executors_tid(const struct executors *e);
void executors_kick(const struct executors *e);

/* The number of executors: the modules come first, then the devices, then the users' own. */
uint32_t executors_count(const struct executors *e);

/* The port of executor `number` for a reactor; valid until executors_stop. */
struct exec_port *executors_port(struct executors *e, uint32_t number, uint32_t reactor);

/* How many devices jobs can name (0 if e is NULL), and what they are; the first has number 1. */
uint32_t executors_devices(const struct executors *e);
const struct quoit_device_info *executors_device(const struct executors *e, uint32_t number);

/*
 * The bytes that leases may take of each device: those of the smallest, less a tenth for its
 * driver, and at most config.gpu_memory if that is set; 0 if there are no devices.
 */
uint64_t executors_lease_bytes(const struct executors *e);

/* Write for people why there are no more devices: one was left out, or the driver has no more. */
void executors_missing(struct executors *e, const struct gpu_choice *gpu, char *text, size_t size);

/* The state of executor `number`, counted as by executors_count; any thread. */
enum exec_port_state executors_state(struct executors *e, uint32_t number);

/* Why executor `number` is in PORT_LOST; any thread. */
void executors_reason(struct executors *e, uint32_t number, char *text, size_t size);

/*
 * A session that brings kernels comes: returns the number of the executor for the first device of
 * its user's own; the others follow.  They are started now if they are not there; this does not
 * wait for it.  -EUSERS: too many users have some.  There must be devices; any thread.
 */
int executors_take_own(struct executors *e, uid_t uid);

/* Such a session has gone; any thread. */
void executors_give_own(struct executors *e, uid_t uid);

/* Have changed() called once more, soon; any thread. */
void executors_tell(struct executors *e);

/* Print a line for each executor, for the topology file; from changed() only. */
void executors_describe(const struct executors *e, FILE *out);

#endif
