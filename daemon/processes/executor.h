/* SPDX-License-Identifier: MIT */
/*
 * executor.h - keeps one module's or device's quoit-exec running, process after process.
 *
 *	DOWN ──► STARTING ──hello──► UP ──► DYING ──reactors have let go──► DOWN
 *
 * A process that dies is started again: at once if that is rare, otherwise after up to half a
 * second.  An executor is lost after five processes in a row that could not start or finished no
 * job, or after one that was not up in time.  The jobs of a lost executor fail with -ENODEV instead
 * of waiting.  It is tried again once every ten seconds, and is lost until it is up.
 *
 * The kernel or a driver may keep a killed process from ending in time.  It is then given up: for
 * the reactors it is dead, and the executor is lost, and STUCK until the process has gone.
 *
 * A user's own executor is started when that user wants it, and killed when the user no longer
 * does; the next user may get it then.
 *
 * One thread, that of executors_loop.c, calls all functions except executor_reason; the processes
 * die with that thread.
 */
#ifndef QUOITD_EXECUTOR_H
#define QUOITD_EXECUTOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/executor/exec_port.h"
#include "config/config.h"
#include "executor_process.h"
#include "observe/totals.h"

enum executor_state {
	EXECUTOR_DOWN,     /* to be started when it is due */
	EXECUTOR_STARTING, /* its hello is due */
	EXECUTOR_UP,
	EXECUTOR_DYING,   /* dead or given up, and not all reactors have let go */
	EXECUTOR_STUCK,   /* given up: nothing can be started in its place */
	EXECUTOR_OMITTED, /* its first start failed: it has no operations */
};

/* What all executors share. */
struct executor_house {
	struct quoit_totals *totals;
	uint32_t reactors;
	int *eventfds;              /* of each reactor */
	int eventfd;                /* of the starter: reactors ring it */
	uint64_t module_ms, gpu_ms; /* the longest that one job may take */
	bool peers;                 /* devices may read each other's memory */
	uint64_t start_ms;          /* for a process to be up, or, once killed, to be gone */
	/* Puts a device's process where it belongs, before it serves: executors.h */
	void (*place)(void *arg, uint32_t device, const char *address, pid_t pid);
	void *place_arg;
};

struct executor {
	const struct executor_house *house;
	uint8_t number;
	uint8_t device; /* counted from 1; 0: a module */
	enum executor_state state;
	char path[256]; /* of the module; or the device, as quoit-exec takes it: "soft:0" */
	char name[300]; /* for the log: "module PATH", "device 1 (soft:0)" */
	pthread_mutex_t why_lock;
	char why[256];   /* why it is left out, or its last process ended */
	bool why_is_new; /* since this process was started */
	char note[256];  /* what could be better with it; "": nothing */
	struct executor_process process;
	uint64_t due;      /* CLOCK_BOOTTIME: when it is to be started, up, or gone */
	uint64_t up_since; /* 0: it never was */
	bool refused;      /* `why` says why we cannot use this process */
	bool ending;       /* it has been killed */
	uint32_t ended;    /* enum exec_kill: why it was killed */
	bool known;        /* hello holds its operations, and they have numbers */
	bool lost;
	bool direct_said; /* it was logged that this process has no GPU-direct mode */
	bool changed;     /* in this step: a process came or went, or more is known of it */
	int status;
	uint32_t burst;         /* ends of processes that had not been up for long */
	uint32_t failed_starts; /* ends in a row without a job finished */
	uint64_t starts;
	struct quoit_exec_hello hello;
	uint8_t opcode[QUOIT_EXEC_MAX_OPS];
	struct exec_port *port; /* one per reactor */
	bool own;               /* a user's own: started only for that user */
	uint64_t wanted;        /* 1 + uid of the user that wants it; 0: none */
	uint64_t owner;         /* 1 + uid of the process's user, or the last one's */
	bool retired;           /* its process is killed because `wanted` has changed */
	bool disowned;          /* its process serves no session */
	pid_t peer_told
		[CONFIG_DEVICES]; /* at n - 1: the process of device n it was told of; 0: none */
};

/* Initialize it, with a port for each reactor.  0 or -errno; executor_done frees it in any case. */
int executor_init(struct executor *x, const struct executor_house *house, uint8_t number,
		  uint8_t device, const char *path);

/* Make it a users' own executor, for the same device as `like`, which has been started. */
void executor_make_own(struct executor *x, const struct executor *like);

/* Kill its process and free all; an executor that is all zeros is fine. */
void executor_done(struct executor *x);

/* Look at what has happened, and act on it; true: executor_describe has something new. */
bool executor_step(struct executor *x);

/* When executor_step must be called without news (CLOCK_BOOTTIME); UINT64_MAX: never. */
uint64_t executor_due(const struct executor *x);

/*
 * Both are shared executors of devices of one kind: tell x's process of y's, or that y has none,
 * unless it has been told.
 */
void executor_introduce(struct executor *x, const struct executor *y);

/* Why it is left out or lost; any thread.  In executor_text.c. */
void executor_reason(struct executor *x, char *text, size_t size);

/* Print a line about it; none about a users' own that no user wants.  In executor_text.c. */
void executor_describe(const struct executor *x, FILE *out);

#endif
