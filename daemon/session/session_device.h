/* SPDX-License-Identifier: MIT */
/* session_device.h - a session's jobs, memory and copies on executors (backend/executor/) */
#ifndef QUOITD_SESSION_DEVICE_H
#define QUOITD_SESSION_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>
#include <quoit/device.h>

#include "base/limits.h"
#include "store/slab.h"
#include "tables.h"

/* ---- copies between devices (bridge.h) ---- */

/* The executor number of such a copy: no executor has it. */
#define BRIDGE_EXECUTOR CONFIG_EXECUTORS

/* For 512 KiB the two round trips are a small part of the time, even on the fastest bus. */
#define BRIDGE_PARTS      4u
#define BRIDGE_PART_BYTES (UINT64_C(512) << 10)
#define BRIDGE_BYTES      (BRIDGE_PARTS * BRIDGE_PART_BYTES)

/* Smaller copies take no longer in parts. */
#define BRIDGE_PEER_LEAST (2 * BRIDGE_PART_BYTES)

/* The state of a copy that the target's process reads itself. */
enum bridge_peer {
	BRIDGE_PEER_NONE, /* it goes in parts */
	BRIDGE_PEER_ASKS,
	BRIDGE_PEER_ASKED,
	BRIDGE_PEER_KNOWS,
	BRIDGE_PEER_COPIES,
	BRIDGE_PEER_DONE,
};

enum bridge_state { BRIDGE_FREE, BRIDGE_COMES, BRIDGE_HERE, BRIDGE_GOES };

struct bridge_part {
	uint32_t job;
	uint8_t state;   /* enum bridge_state */
	uint64_t offset; /* of its bytes in the copy */
	uint64_t bytes;
};

struct bridge {
	int fd;             /* -1: there is none; only executors map it */
	uint32_t job;       /* the copy that is being read; NIL: none */
	uint64_t taken;     /* bytes of it that have, or had, a part */
	bool clearing;      /* a buffer of that job is being cleared */
	uint8_t peer;       /* enum bridge_peer */
	uint32_t export_id; /* the EXPORT's id */
	struct quoit_device_export from;
	struct bridge_part part[BRIDGE_PARTS];
};

/* ---- jobs and memory ---- */

/* By executor, in the order of executors_count; the last one copies between devices. */
struct session_exec {
	struct job_queue waiting[BRIDGE_EXECUTOR + 1][QUOIT_PRIO_NR]; /* ready, not yet sent */
	uint32_t jobs_waiting;
	uint32_t in_flight[CONFIG_EXECUTORS];
	uint32_t in_direct[CONFIG_EXECUTORS]; /* part of in_flight: in its GPU-direct ring */
	/*
	 * Of in_flight, on a device, since a job of the session failed there; jobs that wait for
	 * any wait here.
	 */
	uint32_t may_be_poisoned[CONFIG_EXECUTORS];
	uint32_t jobs[CONFIG_EXECUTORS]; /* waiting or in flight, and parts of device copies */
	uint32_t slot[CONFIG_EXECUTORS]; /* 1 + the executor's slot for our memory; 0: none */
	uint64_t ticks_used;             /* ticks used on modules and on devices' streams */
	uint64_t dead_since;             /* TSC */
};

/* How fast a device is, as its driver says (quoit_device_info). */
struct device_speed {
	uint32_t units, flags;
};

/* A session's part of one device's memory. */
struct device_memory {
	struct device_speed speed;
	uint64_t lease, used, peak;
	struct job_queue dropped;  /* freed buffers; the executor must be told first */
	uint64_t jobs;             /* jobs that ran there */
	uint64_t direct, streamed; /* of `jobs`: in GPU-direct mode, or nearly so */
	uint64_t refused;          /* bytes of host memory that its driver did not let it reach */
	struct slab slab;          /* places of small buffers, for GPU-direct mode */
	uint64_t slab_address;     /* on the device; 0: not known */
};

#endif
