/* SPDX-License-Identifier: MIT */
/*
 * peer_device.h - the device layer called directly: what a job on a device costs without quoitd.
 *
 * On a GPU quoit-peer-cuda (tests/bench/cuda) takes its place but for LEAVE and RING.
 */
#ifndef PEER_DEVICE_H
#define PEER_DEVICE_H

#include <stdint.h>

/* On a soft device products are counted in so many times fewer; as tools/cmd_bench_device.c. */
#define PEER_DEVICE_SOFT_PART 100u

enum peer_device_work {
	PEER_DEVICE_ADD,   /* x + 1 on 1 x 2 numbers, one at a time: run, signal, see the word */
	PEER_DEVICE_CHAIN, /* the same, one behind the other in one stream, seen at the end */
	PEER_DEVICE_GEMM,  /* products of side^3 float32 in one stream */
	PEER_DEVICE_BF16,  /* the same of bfloat16 */
	PEER_DEVICE_IN,    /* copies of `bytes` to the device, one behind the other */
	PEER_DEVICE_OUT,
	PEER_DEVICE_SYNC,  /* as ADD, but an event is waited for */
	PEER_DEVICE_LEAVE, /* a resident consumer is told to leave, until it has */
	PEER_DEVICE_RING,  /* as ADD, through the ring of a resident consumer */
};

/*
 * Do `count` of them on a device named as for quoit-exec ("soft:0"); size: the side, or the
 * bytes.  *ret_ns: of one.  -ENOTSUP: there is no such device here.
 */
int peer_device_run(const char *name, enum peer_device_work work, uint64_t size, uint64_t count,
		    double *ret_ns);

#endif
