/* SPDX-License-Identifier: MIT */
/* lazy_pages.h - large memory of quoitd's own: zeros, and pages come when they are first written */
#ifndef QUOITD_LAZY_PAGES_H
#define QUOITD_LAZY_PAGES_H

#include <stdint.h>

/* NULL: there is no memory. */
void *lazy_pages_map(uint64_t bytes);

/* NULL is allowed.  Takes no time even if it is large. */
void lazy_pages_unmap(void *memory, uint64_t bytes);

#endif
