/* SPDX-License-Identifier: MIT */
/*
 * peer_device.h - call the device layer directly, to measure a job on a device without quoitd.
 *
 * On a GPU quoit-peer-cuda (tests/bench/cuda) takes its place, except for LEAVE and RING.
 */
#ifndef PEER_DEVICE_H
#define PEER_DEVICE_H

#include <stdint.h>

/* A soft device makes fewer products by this factor; as in tools/bench/plan_device.c. */
#define PEER_DEVICE_SOFT_PART 100u

enum peer_device_work {
	PEER_DEVICE_ADD, /* x + 1 on 1 x 2 numbers, one at a time: run, signal, wait for the word */
	PEER_DEVICE_CHAIN, /* the same in one stream, waiting at the end only */
	PEER_DEVICE_GEMM,  /* products of side^3 float32 in one stream */
	PEER_DEVICE_BF16,  /* the same of bfloat16 */
	PEER_DEVICE_IN,    /* copies of `bytes` to the device, in one stream */
	PEER_DEVICE_OUT,
	PEER_DEVICE_SYNC, /* as ADD, but waiting for an event */
	/* the time from telling a resident consumer to leave until it has left */
	PEER_DEVICE_LEAVE,
	PEER_DEVICE_RING, /* as ADD, through the ring of a resident consumer */
};

/*
 * Do `count` of them on a device that is named as for quoit-exec ("soft:0"); size: the side, or the
 * bytes.  *ret_ns: the time of one.  -ENOTSUP: there is no such device here.
 */
int peer_device_run(const char *name, enum peer_device_work work, uint64_t size, uint64_t count,
		    double *ret_ns);

#endif
