/* SPDX-License-Identifier: MIT */
/*
 * errors.h - translate errors of the runtime and cuBLAS to those of device.h.
 *
 * Every result goes through here.  After a sticky error the context is broken, and nothing that the
 * device reports later can be trusted.
 */
#ifndef QUOIT_CUDA_ERRORS_H
#define QUOIT_CUDA_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda_runtime_api.h>

/*
 * Returns 0, a negative errno, or a sticky error.  An error that is not sticky is cleared in the
 * runtime.  The driver's functions have the same numbers as the runtime's.
 */
int errors_code(cudaError_t result);

bool errors_is_sticky(int err);

/* errors_code(), which also writes the error for people into text, after `doing`. */
int errors_say(cudaError_t result, const char *doing, char *text, size_t size);

#endif
