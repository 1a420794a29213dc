/* SPDX-License-Identifier: MIT */
/*
 * direct.c - GPU-direct rings: register their memory, load all kernels, start the resident kernel.
 */
#include <errno.h>
#include <stdlib.h>

#include <quoit/direct.h>

#include "context.h"
#include "errors.h"
#include "kernels/kernels.h"

#define DIRECT_TRIED_BYTES ((size_t)4 << 20)

struct direct {
	const struct quoit_direct_requests *requests; /* as the host has them */
	struct quoit_direct_words *words;
	void *device_requests;
	void *device_words;
	uint32_t rings;
	cudaStream_t stream[QUOIT_DIRECT_CONSUMERS]; /* of the resident kernels */
	uint32_t ring[QUOIT_DIRECT_CONSUMERS];       /* the ring that each serves */
	bool used[QUOIT_DIRECT_CONSUMERS];
};

/*
 * Requests, too, are in pages that this process can write.  Pages that cannot be written are
 * registered only if the driver has cudaDevAttrHostRegisterReadOnlySupported, which not every one
 * has (580 on an H100 has it).
 */
static int direct_register(struct quoit_device *d, const void *memory, size_t bytes, void **ret)
{
	void *host = (void *)(uintptr_t)memory;
	int err = device_check(
		d,
		cudaHostRegister(host, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped));

	if (err)
		return err;
	err = device_pointer(d, host, ret);
	if (err && !errors_is_sticky(err))
		(void)device_check(d, cudaHostUnregister(host));
	return err;
}

/* Make the most urgent streams: a resident kernel must not wait behind long ones for its place. */
static int direct_streams(struct quoit_device *d, struct direct *direct)
{
	int least, greatest;
	int err = device_check(d, cudaDeviceGetStreamPriorityRange(&least, &greatest));

	for (uint32_t i = 0; i < QUOIT_DIRECT_CONSUMERS && !err; i++)
		err = device_check(d, cudaStreamCreateWithPriority(
					      &direct->stream[i], cudaStreamNonBlocking, greatest));
	return err;
}

/* If kernels have a time limit, as beside a display, a resident one breaks the context. */
static int direct_check(struct quoit_device *d)
{
	int limited = 0;
	int err = device_check(
		d, cudaDeviceGetAttribute(&limited, cudaDevAttrKernelExecTimeout, d->index));

	if (err)
		return err;
	/* Without a pool, calls for scratch wait for the whole device. */
	return limited || !d->pool ? -ENOTSUP : 0;
}

/* Clear and copy once for each kind of place and length: the driver has a kernel for each. */
static int direct_try(struct quoit_device *d, char *memory)
{
	static const struct {
		size_t offset, bytes;
	} tries[] = {{0, 4096}, {0, 4095}, {1, 4096}, {0, DIRECT_TRIED_BYTES}};
	int err = 0;

	for (unsigned i = 0; i < sizeof(tries) / sizeof(tries[0]) && !err; i++) {
		char *from = memory + tries[i].offset, *to = from + DIRECT_TRIED_BYTES;
		const size_t bytes = tries[i].bytes;

		err = device_check(d, cudaMemsetAsync(from, 0, bytes, d->stream));
		if (!err)
			err = device_check(d, cudaMemcpyAsync(to, from, bytes,
							      cudaMemcpyDeviceToDevice, d->stream));
	}
	return err ? err : device_check(d, cudaStreamSynchronize(d->stream));
}

/* Load our own kernels, and the driver's for clearing and copying. */
static int direct_load(struct quoit_device *d)
{
	void *memory;
	int err = device_check(d, kernels_load());

	if (err)
		return err;
	err = device_check(d, memory_take(d, 2 * DIRECT_TRIED_BYTES + 1, d->stream, &memory));
	if (err)
		return err;
	err = direct_try(d, memory);
	if (!errors_is_sticky(err))
		(void)device_check(d, memory_give(d, memory, d->stream));
	return err;
}

int direct_open(struct quoit_device *d, const struct quoit_direct_requests *requests,
		struct quoit_direct_words *words, uint32_t rings)
{
	struct direct *direct;
	int err;

	if (d->broken)
		return d->broken;
	err = direct_check(d);
	if (err)
		return err;
	direct = calloc(1, sizeof(*direct));
	if (!direct)
		return -ENOMEM;
	d->direct = direct;
	direct->requests = requests;
	direct->words = words;
	direct->rings = rings;
	err = direct_register(d, requests, rings * sizeof(*requests), &direct->device_requests);
	if (!err)
		err = direct_register(d, words, rings * sizeof(*words), &direct->device_words);
	if (!err)
		err = direct_streams(d, direct);
	if (!err)
		err = direct_load(d);
	return err;
}

/* Find a stream whose last kernel has left.  -EBUSY: there is none. */
static int direct_find_stream(struct direct *direct, uint32_t *ret)
{
	for (uint32_t i = 0; i < QUOIT_DIRECT_CONSUMERS; i++) {
		const uint32_t *left = &direct->words[direct->ring[i]].left;

		if (direct->used[i] && !__atomic_load_n(left, __ATOMIC_ACQUIRE))
			continue;
		*ret = i;
		return 0;
	}
	return -EBUSY;
}

/* The caller has cleared `left` in the ring's words. */
int direct_start(struct quoit_device *d, uint32_t ring)
{
	struct direct *direct = d->direct;
	uint32_t i;
	int err;

	if (d->broken)
		return d->broken;
	for (i = 0; i < QUOIT_DIRECT_CONSUMERS; i++)
		if (direct->ring[i] == ring)
			direct->used[i] = false;
	err = direct_find_stream(direct, &i);
	if (err)
		return err;
	err = device_check(
		d,
		kernel_direct((const struct quoit_direct_requests *)direct->device_requests + ring,
			      (struct quoit_direct_words *)direct->device_words + ring,
			      direct->stream[i]));
	direct->used[i] = !err;
	direct->ring[i] = ring;
	return err;
}

void direct_close(struct quoit_device *d)
{
	struct direct *direct = d->direct;

	for (uint32_t i = 0; direct && i < direct->rings; i++)
		__atomic_store_n(&direct->words[i].leave, 1, __ATOMIC_RELEASE);
}

void direct_free(struct quoit_device *d)
{
	struct direct *direct = d->direct;

	for (uint32_t i = 0; direct && i < QUOIT_DIRECT_CONSUMERS; i++)
		if (direct->stream[i])
			(void)device_check(d, cudaStreamDestroy(direct->stream[i]));
	if (direct && direct->device_requests)
		(void)device_check(d, cudaHostUnregister((void *)(uintptr_t)direct->requests));
	if (direct && direct->device_words)
		(void)device_check(d, cudaHostUnregister(direct->words));
	free(direct);
	d->direct = NULL;
}
