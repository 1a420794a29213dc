/* SPDX-License-Identifier: MIT */
/* pool.c - emulate pools of memory, of which other processes may get a piece. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator.h"

struct CUmemPoolHandle_st {
	int fd; /* every piece has its own place in this file, which is used once */
	off_t end;
	bool imported, shared;
	size_t pieces;
};

/* The runtime's contents of an export. */
struct export
{
	off_t offset;
	size_t bytes;
};

/* The pool of a piece, and the piece's place in it. */
struct owned {
	void *memory;
	cudaMemPool_t pool;
	off_t offset;
	struct owned *next;
};
static struct owned *owned;

cudaError_t cudaMemPoolCreate(cudaMemPool_t *ret, const struct cudaMemPoolProps *props)
{
	struct CUmemPoolHandle_st *p;
	const cudaError_t err = emulator_park("cudaMemPoolCreate");

	if (err)
		return emulator_say(err);
	if (props->allocType != cudaMemAllocationTypePinned ||
	    props->location.id != emulator_device() ||
	    props->location.type != cudaMemLocationTypeDevice)
		return emulator_say(cudaErrorInvalidValue);
	p = calloc(1, sizeof *p);
	if (!p)
		return emulator_say(cudaErrorMemoryAllocation);
	p->fd = memfd_create("pool", MFD_CLOEXEC);
	p->shared = props->handleTypes == cudaMemHandleTypePosixFileDescriptor;
	*ret = p;
	return emulator_say(p->fd < 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t p)
{
	const cudaError_t err = emulator_settle("cudaMemPoolDestroy");

	if (err)
		return emulator_say(err);
	if (p->pieces) /* the pool lives as long as its pieces */
		return emulator_say(cudaSuccess);
	(void)close(p->fd);
	free(p);
	return emulator_say(cudaSuccess);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t p, enum cudaMemPoolAttr attribute, void *value)
{
	(void)p;
	(void)value;
	return emulator_say(attribute == cudaMemPoolAttrReleaseThreshold ||
					    attribute == cudaMemPoolReuseAllowInternalDependencies
				    ? emulator_begin()
				    : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t p, size_t keep)
{
	(void)p;
	(void)keep;
	return emulator_say(emulator_park("cudaMemPoolTrimTo"));
}

/* ---- pieces ---- */

static void *own(cudaMemPool_t p, size_t bytes, off_t offset)
{
	struct owned *o = malloc(sizeof *o);
	void *memory = o ? emulator_map(EMULATOR_ON_DEVICE, bytes, p->fd, offset) : NULL;

	if (!memory) {
		free(o);
		return NULL;
	}
	*o = (struct owned){memory, p, offset, owned};
	owned = o;
	p->pieces++;
	return memory;
}

cudaError_t cudaMallocFromPoolAsync(void **ret, size_t bytes, cudaMemPool_t p, cudaStream_t stream)
{
	const off_t offset = p->end;
	const cudaError_t err = emulator_park("cudaMallocFromPoolAsync");

	if (err)
		return emulator_say(err);
	if (!stream || p->imported)
		return emulator_say(cudaErrorInvalidValue);
	if (bytes > EMULATOR_BYTES || ftruncate(p->fd, offset + (off_t)emulator_pages(bytes)) < 0)
		return emulator_say(cudaErrorMemoryAllocation);
	*ret = own(p, bytes, offset);
	if (!*ret)
		return emulator_say(cudaErrorMemoryAllocation);
	p->end += (off_t)emulator_pages(bytes);
	emulator_soil(*ret, bytes);
	return emulator_say(cudaSuccess);
}

struct freed {
	void *memory;
	int fd; /* the file to be emptied there; -1: it is another process's */
	off_t offset;
	size_t bytes;
};

/* The stream has come to the point where the piece is freed. */
static void free_task(void *argument)
{
	struct freed *f = argument;

	(void)emulator_unmap(EMULATOR_ON_DEVICE, f->memory);
	if (f->fd >= 0) {
		(void)fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, f->offset,
				(off_t)emulator_pages(f->bytes));
		(void)close(f->fd);
	}
	free(f);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
	struct owned **at = &owned;
	struct owned *o;
	struct freed *f = malloc(sizeof *f);

	if (emulator_broken() || !f) {
		free(f);
		return emulator_say(f ? emulator_broken() : cudaErrorMemoryAllocation);
	}
	while (*at && (*at)->memory != memory)
		at = &(*at)->next;
	o = *at;
	if (!o)
		emulator_refuse("memory is given back that no pool has");
	*at = o->next;
	o->pool->pieces--;
	*f = (struct freed){memory, o->pool->imported ? -1 : fcntl(o->pool->fd, F_DUPFD_CLOEXEC, 0),
			    o->offset, emulator_size(memory)};
	free(o);
	return emulator_put(stream, free_task, f);
}

/* ---- other processes ---- */

cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t p,
					       enum cudaMemAllocationHandleType type,
					       unsigned int flags)
{
	if (!p->shared || type != cudaMemHandleTypePosixFileDescriptor || flags)
		return emulator_say(cudaErrorInvalidValue);
	const cudaError_t err = emulator_begin();

	if (err)
		return emulator_say(err);
	*(int *)handle = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
	return emulator_say(*(int *)handle < 0 ? cudaErrorOperatingSystem : cudaSuccess);
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *ret, void *handle,
						 enum cudaMemAllocationHandleType type,
						 unsigned int flags)
{
	struct CUmemPoolHandle_st *p;
	const cudaError_t err = emulator_park("cudaMemPoolImportFromShareableHandle");

	if (err)
		return emulator_say(err);
	if (type != cudaMemHandleTypePosixFileDescriptor || flags)
		return emulator_say(cudaErrorInvalidValue);
	p = calloc(1, sizeof *p);
	if (!p)
		return emulator_say(cudaErrorMemoryAllocation);
	*p = (struct CUmemPoolHandle_st){.imported = true};
	p->fd = fcntl((int)(uintptr_t)handle, F_DUPFD_CLOEXEC, 0);
	if (p->fd < 0) {
		free(p);
		return emulator_say(cudaErrorInvalidValue);
	}
	*ret = p;
	return emulator_say(cudaSuccess);
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *ret, cudaMemPool_t p,
				 struct cudaMemLocation *location)
{
	(void)p;
	*ret = cudaMemAccessFlagsProtNone;
	return emulator_say(location->id == emulator_device() ? emulator_begin()
							      : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t p, const struct cudaMemAccessDesc *access,
				 size_t count)
{
	(void)p;
	return emulator_say(count == 1 && access->location.id == emulator_device()
				    ? emulator_begin()
				    : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *ret, void *memory)
{
	struct export e = {0, emulator_size(memory)};
	const struct owned *o = owned;

	while (o && o->memory != memory)
		o = o->next;
	if (!o || !o->pool->shared)
		return emulator_say(cudaErrorInvalidValue);
	e.offset = o->offset;
	memset(ret, 0, sizeof *ret);
	memcpy(ret, &e, sizeof e);
	return emulator_say(emulator_begin());
}

cudaError_t cudaMemPoolImportPointer(void **ret, cudaMemPool_t p,
				     struct cudaMemPoolPtrExportData *data)
{
	struct export e;
	const cudaError_t err = emulator_park("cudaMemPoolImportPointer");

	if (err)
		return emulator_say(err);
	memcpy(&e, data, sizeof e);
	*ret = p->imported ? own(p, e.bytes, e.offset) : NULL;
	return emulator_say(*ret ? cudaSuccess : cudaErrorInvalidValue);
}
