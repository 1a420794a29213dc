/* SPDX-License-Identifier: MIT */
/*
 * peer_ops.h - time the same work as quoit's operations, as loops in C on one thread, and by a BLAS
 * called directly
 */
#ifndef PEER_OPS_H
#define PEER_OPS_H

/* The matrices of all operations: float32, row by row. */
#define PEER_OPS_ROWS    4096u
#define PEER_OPS_COLUMNS 1024u

/* How often an operation is measured, and the pause in between; the median counts. */
#define PEER_OPS_TIMES    15
#define PEER_OPS_PAUSE_NS 2000000

/* Nanoseconds of a loop, by its name ("add").  0; -EINVAL: there is no such loop; -ENOMEM. */
int peer_ops_run(const char *name, double *ret_ns);

#endif
