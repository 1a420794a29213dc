/* SPDX-License-Identifier: MIT */
/* peer_ops.h - what quoit's operations do, as loops in C on one thread, and by a BLAS called
 * directly */
#ifndef PEER_OPS_H
#define PEER_OPS_H

/* The matrices that the operations are measured with: float32, row by row. */
#define PEER_OPS_ROWS    4096u
#define PEER_OPS_COLUMNS 1024u

/* How often one is measured, with so long between: of these, the median. */
#define PEER_OPS_TIMES    15
#define PEER_OPS_PAUSE_NS 2000000

/* Nanoseconds of a loop, by its name ("add").  0; -EINVAL: there is no such; -ENOMEM. */
int peer_ops_run(const char *name, double *ret_ns);

#endif
