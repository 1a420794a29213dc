/* SPDX-License-Identifier: MIT */
/* free_aside.h - free what is large without letting others wait */
#ifndef QUOITD_FREE_ASIDE_H
#define QUOITD_FREE_ASIDE_H

#include <stdint.h>

/*
 * Call drop(of), which frees so many bytes of mapped memory.  To free a GiB takes a tenth of a second,
 * so a thread of its own does it if there are many.  Any thread may call this.
 */
void free_aside(uint64_t bytes, void (*drop)(void *of), void *of);

#endif
