/* SPDX-License-Identifier: MIT */
/* memory.c - memory of the device, and host memory that it reaches. */
#include <errno.h>
#include <stdint.h>

#include "context.h"
#include "errors.h"

/*
 * Freed memory goes back to the system in memory_free only.  By default each call that waits for a
 * stream gives some back, and may wait for the whole device for that.
 */
static int memory_make_pool(struct quoit_device *d, enum cudaMemAllocationHandleType handles)
{
	const struct cudaMemPoolProps props = {
		.allocType = cudaMemAllocationTypePinned,
		.handleTypes = handles,
		.location = {.type = cudaMemLocationTypeDevice, .id = d->index},
	};
	cuuint64_t keep = UINT64_MAX;
	int never = 0;
	int err = device_check(d, cudaMemPoolCreate(&d->pool, &props));

	if (err) {
		d->pool = NULL;
		return err;
	}
	err = device_check(
		d, cudaMemPoolSetAttribute(d->pool, cudaMemPoolAttrReleaseThreshold, &keep));
	/* Else our stream could be made to wait for one that has freed memory. */
	if (!err)
		err = device_check(
			d, cudaMemPoolSetAttribute(
				   d->pool, cudaMemPoolReuseAllowInternalDependencies, &never));
	if (err)
		memory_close(d);
	return err;
}

/*
 * Make a pool that gives freed memory back to the system: the launcher keeps memory that is needed
 * again soon, and other processes on the device have leases, too.
 */
int memory_open(struct quoit_device *d)
{
	int supported = 0;
	int err = device_check(
		d, cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, d->index));

	return err || !supported ? err : memory_make_pool(d, cudaMemHandleTypeNone);
}

/*
 * The driver gives no memory of such a pool back before the pool is destroyed.  So there is one
 * only if another process may read it.
 */
int memory_share(struct quoit_device *d)
{
	int devices = 0, handles = 0;
	int err = device_check(d, cudaGetDeviceCount(&devices));

	if (!err)
		err = device_check(
			d, cudaDeviceGetAttribute(
				   &handles, cudaDevAttrMemoryPoolSupportedHandleTypes, d->index));
	if (err)
		return err;
	if (!d->pool || devices < 2 || !(handles & cudaMemHandleTypePosixFileDescriptor))
		return -ENOTSUP;
	memory_close(d);
	err = memory_make_pool(d, cudaMemHandleTypePosixFileDescriptor);
	d->pool_is_shared = !err;
	if (!err || errors_is_sticky(err))
		return err;
	err = memory_make_pool(d, cudaMemHandleTypeNone);
	return err ? err : -ENOTSUP;
}

void memory_close(struct quoit_device *d)
{
	if (d->pool)
		(void)device_check(d, cudaMemPoolDestroy(d->pool));
	d->pool = NULL;
}

cudaError_t memory_take(struct quoit_device *d, size_t bytes, cudaStream_t stream, void **ret)
{
	if (d->pool)
		return cudaMallocFromPoolAsync(ret, bytes, d->pool, stream);
	return cudaMalloc(ret, bytes);
}

/* Without a pool it waits for all that runs on the device. */
cudaError_t memory_give(struct quoit_device *d, void *memory, cudaStream_t stream)
{
	if (d->pool)
		return cudaFreeAsync(memory, stream);
	return cudaFree(memory);
}

/* The device's own stream is empty but for this, so waiting for it takes no longer than a look. */
int memory_new(struct quoit_device *d, uint64_t bytes, uint64_t *ret)
{
	void *memory;
	int err;

	if (d->broken)
		return d->broken;
	err = device_check(d, memory_take(d, bytes, d->stream, &memory));
	if (err)
		return err;
	err = device_check(d, cudaStreamSynchronize(d->stream));
	if (!err)
		*ret = (uintptr_t)memory;
	else if (!errors_is_sticky(err))
		(void)device_check(d, memory_give(d, memory, d->stream));
	return err;
}

int memory_free(struct quoit_device *d, uint64_t address)
{
	int err;

	if (d->broken)
		return d->broken;
	err = device_check(d, memory_give(d, (void *)(uintptr_t)address, d->stream));
	if (err || !d->pool)
		return err;
	err = device_check(d, cudaStreamSynchronize(d->stream));
	return err ? err : device_check(d, cudaMemPoolTrimTo(d->pool, 0));
}

int memory_host_new(struct quoit_device *d, size_t bytes, void **ret)
{
	if (d->broken)
		return d->broken;
	return device_check(d,
			    cudaHostAlloc(ret, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
}

void memory_host_free(struct quoit_device *d, void *memory)
{
	if (!d->broken && memory)
		(void)device_check(d, cudaFreeHost(memory));
}

/* Other errors become -ENOTSUP: the memory then goes through a staging buffer. */
int memory_host_register(struct quoit_device *d, void *memory, size_t bytes)
{
	int err;

	if (d->broken)
		return d->broken;
	err = device_check(d, cudaHostRegister(memory, bytes,
					       cudaHostRegisterPortable | cudaHostRegisterMapped));
	return !err || err == -ENOMEM || errors_is_sticky(err) ? err : -ENOTSUP;
}

void memory_host_unregister(struct quoit_device *d, void *memory)
{
	if (!d->broken)
		(void)device_check(d, cudaHostUnregister(memory));
}
