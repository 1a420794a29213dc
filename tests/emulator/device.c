/* SPDX-License-Identifier: MIT */
/* device.c - emulate a device's description, errors, and the driver's entry points. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>

#include "emulator.h"

#define UNITS 4

static atomic_int broken; /* cudaError_t */
static __thread cudaError_t last;
static int device = -1;

int emulator_device(void)
{
	return device;
}

cudaError_t emulator_broken(void)
{
	return (cudaError_t)atomic_load(&broken);
}

static atomic_uint fails_in;
static cudaError_t failure;

void emulator_fail(unsigned n, cudaError_t result)
{
	failure = result;
	atomic_store(&fails_in, n);
}

unsigned emulator_fails_in(void)
{
	return atomic_load(&fails_in);
}

/* All calls come from one thread. */
cudaError_t emulator_begin(void)
{
	const unsigned n = atomic_load(&fails_in);

	if (n > 0)
		atomic_store(&fails_in, n - 1);
	if (n == 1 && failure == cudaErrorIllegalAddress)
		emulator_break(failure);
	else if (n == 1 && !emulator_broken())
		return failure;
	return emulator_broken();
}

void emulator_break(cudaError_t result)
{
	int none = cudaSuccess;

	(void)atomic_compare_exchange_strong(&broken, &none, (int)result);
}

void emulator_refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("emulator: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}

/* cudaErrorNotReady, the answer to a question about a stream, is not an error. */
cudaError_t emulator_say(cudaError_t result)
{
	if (result && result != cudaErrorNotReady)
		last = result;
	return result;
}

cudaError_t cudaGetLastError(void)
{
	const cudaError_t result = last;

	last = emulator_broken();
	return result;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last;
}

const char *cudaGetErrorString(cudaError_t result)
{
	switch (result) {
	case cudaSuccess:
		return "no error";
	case cudaErrorMemoryAllocation:
		return "out of memory";
	case cudaErrorIllegalAddress:
		return "an illegal memory access was encountered";
	default:
		return "an error of the emulator";
	}
}

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *ret)
{
	*ret = EMULATOR_DEVICES;
	return emulator_say(emulator_begin());
}

cudaError_t cudaSetDevice(int index)
{
	if (index < 0 || index >= EMULATOR_DEVICES)
		return emulator_say(cudaErrorInvalidDevice);
	device = index;
	return emulator_say(emulator_begin());
}

cudaError_t cudaDriverGetVersion(int *ret)
{
	*ret = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *ret, int index)
{
	memset(ret, 0, sizeof *ret);
	snprintf(ret->name, sizeof ret->name, "Emulator %d", index);
	ret->totalGlobalMem = EMULATOR_BYTES;
	ret->multiProcessorCount = UNITS;
	return emulator_say(emulator_begin());
}

cudaError_t cudaDeviceGetPCIBusId(char *ret, int size, int index)
{
	snprintf(ret, (size_t)size, "ffff:%02x:00.0", (unsigned)index & 0xff);
	return emulator_say(emulator_begin());
}

cudaError_t cudaDeviceGetAttribute(int *ret, enum cudaDeviceAttr attribute, int index)
{
	(void)index;
	switch (attribute) {
	case cudaDevAttrMemoryPoolsSupported:
		*ret = 1;
		break;
	case cudaDevAttrSingleToDoublePrecisionPerfRatio:
		*ret = 2;
		break;
	case cudaDevAttrMemoryPoolSupportedHandleTypes:
		*ret = cudaMemHandleTypePosixFileDescriptor;
		break;
	case cudaDevAttrMultiProcessorCount:
		*ret = UNITS;
		break;
	case cudaDevAttrMaxThreadsPerMultiProcessor:
		*ret = 2 * EMULATOR_BLOCK_THREADS;
		break;
	case cudaDevAttrKernelExecTimeout:
		*ret = 0;
		break;
	default:
		return emulator_say(cudaErrorInvalidValue);
	}
	return emulator_say(emulator_begin());
}

cudaError_t cudaDeviceCanAccessPeer(int *ret, int one, int other)
{
	*ret = one != other;
	return emulator_say(emulator_begin());
}

/* ---- the driver's calls ---- */

struct word {
	uint32_t *at;
	uint32_t value;
};

static void word_task(void *argument)
{
	struct word *w = argument;

	if (!emulator_broken())
		__atomic_store_n(w->at, w->value, __ATOMIC_RELEASE);
	free(w);
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned int flags)
{
	const cudaError_t err = emulator_begin();
	struct word *w = err ? NULL : malloc(sizeof *w);
	uint32_t *there = (uint32_t *)(uintptr_t)at;

	if (err)
		return (CUresult)err;
	if (flags != CU_STREAM_WRITE_VALUE_DEFAULT || at % sizeof *there ||
	    !emulator_reaches(EMULATOR_ON_HOST, there, sizeof *there))
		emulator_refuse("a word is written at %p, flags %u", (void *)there, flags);
	if (w)
		*w = (struct word){there, value};
	return (CUresult)emulator_put(stream, word_task, w);
}

/* Only the form with all arguments in one piece is used. */
static CUresult launch_kernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			      unsigned int bx, unsigned int by, unsigned int bz,
			      unsigned int shared, CUstream stream, void **params, void **extra)
{
	const struct emulator_kernel *k = (const void *)f;
	const struct emulator_grid grid = {{gx, gy, gz}, {bx, by, bz}, shared,
					   k->thread,    NULL,         NULL};
	size_t bytes;

	if (params || extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER ||
	    extra[2] != CU_LAUNCH_PARAM_BUFFER_SIZE || extra[4] != CU_LAUNCH_PARAM_END)
		return CUDA_ERROR_INVALID_VALUE;
	bytes = *(size_t *)extra[3];
	if (bytes < k->args_bytes)
		return CUDA_ERROR_INVALID_VALUE;
	/* cudaGetLastError does not know of the driver's calls. */
	const cudaError_t err = emulator_launch(stream, k, &grid, extra[1], bytes);

	last = emulator_broken();
	return (CUresult)(err == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : err);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **ret, unsigned int version,
					     unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *ret_found)
{
	(void)version;
	(void)flags;
	*ret = NULL;
	if (!strcmp(name, "cuStreamWriteValue32"))
		*ret = (void *)(uintptr_t)cuStreamWriteValue32;
	if (!strcmp(name, "cuLaunchKernel"))
		*ret = (void *)(uintptr_t)launch_kernel;
	*ret_found = *ret ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
	return emulator_say(emulator_begin());
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *ret, const void *kernel)
{
	memset(ret, 0, sizeof *ret);
	if (!emulator_load(kernel))
		return emulator_say(emulator_park("a kernel that is loaded"));
	return emulator_say(emulator_begin());
}
