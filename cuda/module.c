/* SPDX-License-Identifier: MIT */
/* module.c - load and launch kernels that a client has brought. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "errors.h"
#include "image.h"

#define MODULE_ARGS (sizeof(((struct quoit_device_launch *)0)->arg) / sizeof(void *))

/* Arguments of a launch in one piece: each has 255 bytes at most, and is aligned. */
#define MODULE_ARGUMENT_BYTES (MODULE_ARGS * 256 * 2)

/*
 * Memory on the device that no lease covers, and that clients' code may take beside its tensors:
 * for the code and variables of all modules of this process, and for the stacks of one kernel.
 */
#define MODULE_MOST_BYTES  ((size_t)256 << 20)
#define MODULE_STACK_BYTES ((size_t)1 << 30)

/*
 * How often a module's memory is measured if it is too much: other processes may have taken some.
 */
#define MODULE_MEASURES 3

/* Bytes kept of a compiler's messages. */
#define MODULE_LOG_BYTES 512u

struct quoit_device_module {
	struct quoit_device *device;
	cudaLibrary_t library; /* NULL: to be loaded again */
	char *image;           /* ends with a zero, as PTX must */
	bool measured;
	size_t bytes; /* on the device, once measured */
	/* Kept here, because a driver that loads lazily compiles when a kernel is asked for. */
	char log[MODULE_LOG_BYTES];
	enum cudaJitOption option[2];
	void *value[2];
};

/* A kernel is the runtime's pointer under our type. */
static cudaKernel_t module_kernel(struct quoit_device_kernel *k)
{
	return (cudaKernel_t)k;
}

/* Write the compiler's message if there is one; the runtime's text says less. */
static int module_say(struct quoit_device_module *m, cudaError_t result, const char *doing,
		      char *text, size_t size)
{
	(void)errors_say(result, doing, text, size);
	if (result != cudaSuccess && m->log[0] != '\0')
		snprintf(text, size, "%.*s", (int)sizeof(m->log) - 1, m->log);
	return device_check(m->device, result);
}

static int module_load(struct quoit_device_module *m, char *text, size_t size)
{
	int err;

	m->log[0] = '\0';
	m->option[0] = cudaJitErrorLogBuffer;
	m->value[0] = m->log;
	m->option[1] = cudaJitErrorLogBufferSizeBytes;
	m->value[1] = (void *)(uintptr_t)sizeof(m->log);
	err = module_say(
		m,
		cudaLibraryLoadData(&m->library, m->image, m->option, m->value, 2, NULL, NULL, 0),
		"the module cannot be loaded", text, size);
	if (err)
		m->library = NULL;
	return err;
}

static void module_unload(struct quoit_device_module *m)
{
	if (m->library && !m->device->broken)
		(void)device_check(m->device, cudaLibraryUnload(m->library));
	m->library = NULL;
}

int module_new(struct quoit_device *d, const void *image, size_t size,
	       struct quoit_device_module **ret, char *text, size_t text_size)
{
	struct quoit_device_module *m;
	int err;

	snprintf(text, text_size, "%s", "");
	if (d->broken)
		return d->broken;
	m = calloc(1, sizeof(*m));
	if (m)
		m->image = calloc(1, size + 1);
	if (!m || !m->image) {
		free(m);
		return -ENOMEM;
	}
	m->device = d;
	memcpy(m->image, image, size);
	if (!image_is_whole(image, size)) {
		snprintf(text, text_size, "the image is neither PTX nor a complete cubin");
		err = -EINVAL;
	} else {
		err = module_load(m, text, text_size);
	}
	if (err)
		module_free(m);
	else
		*ret = m;
	return err;
}

void module_free(struct quoit_device_module *m)
{
	if (!m)
		return;
	module_unload(m);
	m->device->module_bytes -= m->bytes;
	free(m->image);
	free(m);
}

/* Find a kernel.  Asking for its attributes loads its code now, and not at its first launch. */
static int module_look(struct quoit_device_module *m, const char *name, cudaKernel_t *ret,
		       struct cudaFuncAttributes *ret_attributes, char *text, size_t size)
{
	int err = module_say(m, cudaLibraryGetKernel(ret, m->library, name),
			     "its code cannot be loaded", text, size);

	if (err)
		return err;
	return module_say(m, cudaFuncGetAttributes(ret_attributes, (const void *)*ret),
			  "its code cannot be loaded", text, size);
}

/*
 * Find a module's first kernel, with which its variables are loaded.  -ENOMEM: they take too much.
 */
static int module_look_first(struct quoit_device_module *m, const char *name, cudaKernel_t *ret,
			     struct cudaFuncAttributes *ret_attributes, char *text, size_t size)
{
	struct quoit_device *d = m->device;
	int err = 0;

	for (int i = 0; i < MODULE_MEASURES && !err; i++) {
		size_t before = 0, after = 0, all, bytes;

		if (!m->library)
			err = module_load(m, text, size);
		if (!err)
			err = device_check(d, cudaMemGetInfo(&before, &all));
		if (!err)
			err = module_look(m, name, ret, ret_attributes, text, size);
		if (!err)
			err = device_check(d, cudaMemGetInfo(&after, &all));
		bytes = before > after ? before - after : 0;
		if (!err && bytes <= MODULE_MOST_BYTES - d->module_bytes) {
			m->measured = true;
			m->bytes = bytes;
			d->module_bytes += bytes;
			return 0;
		}
		if (!err)
			module_unload(m);
	}
	return err ? err : -ENOMEM;
}

/*
 * The driver allocates stacks for all threads that the device can run at once, and keeps them.
 * -ENOMEM: they would take too much.
 */
static int module_check_stack(struct quoit_device *d, size_t bytes)
{
	int units = 0, threads = 0;
	int err = device_check(
		d, cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, d->index));

	if (!err)
		err = device_check(d, cudaDeviceGetAttribute(&threads,
							     cudaDevAttrMaxThreadsPerMultiProcessor,
							     d->index));
	if (err)
		return err;
	return bytes > MODULE_STACK_BYTES / ((size_t)units * (size_t)threads) ? -ENOMEM : 0;
}

int module_find(struct quoit_device_module *m, const char *name, struct quoit_device_kernel **ret,
		char *text, size_t text_size)
{
	struct cudaFuncAttributes attributes;
	cudaKernel_t kernel;
	int err;

	snprintf(text, text_size, "%s", "");
	if (m->device->broken)
		return m->device->broken;
	err = m->measured ? module_look(m, name, &kernel, &attributes, text, text_size)
			  : module_look_first(m, name, &kernel, &attributes, text, text_size);
	if (!err)
		err = module_check_stack(m->device, attributes.localSizeBytes);
	if (err)
		return err;
	*ret = (struct quoit_device_kernel *)kernel;
	return 0;
}

/* The alignment of an argument: the largest power of two that divides its size, at most 16. */
static size_t module_alignment(size_t bytes)
{
	const size_t most = 16;

	return bytes % most == 0 ? most : bytes & -bytes;
}

/*
 * Does the kernel take these arguments, each of its size?  The driver accepts fewer bytes without
 * an error, and the kernel then computes with what lies behind them (580 on an H100).  A driver
 * that cannot tell is trusted.
 */
static bool module_takes(struct quoit_device *d, struct quoit_device_kernel *k,
			 const struct quoit_device_launch *l)
{
	const CUkernel kernel = (CUkernel)module_kernel(k);
	size_t offset, bytes;

	if (!d->parameter)
		return true;
	for (uint32_t i = 0; i < l->args; i++)
		if (d->parameter(kernel, i, &offset, &bytes) != CUDA_SUCCESS ||
		    bytes != l->arg_bytes[i])
			return false;
	return d->parameter(kernel, l->args, &offset, &bytes) != CUDA_SUCCESS;
}

/*
 * Arguments are one piece of bytes with its size, so that the driver reads none that was not given.
 */
int module_launch(struct quoit_device_stream *s, struct quoit_device_kernel *k,
		  const struct quoit_device_launch *launch)
{
	_Alignas(16) char bytes[MODULE_ARGUMENT_BYTES];
	size_t used = 0;
	cudaError_t result;
	int err;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &used,
			 CU_LAUNCH_PARAM_END};
	const struct quoit_device_launch *l = launch;

	if (s->device->broken)
		return s->device->broken;
	if (!s->device->launch)
		return -ENOTSUP;
	if (l->args > MODULE_ARGS || !module_takes(s->device, k, l))
		return -EINVAL;
	for (uint32_t i = 0; i < l->args; i++) {
		size_t alignment, gap;

		if (l->arg_bytes[i] == 0)
			return -EINVAL;
		alignment = module_alignment(l->arg_bytes[i]);
		gap = -used & (alignment - 1);
		memset(bytes + used, 0, gap); /* else a kernel could read our stack there */
		used += gap;
		memcpy(bytes + used, l->arg[i], l->arg_bytes[i]);
		used += l->arg_bytes[i];
	}
	profile_begin(&s->device->profile, PROFILE_LAUNCH);
	result = (cudaError_t)s->device->launch(
		(CUfunction)module_kernel(k), l->grid[0], l->grid[1], l->grid[2], l->block[0],
		l->block[1], l->block[2], l->shared_bytes, s->stream, NULL, extra);
	profile_end(&s->device->profile);
	err = device_check(s->device, result);
	/* A block lacks registers for its threads: more memory would not help. */
	return result == cudaErrorLaunchOutOfResources ? -EINVAL : err;
}
