/* SPDX-License-Identifier: MIT */
/*
 * errors.h - what the runtime and cuBLAS say, as device.h has it.
 *
 * Every result goes through here.  After a sticky error the context is broken: nothing that the
 * device says later may be believed.
 */
#ifndef QUOIT_CUDA_ERRORS_H
#define QUOIT_CUDA_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

/*
 * 0, a negative errno, or a sticky error.  The runtime forgets an error that is not sticky.  The
 * numbers of the driver's functions are the runtime's.
 */
int errors_code(cudaError_t result);

bool errors_is_sticky(int err);

/* errors_code(), and what it means into text, for people, after `doing`. */
int errors_say(cudaError_t result, const char *doing, char *text, size_t size);

#endif
