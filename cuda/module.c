/* SPDX-License-Identifier: MIT */
/* module.c - kernels that a client has brought. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "errors.h"

#define MODULE_ARGS (sizeof(((struct quoit_device_launch *)0)->arg) / sizeof(void *))

/* Arguments of a launch in one piece, all of 255 bytes at most and aligned. */
#define MODULE_ARGUMENT_BYTES (MODULE_ARGS * 256 * 2)

struct quoit_device_module {
	struct quoit_device *device;
	cudaLibrary_t library;
	char *image; /* ends with a zero, which PTX needs */
};

/* Never made: a kernel is a pointer of the runtime's under a type of ours. */
static cudaKernel_t module_kernel(struct quoit_device_kernel *k)
{
	return (cudaKernel_t)k;
}

int module_new(struct quoit_device *d, const void *image, size_t size,
	       struct quoit_device_module **ret, char *text, size_t text_size)
{
	char log[512] = "";
	enum cudaJitOption option[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
	void *value[] = {log, (void *)(uintptr_t)sizeof(log)};
	struct quoit_device_module *m;
	cudaError_t result;
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
	result = cudaLibraryLoadData(&m->library, m->image, option, value, 2, NULL, NULL, 0);
	err = errors_say(result, "the module cannot be loaded", text, text_size);
	if (!err) {
		*ret = m;
		return 0;
	}
	if (log[0] != '\0')
		snprintf(text, text_size, "%s", log);
	(void)device_check(d, result);
	free(m->image);
	free(m);
	return err;
}

void module_free(struct quoit_device_module *m)
{
	if (!m)
		return;
	if (!m->device->broken)
		(void)device_check(m->device, cudaLibraryUnload(m->library));
	free(m->image);
	free(m);
}

/* Its code is loaded by the question for its attributes; else it would be by its first launch. */
int module_find(struct quoit_device_module *m, const char *name, struct quoit_device_kernel **ret)
{
	struct cudaFuncAttributes attributes;
	cudaKernel_t kernel;
	int err;

	if (m->device->broken)
		return m->device->broken;
	err = device_check(m->device, cudaLibraryGetKernel(&kernel, m->library, name));
	if (err)
		return errors_is_sticky(err) ? err : -ENOENT;
	err = device_check(m->device, cudaFuncGetAttributes(&attributes, (const void *)kernel));
	if (err)
		return err;
	*ret = (struct quoit_device_kernel *)kernel;
	return 0;
}

/* The largest power of two that divides a size: what an argument of it is aligned to. */
static size_t module_alignment(size_t bytes)
{
	const size_t most = 16;

	return bytes % most == 0 ? most : bytes & -bytes;
}

/* One piece of bytes with its size, so that the driver reads no argument that nobody has given. */
int module_launch(struct quoit_device_stream *s, struct quoit_device_kernel *k,
		  const struct quoit_device_launch *launch)
{
	_Alignas(16) char bytes[MODULE_ARGUMENT_BYTES];
	size_t used = 0;
	int err;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &used,
			 CU_LAUNCH_PARAM_END};
	const struct quoit_device_launch *l = launch;

	if (s->device->broken)
		return s->device->broken;
	if (!s->device->launch)
		return -ENOTSUP;
	if (l->args > MODULE_ARGS)
		return -EINVAL;
	for (uint32_t i = 0; i < l->args; i++) {
		size_t alignment;

		if (l->arg_bytes[i] == 0)
			return -EINVAL;
		alignment = module_alignment(l->arg_bytes[i]);
		used = (used + alignment - 1) & ~(alignment - 1);
		memcpy(bytes + used, l->arg[i], l->arg_bytes[i]);
		used += l->arg_bytes[i];
	}
	profile_begin(&s->device->profile, PROFILE_LAUNCH);
	err = device_check(s->device, (cudaError_t)s->device->launch(
					      (CUfunction)module_kernel(k), l->grid[0], l->grid[1],
					      l->grid[2], l->block[0], l->block[1], l->block[2],
					      l->shared_bytes, s->stream, NULL, extra));
	profile_end(&s->device->profile);
	return err;
}
