/* SPDX-License-Identifier: MIT */
/* peer.c - reach other devices' memory, owned by other processes, by the driver's memory pools */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"

struct quoit_device_pool {
	struct quoit_device *device; /* the device that reads it */
	cudaMemPool_t pool;
};

_Static_assert(sizeof(struct cudaMemPoolPtrExportData) <= sizeof(struct quoit_device_export),
	       "an export has room for the driver's");

int peer_export(struct quoit_device *d, int *ret_fd)
{
	int err;

	if (d->broken)
		return d->broken;
	err = d->pool_is_shared ? 0 : memory_share(d);
	if (err)
		return err;
	return device_check(d, cudaMemPoolExportToShareableHandle(
				       ret_fd, d->pool, cudaMemHandleTypePosixFileDescriptor, 0));
}

/* Let this device read and write imported memory; the driver gives no less. */
static int open_access(struct quoit_device *d, cudaMemPool_t pool)
{
	struct cudaMemAccessDesc access = {
		.location = {.type = cudaMemLocationTypeDevice, .id = d->index},
		.flags = cudaMemAccessFlagsProtReadWrite,
	};
	enum cudaMemAccessFlags have = cudaMemAccessFlagsProtNone;
	const int err = device_check(d, cudaMemPoolGetAccess(&have, pool, &access.location));

	if (err || have == access.flags)
		return err;
	return device_check(d, cudaMemPoolSetAccess(pool, &access, 1));
}

int peer_import(struct quoit_device *d, uint32_t index, int fd, struct quoit_device_pool **ret)
{
	struct quoit_device_pool *p;
	int reaches = 0, err;

	if (d->broken)
		return d->broken;
	if ((int)index == d->index)
		return -EINVAL;
	err = device_check(d, cudaDeviceCanAccessPeer(&reaches, d->index, (int)index));
	if (err || !reaches)
		return err ? err : -ENOTSUP;
	p = calloc(1, sizeof *p);
	if (!p)
		return -ENOMEM;
	p->device = d;
	err = device_check(
		d, cudaMemPoolImportFromShareableHandle(&p->pool, (void *)(uintptr_t)fd,
							cudaMemHandleTypePosixFileDescriptor, 0));
	if (!err)
		err = open_access(d, p->pool);
	if (err) {
		peer_release(p);
		return err;
	}
	*ret = p;
	return 0;
}

void peer_release(struct quoit_device_pool *p)
{
	if (p->pool && !p->device->broken)
		(void)device_check(p->device, cudaMemPoolDestroy(p->pool));
	free(p);
}

int peer_memory_export(struct quoit_device *d, uint64_t address, struct quoit_device_export *ret)
{
	struct cudaMemPoolPtrExportData data;
	int err;

	if (d->broken)
		return d->broken;
	if (!d->pool_is_shared)
		return -ENOTSUP;
	err = device_check(d, cudaMemPoolExportPointer(&data, (void *)(uintptr_t)address));
	if (!err)
		memcpy(ret, &data, sizeof data);
	return err;
}

/*
 * The whole piece is imported, up to a fifth more than these bytes.  For pieces above 4 GiB the
 * driver of CUDA 13.0 overruns a table on its stack, so those go through the host.
 */
#define PEER_MOST (UINT64_C(7) << 29)

int peer_memory_import(struct quoit_device_pool *p, const struct quoit_device_export *from,
		       uint64_t bytes, uint64_t *ret)
{
	struct cudaMemPoolPtrExportData data;
	void *memory;
	int err;

	if (p->device->broken)
		return p->device->broken;
	if (bytes > PEER_MOST)
		return -ENOTSUP;
	memcpy(&data, from, sizeof data);
	err = device_check(p->device, cudaMemPoolImportPointer(&memory, p->pool, &data));
	if (!err)
		*ret = (uintptr_t)memory;
	return err;
}

/*
 * Memory must be released here before its owner frees it, so this waits.  The device's own stream
 * is empty but for this.
 */
int peer_memory_release(struct quoit_device_pool *p, uint64_t address)
{
	struct quoit_device *d = p->device;
	int err;

	if (d->broken)
		return d->broken;
	err = device_check(d, cudaFreeAsync((void *)(uintptr_t)address, d->stream));
	return err ? err : device_check(d, cudaStreamSynchronize(d->stream));
}
