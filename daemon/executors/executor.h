/* SPDX-License-Identifier: MIT */
/*
 * executor.h - one module's or device's quoit-exec through all its lives.
 *
 *	DOWN ──► STARTING ──hello──► UP ──► DYING ──reactors have let go──► DOWN
 *
 * A process that dies is started again: at once if that is rare, after up to half a second
 * if it is not.  One is lost that five times in a row could not be started or died without having
 * finished a job, or that once was not up in time: its jobs fail with -ENODEV instead of waiting.
 * It is tried again every ten seconds, once, and lost until it is up.
 *
 * One that has been killed and is not gone in time, since the kernel or a driver does not let it
 * go, is given up: for the reactors it is dead, it is lost, and STUCK until it has gone.
 *
 * One of a user's own is started when that user wants it, and killed when it does not any more;
 * it comes back for the next.
 *
 * All functions are called by one thread, that of executors.c; executors die with it.
 */
#ifndef QUOITD_EXECUTOR_H
#define QUOITD_EXECUTOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "exec_port.h"
#include "executor_process.h"
#include "host/config.h"
#include "host/totals.h"

enum executor_state {
	EXECUTOR_DOWN,     /* to be started when it is due */
	EXECUTOR_STARTING, /* its hello is due */
	EXECUTOR_UP,
	EXECUTOR_DYING,   /* dead or given up, and the reactors have not all let go */
	EXECUTOR_STUCK,   /* given up: nothing can be started in its place */
	EXECUTOR_OMITTED, /* its first start failed: it has no operations */
};

/* What all executors share. */
struct executor_house {
	struct quoit_totals *totals;
	uint32_t reactors;
	int *eventfds;              /* of each reactor */
	int eventfd;                /* of our thread: reactors ring it */
	uint64_t module_ms, gpu_ms; /* what one job may take */
	bool peers;                 /* devices read each other's memory */
	uint64_t start_ms;          /* and a process, to be up, or, killed, to be gone */
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
	char why[256];   /* it is left out, or its last process ended */
	bool why_is_new; /* with this process */
	char note[256];  /* what could be better with it; "": nothing */
	struct executor_process process;
	uint64_t due;      /* CLOCK_BOOTTIME: when it is to be started, up, or gone */
	uint64_t up_since; /* 0: it never was */
	bool refused;      /* `why` says why we cannot use this process */
	bool ending;       /* it has been killed, */
	uint32_t ended;    /* for this: enum exec_kill */
	bool known;        /* hello holds its operations, and they have numbers */
	bool lost;
	bool direct_said; /* that this process has no GPU-direct mode */
	bool changed;     /* in this step: a process came or went, or more is known of it */
	int status;
	uint32_t burst; /* ends of processes that had not been up for long */
	uint32_t vain;  /* ends in a row without a job finished */
	uint64_t starts;
	struct quoit_exec_hello hello;
	uint8_t opcode[QUOIT_EXEC_MAX_OPS];
	struct exec_port *port;     /* one per reactor */
	bool own;                   /* started only for who wants it, whose alone it is: */
	uint64_t wanted;            /* by this user, 1 + uid; 0: by nobody */
	uint64_t owner;             /* whose the process is, or the last one was */
	bool retired;               /* it is killed because that has changed, */
	bool disowned;              /* and no session is let to it */
	pid_t told[CONFIG_DEVICES]; /* of the process that has device n, at n - 1; 0: of none */
};

/* Make its ports.  -errno. */
int executor_init(struct executor *x, const struct executor_house *house, uint8_t number,
		  uint8_t device, const char *path);

/* It becomes one of its users' own, of the same device as another that has been started. */
void executor_make_own(struct executor *x, const struct executor *like);

/* Kill and free.  One that is all zeros is fine. */
void executor_done(struct executor *x);

/* Look what has happened, and do what follows; true: executor_describe has something new. */
bool executor_step(struct executor *x);

/* When executor_step must be called without news (CLOCK_BOOTTIME); UINT64_MAX: never. */
uint64_t executor_due(const struct executor *x);

/*
 * Both drive a device of one kind for everybody: tell x's process of y's, or that there is none, if
 * it has not heard yet.
 */
void executor_introduce(struct executor *x, const struct executor *y);

/* Why it is left out or lost; any thread.  executor_text.c */
void executor_reason(struct executor *x, char *text, size_t size);

/* A line about it, for people; none about one that nobody wants.  executor_text.c */
void executor_describe(const struct executor *x, FILE *out);

#endif
