/* SPDX-License-Identifier: MIT */
/*
 * driver.c - the device layer for NVIDIA devices: its table, opening and closing, health.
 *
 * The runtime is linked.  The driver's library and cuBLAS are loaded when they are needed, so that
 * this file loads on any machine, and can say what is missing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/device.h>

#include "context.h"
#include "errors.h"
#include "kernels/kernels.h"

/*
 * A stream's products may take 1/DRIVER_PACK_PART of the device's memory as scratch, and at most
 * DRIVER_PACK_MOST.  The tenth of the memory that no lease covers has room for that in all streams.
 */
#define DRIVER_PACK_PART 512u
#define DRIVER_PACK_MOST (UINT64_C(128) << 20)

/* The version of the driver's functions that this code is written for. */
#define DRIVER_ENTRY_VERSION     12000
#define DRIVER_PARAMETER_VERSION 12040 /* the first with cuKernelGetParamInfo */

/* The runtime has one current device at a time, and this driver never changes it. */
static bool driver_in_use;

int device_code(struct quoit_device *d, int err)
{
	if (errors_is_sticky(err) && !d->broken)
		d->broken = err;
	return err;
}

/*
 * An error that is not known to be harmless counts as a fault, but may concern one call only.  So
 * ask the device: a broken context fails every call.
 */
static int driver_ask(struct quoit_device *d)
{
	int err;

	if (d->broken || !d->stream)
		return -QUOIT_EGPUFAULT;
	err = errors_code(cudaStreamQuery(d->stream));
	if (errors_is_sticky(err))
		return err;
	(void)cudaGetLastError();
	return -EIO;
}

int device_check(struct quoit_device *d, cudaError_t result)
{
	int err = errors_code(result);

	if (err == -QUOIT_EGPUFAULT)
		err = driver_ask(d);
	if (err && err != -EAGAIN && !d->broken)
		d->failed = result;
	return device_code(d, err);
}

/* The runtime's text for an error; NULL: it has none, as when cuBLAS has seen the error first. */
static const char *driver_why(struct quoit_device *d, int err)
{
	return err && errors_code(d->failed) == err ? cudaGetErrorString(d->failed) : NULL;
}

static void driver_add_why(struct quoit_device *d, int err, char *text, size_t size)
{
	const char *why = driver_why(d, err);
	size_t n = strlen(text);

	if (why)
		snprintf(text + n, size - n, ": %s", why);
}

int device_pointer(struct quoit_device *d, void *host, void **ret)
{
	if (d->broken)
		return d->broken;
	return device_check(d, cudaHostGetDevicePointer(ret, host, 0));
}

/*
 * The most streams that the hardware can keep apart.  With the lower default a resident kernel and
 * other work could share a connection, and that work would wait for ever.
 */
#define DRIVER_CONNECTIONS "32"

/* Called first: the runtime reads its settings when it is first used. */
static int driver_count(char *text, size_t size)
{
	int count = 0;
	int err;

	(void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", DRIVER_CONNECTIONS, 1);
	snprintf(text, size, "%s", "");
	err = errors_say(cudaGetDeviceCount(&count), "the driver finds no device", text, size);
	if (!err && count == 0)
		snprintf(text, size, "the driver finds no device");
	return err ? err : count;
}

/* ---- open ---- */

/*
 * The version of the kernel's module; if it is unknown, the CUDA version that the driver supports.
 */
static void driver_version(char *text, size_t size)
{
	FILE *file = fopen("/sys/module/nvidia/version", "re");
	int version = 0;

	(void)cudaDriverGetVersion(&version);
	snprintf(text, size, "CUDA %d.%d", version / 1000, version % 1000 / 10);
	if (!file)
		return;
	if (fgets(text, (int)size, file))
		text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

static bool driver_has_doubles(struct quoit_device *d)
{
	int part = 0; /* f32's speed over f64's */

	return !device_check(d, cudaDeviceGetAttribute(&part,
						       cudaDevAttrSingleToDoublePrecisionPerfRatio,
						       d->index)) &&
	       part > 0 && part <= 4;
}

static int driver_describe(struct quoit_device *d, struct quoit_device_info *ret_info)
{
	struct quoit_device_info *info = ret_info;
	struct cudaDeviceProp props;
	int err = device_check(d, cudaGetDeviceProperties(&props, d->index));

	if (err)
		return err;
	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "%.*s", (int)sizeof(info->name) - 1, props.name);
	err = device_check(
		d, cudaDeviceGetPCIBusId(info->address, (int)sizeof(info->address), d->index));
	if (err)
		return err;
	driver_version(info->driver, sizeof(info->driver));
	info->bytes = props.totalGlobalMem;
	d->pack_most = info->bytes / DRIVER_PACK_PART;
	if (d->pack_most > DRIVER_PACK_MOST)
		d->pack_most = DRIVER_PACK_MOST;
	info->units = (uint32_t)props.multiProcessorCount;
	info->flags = (d->write_value ? QUOIT_DEVICE_SIGNALS : 0) |
		      (d->profile.domain ? QUOIT_DEVICE_PROFILED : 0) |
		      (driver_has_doubles(d) ? QUOIT_DEVICE_DOUBLES : 0);
	for (unsigned opcode = 0; opcode < QUOIT_OP_NR; opcode++) {
		if (run_knows((uint8_t)opcode))
			info->ops[opcode / 64] |= UINT64_C(1) << opcode % 64;
	}
	return 0;
}

/* Look up a driver function; NULL: it has none of this name. */
static void *driver_entry(struct quoit_device *d, const char *name, unsigned int version)
{
	enum cudaDriverEntryPointQueryResult found;
	void *entry = NULL;

	if (device_check(d, cudaGetDriverEntryPointByVersion(name, &entry, version,
							     cudaEnableDefault, &found)) ||
	    found != cudaDriverEntryPointSuccess)
		return NULL;
	return entry;
}

/* Try whether streams can write words; if not, write_value is NULL. */
static int driver_try_signals(struct quoit_device *d)
{
	struct quoit_device_stream s = {.device = d, .stream = d->stream};
	uint32_t *word = (uint32_t *)d->word;
	int err;

	*(void **)&d->write_value = driver_entry(d, "cuStreamWriteValue32", DRIVER_ENTRY_VERSION);
	if (!d->write_value)
		return 0;
	err = stream_signal(&s, word, 1);
	if (!err)
		err = device_check(d, cudaStreamSynchronize(d->stream));
	if (errors_is_sticky(err))
		return err;
	if (err || __atomic_load_n(word, __ATOMIC_ACQUIRE) != 1)
		d->write_value = NULL;
	return 0;
}

static void driver_close(struct quoit_device *d)
{
	if (!d)
		return;
	direct_close(d);
	if (!d->broken)
		(void)device_check(d, cudaDeviceSynchronize());
	if (!d->broken) {
		direct_free(d);
		memory_host_free(d, d->word);
		memory_close(d);
		if (d->stream)
			(void)device_check(d, cudaStreamDestroy(d->stream));
		if (d->clock)
			(void)device_check(d, cudaStreamDestroy(d->clock));
		blas_close(&d->blas);
	}
	profile_close(&d->profile);
	free(d);
	driver_in_use = false;
}

/* Make an urgent stream for the clock, and run a first kernel, which shows whether any will run. */
static int driver_try_kernels(struct quoit_device *d, uint64_t *ret_clock_step)
{
	int least, greatest;
	void *there;
	int err = device_check(d, cudaDeviceGetStreamPriorityRange(&least, &greatest));

	if (!err)
		err = device_check(d, cudaStreamCreateWithPriority(&d->clock, cudaStreamNonBlocking,
								   greatest));
	if (!err)
		err = device_pointer(d, d->word, &there);
	if (!err)
		err = device_check(d, kernel_clock_step(there, d->clock));
	if (!err)
		err = device_check(d, cudaStreamSynchronize(d->clock));
	*ret_clock_step = *d->word;
	return err;
}

/* Make all that a device needs. */
static int driver_prepare(struct quoit_device *d, struct quoit_device_info *ret_info, char *text,
			  size_t size)
{
	void *word;
	int err = errors_say(cudaSetDevice(d->index), "the device cannot be used", text, size);

	if (err)
		return err;
	snprintf(text, size, "the device cannot be prepared");
	err = device_check(d, cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
	if (!err)
		err = memory_open(d);
	if (!err)
		err = memory_host_new(d, sizeof(*d->word), &word);
	if (err)
		return err;
	d->word = word;
	*d->word = 0;
	*(void **)&d->launch = driver_entry(d, "cuLaunchKernel", DRIVER_ENTRY_VERSION);
	*(void **)&d->parameter = driver_entry(d, "cuKernelGetParamInfo", DRIVER_PARAMETER_VERSION);
	err = driver_try_signals(d);
	if (!err)
		err = driver_describe(d, ret_info);
	if (err)
		return err;
	snprintf(text, size, "quoit-cuda.so has no kernels for this device's architecture");
	err = driver_try_kernels(d, &ret_info->clock_step);
	if (err)
		return err;
	if (blas_open(&d->blas)) {
		ret_info->flags |= QUOIT_DEVICE_BLAS;
		snprintf(text, size, "%s", "");
	} else {
		snprintf(text, size, "no cuBLAS: a simple, slower kernel makes products");
	}
	return 0;
}

/* On success text says what could be better, if anything. */
static int driver_open(uint32_t index, struct quoit_device **ret,
		       struct quoit_device_info *ret_info, char *text, size_t size)
{
	struct quoit_device *d;
	int err = driver_count(text, size);

	if (err < 0)
		return err;
	if (index >= (uint32_t)err) {
		snprintf(text, size, "there is no device %u", index);
		return -ENODEV;
	}
	if (driver_in_use) {
		snprintf(text, size, "a process opens one device at a time");
		return -EBUSY;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	driver_in_use = true;
	d->index = (int)index;
	profile_open(&d->profile);
	err = driver_prepare(d, ret_info, text, size);
	if (err) {
		driver_add_why(d, err, text, size);
		driver_close(d);
		return err;
	}
	*ret = d;
	return 0;
}

/* ---- health ---- */

/*
 * A broken context fails every call: query the device's own stream.  The job at fault stays
 * unknown.
 */
static int driver_health(struct quoit_device *d, const struct quoit_device_verdict **ret_verdict)
{
	int err;

	*ret_verdict = NULL;
	if (d->broken)
		return d->broken;
	err = device_check(d, cudaStreamQuery(d->stream));
	return errors_is_sticky(err) ? err : 0;
}

/* ---- ranges ---- */

static uint64_t driver_range_begin(struct quoit_device *d, uint8_t opcode, uint64_t job)
{
	return profile_range_begin(&d->profile, opcode, job);
}

static void driver_range_end(struct quoit_device *d, uint64_t range)
{
	profile_range_end(&d->profile, range);
}

__attribute__((visibility("default"))) const struct quoit_device_driver quoit_device_driver = {
	.version = QUOIT_DEVICE_VERSION,
	.name = "cuda",
	.count = driver_count,
	.open = driver_open,
	.close = driver_close,
	.health = driver_health,
	.why = driver_why,
	.clock = clock_read,
	.memory_new = memory_new,
	.memory_free = memory_free,
	.host_new = memory_host_new,
	.host_free = memory_host_free,
	.host_register = memory_host_register,
	.host_unregister = memory_host_unregister,
	.pool_export = peer_export,
	.pool_import = peer_import,
	.pool_release = peer_release,
	.memory_export = peer_memory_export,
	.memory_import = peer_memory_import,
	.memory_release = peer_memory_release,
	.stream_new = stream_new,
	.stream_free = stream_free,
	.event_new = stream_event_new,
	.event_free = stream_event_free,
	.event_record = stream_event_record,
	.event_done = stream_event_done,
	.stream_wait = stream_wait,
	.copy = stream_copy,
	.clear = stream_clear,
	.run = run_call,
	.signal = stream_signal,
	.stamp = stream_stamp,
	.module_new = module_new,
	.module_free = module_free,
	.kernel_find = module_find,
	.launch = module_launch,
	.direct_open = direct_open,
	.direct_start = direct_start,
	.range_begin = driver_range_begin,
	.range_end = driver_range_end,
};
