/* SPDX-License-Identifier: MIT */
/*
 * memory.c - emulate the memory that the device reaches: its own, and registered memory of the
 * host.
 *
 * Every piece has pages of its own.  Behind it there is no memory, and after it is freed there is
 * none in its place.  At first it is full of garbage.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator.h"

#define PIECES  16384
#define GARBAGE 0xa5

struct piece {
	char *memory; /* NULL: the entry is free */
	size_t bytes;
	enum emulator_place place;
	bool ours; /* mapped here */
};

static struct piece pieces[PIECES];
static size_t device_bytes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

size_t emulator_pages(size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

void emulator_soil(void *memory, size_t bytes)
{
	memset(memory, GARBAGE, bytes);
}

/* ---- pieces ---- */

static struct piece *find(enum emulator_place place, const void *memory, size_t bytes)
{
	const char *at = memory;

	for (struct piece *p = pieces; p < pieces + PIECES; p++)
		if (p->memory && p->place == place && at >= p->memory &&
		    at - p->memory < (ptrdiff_t)p->bytes &&
		    bytes <= p->bytes - (size_t)(at - p->memory))
			return p;
	return NULL;
}

static bool add(enum emulator_place place, void *memory, size_t bytes, bool ours)
{
	struct piece *p = pieces;
	bool room;

	pthread_mutex_lock(&lock);
	while (p < pieces + PIECES && p->memory)
		p++;
	room = p < pieces + PIECES;
	if (room)
		*p = (struct piece){memory, bytes, place, ours};
	if (room && ours && place == EMULATOR_ON_DEVICE)
		device_bytes += emulator_pages(bytes);
	pthread_mutex_unlock(&lock);
	return room;
}

bool emulator_reaches(enum emulator_place place, const void *memory, size_t bytes)
{
	bool found;

	pthread_mutex_lock(&lock);
	found = find(place, memory, bytes);
	pthread_mutex_unlock(&lock);
	return found;
}

size_t emulator_size(const void *memory)
{
	const struct piece *p;
	size_t bytes;

	pthread_mutex_lock(&lock);
	p = find(EMULATOR_ON_DEVICE, memory, 1);
	bytes = p && p->memory == memory ? p->bytes : 0;
	pthread_mutex_unlock(&lock);
	return bytes;
}

unsigned emulator_pieces(void)
{
	unsigned count = 0;

	pthread_mutex_lock(&lock);
	for (const struct piece *p = pieces; p < pieces + PIECES; p++)
		count += p->memory != NULL;
	pthread_mutex_unlock(&lock);
	return count;
}

static bool has_room(enum emulator_place place, size_t bytes)
{
	bool room;

	if (bytes > EMULATOR_BYTES)
		return false;
	pthread_mutex_lock(&lock);
	room = place != EMULATOR_ON_DEVICE ||
	       emulator_pages(bytes) <= EMULATOR_BYTES - device_bytes;
	pthread_mutex_unlock(&lock);
	return room;
}

void *emulator_map(enum emulator_place place, size_t bytes, int fd, off_t offset)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory;

	if (!bytes || !has_room(place, bytes))
		return NULL;
	/* Followed by a page that no thread may touch. */
	memory = mmap(NULL, emulator_pages(bytes) + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (mmap(memory, emulator_pages(bytes), PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, offset) == MAP_FAILED ||
	    !add(place, memory, bytes, true)) {
		(void)munmap(memory, emulator_pages(bytes) + page);
		return NULL;
	}
	return memory;
}

/* Its addresses are not reused soon, so that later uses are noticed. */
bool emulator_unmap(enum emulator_place place, void *memory)
{
	struct piece *p, was = {0};

	pthread_mutex_lock(&lock);
	p = find(place, memory, 1);
	if (p && p->memory == memory) {
		was = *p;
		p->memory = NULL;
		if (place == EMULATOR_ON_DEVICE)
			device_bytes -= emulator_pages(was.bytes);
	}
	pthread_mutex_unlock(&lock);
	if (was.ours)
		(void)mmap(memory, emulator_pages(was.bytes), PROT_NONE,
			   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return was.memory;
}

/* err: the call's result so far. */
static cudaError_t have(cudaError_t err, enum emulator_place place, void **ret, size_t bytes)
{
	if (err)
		return emulator_say(err);
	*ret = emulator_map(place, bytes, -1, 0);
	if (!*ret)
		return emulator_say(cudaErrorMemoryAllocation);
	emulator_soil(*ret, bytes);
	return emulator_say(cudaSuccess);
}

static cudaError_t have_not(cudaError_t err, enum emulator_place place, void *memory)
{
	if (err)
		return emulator_say(err);
	if (memory && !emulator_unmap(place, memory))
		emulator_refuse("memory is freed that is none, or is elsewhere");
	return emulator_say(cudaSuccess);
}

/* ---- host memory ---- */

cudaError_t cudaHostAlloc(void **ret, size_t bytes, unsigned int flags)
{
	const cudaError_t err = emulator_park("cudaHostAlloc");

	(void)flags; /* all host memory is mapped for the device: both have one address space */
	return have(err, EMULATOR_ON_HOST, ret, bytes);
}

cudaError_t cudaFreeHost(void *memory)
{
	const cudaError_t err = emulator_settle("cudaFreeHost");

	return have_not(err, EMULATOR_ON_HOST, memory);
}

cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned int flags)
{
	const cudaError_t err = emulator_park("cudaHostRegister");

	if (!(flags & cudaHostRegisterMapped))
		emulator_refuse("host memory that the device does not reach");
	if (flags & cudaHostRegisterReadOnly)
		return emulator_say(cudaErrorNotSupported);
	if (err)
		return emulator_say(err);
	if (!bytes || emulator_reaches(EMULATOR_ON_HOST, memory, 1))
		return emulator_say(bytes ? cudaErrorHostMemoryAlreadyRegistered
					  : cudaErrorInvalidValue);
	/* All pages must exist and be writable: a driver takes no others. */
	if (madvise((void *)((uintptr_t)memory & -(uintptr_t)sysconf(_SC_PAGESIZE)), bytes,
		    MADV_POPULATE_WRITE) < 0 ||
	    !add(EMULATOR_ON_HOST, memory, bytes, false))
		return emulator_say(cudaErrorInvalidValue);
	return emulator_say(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *memory)
{
	const cudaError_t err = emulator_settle("cudaHostUnregister");

	if (err)
		return emulator_say(err);
	return emulator_say(emulator_unmap(EMULATOR_ON_HOST, memory)
				    ? cudaSuccess
				    : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void **ret, void *host, unsigned int flags)
{
	const cudaError_t err = emulator_begin();

	(void)flags;
	if (err)
		return emulator_say(err);
	*ret = host;
	return emulator_say(emulator_reaches(EMULATOR_ON_HOST, host, 1) ? cudaSuccess
									: cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(size_t *ret_free, size_t *ret_all)
{
	pthread_mutex_lock(&lock);
	*ret_all = EMULATOR_BYTES;
	*ret_free = EMULATOR_BYTES - device_bytes;
	pthread_mutex_unlock(&lock);
	return emulator_say(emulator_begin());
}

/* ---- memory outside of a pool ---- */

cudaError_t cudaMalloc(void **ret, size_t bytes)
{
	const cudaError_t err = emulator_settle("cudaMalloc");

	return have(err, EMULATOR_ON_DEVICE, ret, bytes);
}

cudaError_t cudaFree(void *memory)
{
	const cudaError_t err = emulator_settle("cudaFree");

	return have_not(err, EMULATOR_ON_DEVICE, memory);
}

/* ---- bytes ---- */

struct bytes {
	void *to;
	const void *from; /* NULL: store `value` */
	size_t bytes;
	int value;
};

static void bytes_task(void *argument)
{
	struct bytes *b = argument;

	if (!emulator_broken()) {
		if (b->from)
			memcpy(b->to, b->from, b->bytes);
		else
			memset(b->to, b->value, b->bytes);
	}
	free(b);
}

static cudaError_t put_bytes(cudaStream_t stream, struct bytes what)
{
	struct bytes *b = malloc(sizeof *b);

	if (b)
		*b = what;
	return emulator_put(stream, bytes_task, b);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	const enum emulator_place to_place =
		kind == cudaMemcpyDeviceToHost ? EMULATOR_ON_HOST : EMULATOR_ON_DEVICE;
	const enum emulator_place from_place =
		kind == cudaMemcpyHostToDevice ? EMULATOR_ON_HOST : EMULATOR_ON_DEVICE;
	const cudaError_t err = emulator_begin();

	if (err)
		return emulator_say(err);
	if (!emulator_reaches(to_place, to, bytes) || !emulator_reaches(from_place, from, bytes))
		emulator_refuse("%zu bytes are copied from %p to %p, kind %d, where they are not",
				bytes, from, to, kind);
	return put_bytes(stream, (struct bytes){to, from, bytes, 0});
}

/* Copy from memory of any kind, for programs that need no speed. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	const cudaError_t err = emulator_settle("cudaMemcpy");

	if (err)
		return emulator_say(err);
	if (kind != cudaMemcpyHostToDevice || !emulator_reaches(EMULATOR_ON_DEVICE, to, bytes))
		emulator_refuse("%zu bytes are copied to %p, kind %d, where they are not", bytes,
				to, kind);
	memcpy(to, from, bytes);
	return emulator_say(cudaSuccess);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
	const cudaError_t err = emulator_settle("cudaMemset");

	if (err)
		return emulator_say(err);
	if (!emulator_reaches(EMULATOR_ON_DEVICE, to, bytes))
		emulator_refuse("%zu bytes are set at %p, where they are not", bytes, to);
	memset(to, value, bytes);
	return emulator_say(cudaSuccess);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	const cudaError_t err = emulator_begin();

	if (err)
		return emulator_say(err);
	if (!emulator_reaches(EMULATOR_ON_DEVICE, to, bytes))
		emulator_refuse("%zu bytes are set at %p, where they are not", bytes, to);
	return put_bytes(stream, (struct bytes){to, NULL, bytes, value});
}
