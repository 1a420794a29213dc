/* SPDX-License-Identifier: MIT */
/* gpu.h - which devices the option gpu asks for. */
#ifndef QUOITD_GPU_H
#define QUOITD_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_choice {
	char kind[8];   /* "soft", "cuda", "" for none */
	uint32_t count; /* 0: as many as the first one says there are */
	char why[96];   /* why there are none, for people */
};

/*
 * Read "auto", "none", "cuda", "soft" or "soft:N".  With "auto" there are devices only if an NVIDIA
 * driver is loaded; only then is a process started to ask it.  False: it is none of these.
 */
bool gpu_choose(const char *option, struct gpu_choice *ret);

#endif
