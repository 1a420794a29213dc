/* SPDX-License-Identifier: MIT */
/* soft_pool.c - let streams of one soft device read the memory of another */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "soft_private.h"

/*
 * No process can use one of these as a pointer: an address has equal upper bits and, where the
 * highest byte is ignored, bit 55 zero.  Devices are so far apart that their addresses never
 * overlap.
 */
#define FIRST_ADDRESS    (UINT64_C(0x5080) << 48)
#define ADDRESS_DISTANCE (UINT64_C(1) << 48)

struct quoit_device_pool {
	struct quoit_device *device; /* the device that reads it */
	const char *base;
	uint64_t address; /* of `base`, on its own device */
	uint64_t bytes;
	struct soft_ranges imported; /* under the device's lock */
	LIST_ENTRY(quoit_device_pool) link;
};

/* The words of an export. */
enum { EXPORT_ADDRESS, EXPORT_BYTES };

uint64_t soft_address(uint32_t index)
{
	return FIRST_ADDRESS + index * ADDRESS_DISTANCE;
}

/* ---- exports ---- */

int soft_pool_export(struct quoit_device *d, int *ret_fd)
{
	const int err = soft_enter(d, SOFT_POOL_EXPORT);

	if (err)
		return err;
	*ret_fd = fcntl(d->fd, F_DUPFD_CLOEXEC, 0);
	return *ret_fd < 0 ? -errno : 0;
}

int soft_memory_export(struct quoit_device *d, uint64_t address, struct quoit_device_export *ret)
{
	const int err = soft_enter(d, SOFT_MEMORY_EXPORT);
	uint64_t bytes;

	if (err)
		return err;
	(void)pthread_mutex_lock(&d->lock);
	bytes = soft_ranges_at(&d->allocated, address);
	(void)pthread_mutex_unlock(&d->lock);
	*ret = (struct quoit_device_export){
		.word = {[EXPORT_ADDRESS] = address, [EXPORT_BYTES] = bytes}};
	return bytes ? 0 : -EINVAL;
}

/* ---- imports ---- */

int soft_pool_import(struct quoit_device *d, uint32_t index, int fd, struct quoit_device_pool **ret)
{
	const int err = soft_enter(d, SOFT_POOL_IMPORT);
	struct quoit_device_pool *p;
	struct stat st;
	void *base;

	if (err)
		return err;
	if (fstat(fd, &st) < 0)
		return -errno;
	base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	p = calloc(1, sizeof *p);
	if (!p) {
		(void)munmap(base, (size_t)st.st_size);
		return -ENOMEM;
	}
	*p = (struct quoit_device_pool){.device = d,
					.base = base,
					.address = soft_address(index),
					.bytes = (uint64_t)st.st_size};
	(void)pthread_mutex_lock(&d->lock);
	LIST_INSERT_HEAD(&d->pools, p, link);
	(void)pthread_mutex_unlock(&d->lock);
	*ret = p;
	return 0;
}

void soft_pool_release(struct quoit_device_pool *p)
{
	soft_want_parked(p->device);
	(void)pthread_mutex_lock(&p->device->lock);
	LIST_REMOVE(p, link);
	(void)pthread_mutex_unlock(&p->device->lock);
	(void)munmap((void *)(uintptr_t)p->base, p->bytes);
	soft_ranges_done(&p->imported);
	free(p);
}

void soft_pool_release_all(struct quoit_device *d)
{
	while (!LIST_EMPTY(&d->pools))
		soft_pool_release(LIST_FIRST(&d->pools));
}

int soft_memory_import(struct quoit_device_pool *p, const struct quoit_device_export *from,
		       uint64_t bytes, uint64_t *ret)
{
	const uint64_t address = from->word[EXPORT_ADDRESS], have = from->word[EXPORT_BYTES];
	int err = soft_enter(p->device, SOFT_MEMORY_IMPORT);

	if (err)
		return err;
	if (!bytes || bytes > have || have > p->bytes || address < p->address ||
	    address - p->address > p->bytes - have)
		return -EINVAL;
	(void)pthread_mutex_lock(&p->device->lock);
	err = soft_ranges_add(&p->imported, address, bytes);
	(void)pthread_mutex_unlock(&p->device->lock);
	*ret = address;
	return err;
}

int soft_memory_release(struct quoit_device_pool *p, uint64_t address)
{
	uint64_t bytes;

	soft_want_parked(p->device);
	(void)pthread_mutex_lock(&p->device->lock);
	bytes = soft_ranges_remove(&p->imported, address);
	(void)pthread_mutex_unlock(&p->device->lock);
	return bytes ? 0 : -EINVAL;
}

const void *soft_pool_find(struct quoit_device *d, uint64_t address, uint64_t bytes)
{
	const void *found = soft_memory_find(d, address, bytes);
	const struct quoit_device_pool *p;

	if (found)
		return found;
	(void)pthread_mutex_lock(&d->lock);
	LIST_FOREACH(p, &d->pools, link)
	if (!found && soft_ranges_have(&p->imported, address, bytes))
		found = p->base + (address - p->address);
	(void)pthread_mutex_unlock(&d->lock);
	return found;
}
