/* SPDX-License-Identifier: MIT */
/* cache.h - the size of a core's own cache; private to daemon/ops */
#ifndef QUOITD_OPS_CACHE_H
#define QUOITD_OPS_CACHE_H

#include <stdint.h>

/* Bytes of a core's L2, as the C library says, or 1 MiB.  Any thread may ask. */
uint64_t op_l2_bytes(void);

#endif
