/* SPDX-License-Identifier: MIT */
/* soft_memory.c - memory of a soft device, and host memory that its streams may use */
#include <errno.h>
#include <sys/mman.h>

#include "soft_private.h"

/* ---- on the device ---- */

int soft_memory_new(struct quoit_device *d, uint64_t bytes, uint64_t *ret)
{
	int err = soft_enter(d, SOFT_MEMORY_NEW);

	if (err)
		return err;
	if (!bytes)
		return -EINVAL;
	if (bytes > d->bytes)
		return -ENOMEM;
	bytes += -bytes % d->page; /* whole pages, which can be given back */
	(void)pthread_mutex_lock(&d->lock);
	err = soft_ranges_find_gap(&d->allocated, d->address, d->address + d->bytes, bytes, ret);
	if (!err)
		err = soft_ranges_add(&d->allocated, *ret, bytes);
	(void)pthread_mutex_unlock(&d->lock);
	return err;
}

int soft_memory_free(struct quoit_device *d, uint64_t address)
{
	int err = soft_enter(d, SOFT_MEMORY_FREE);
	uint64_t bytes;

	if (err)
		return err;
	(void)pthread_mutex_lock(&d->lock);
	bytes = soft_ranges_remove(&d->allocated, address);
	(void)pthread_mutex_unlock(&d->lock);
	if (!bytes)
		return -EINVAL;
	return madvise(d->base + (address - d->address), bytes, MADV_REMOVE) ? -errno : 0;
}

void *soft_memory_find(struct quoit_device *d, uint64_t address, uint64_t bytes)
{
	bool found;

	if (!bytes)
		return d->base; /* any address will do for no bytes */
	(void)pthread_mutex_lock(&d->lock);
	found = soft_ranges_have(&d->allocated, address, bytes);
	(void)pthread_mutex_unlock(&d->lock);
	return found ? d->base + (address - d->address) : NULL;
}

/* ---- on the host ---- */

int soft_host_new(struct quoit_device *d, size_t bytes, void **ret)
{
	int err = soft_enter(d, SOFT_HOST_NEW);
	void *memory;

	if (err)
		return err;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	err = soft_ranges_add(&d->host, (uintptr_t)memory, bytes);
	if (err) {
		(void)munmap(memory, bytes);
		return err;
	}
	*ret = memory;
	return 0;
}

void soft_host_free(struct quoit_device *d, void *memory)
{
	const uint64_t bytes = soft_ranges_remove(&d->host, (uintptr_t)memory);

	soft_want_parked(d);
	if (bytes)
		(void)munmap(memory, bytes);
}

int soft_host_register(struct quoit_device *d, void *memory, size_t bytes)
{
	const int err = soft_enter(d, SOFT_HOST_REGISTER);

	return err ? err : soft_ranges_add(&d->host, (uintptr_t)memory, bytes);
}

void soft_host_unregister(struct quoit_device *d, void *memory)
{
	soft_want_parked(d);
	(void)soft_ranges_remove(&d->host, (uintptr_t)memory);
}

bool soft_host_is_known(const struct quoit_device *d, const void *memory, uint64_t bytes)
{
	return soft_ranges_have(&d->host, (uintptr_t)memory, bytes);
}
