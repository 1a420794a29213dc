/* SPDX-License-Identifier: MIT */
/* soft.c - soft devices: number and size, open and close, health and clock */
#include "soft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/memfd.h"
#include "base/tsc.h"
#include "ops/ops.h"
#include "soft_private.h"
#include "soft_settings.h"

static int inject(enum soft_function function, char *text, size_t size)
{
	const int err = soft_faults_next(function);

	if (err)
		snprintf(text, size, "%s", SOFT_INJECTED);
	return err;
}

/* ---- devices ---- */

static int soft_count(char *text, size_t size)
{
	struct soft_settings settings;
	int err = soft_settings_read(&settings, text, size);

	if (!err)
		err = inject(SOFT_COUNT, text, size);
	if (!err && !settings.devices)
		snprintf(text, size, "QUOIT_SOFT_DEVICES is 0");
	return err ? err : (int)settings.devices;
}

static int make_device(uint32_t index, uint64_t bytes, struct quoit_device **ret)
{
	struct quoit_device *d = calloc(1, sizeof *d);
	void *base;
	int err;

	if (!d)
		return -ENOMEM;
	/* Pages come with the first touch, so a device may be larger than free memory. */
	d->fd = memfd_create_sealed("quoit-soft-device", bytes);
	err = d->fd < 0 ? d->fd : memfd_map(d->fd, bytes, true, &base);
	if (err < 0) {
		if (d->fd >= 0)
			(void)close(d->fd);
		free(d);
		return -ENOMEM;
	}
	d->base = base;
	d->address = soft_address(index);
	d->bytes = bytes;
	d->page = (uint64_t)sysconf(_SC_PAGESIZE);
	(void)pthread_mutex_init(&d->lock, NULL);
	(void)pthread_cond_init(&d->changed, NULL);
	LIST_INIT(&d->streams);
	LIST_INIT(&d->pools);
	*ret = d;
	return 0;
}

static void describe(const struct quoit_device *d, uint32_t index, struct quoit_device_info *ret)
{
	*ret = (struct quoit_device_info){
		.driver = QUOIT_VERSION, .bytes = d->bytes, .units = (uint32_t)get_nprocs()};
	ret->flags = QUOIT_DEVICE_HOST | (soft_is_silent() ? 0 : QUOIT_DEVICE_SIGNALS) |
		     (soft_profile_open() ? QUOIT_DEVICE_PROFILED : 0);
	snprintf(ret->name, sizeof ret->name, "soft %u", index);
	for (unsigned op = 0; op < QUOIT_OP_NR; op++)
		if (ops_find((uint8_t)op))
			ret->ops[op / 64] |= UINT64_C(1) << op % 64;
}

static int soft_open(uint32_t index, struct quoit_device **ret, struct quoit_device_info *ret_info,
		     char *text, size_t size)
{
	struct soft_settings settings;
	int err = soft_settings_read(&settings, text, size);

	if (!err)
		err = inject(SOFT_OPEN, text, size);
	if (err)
		return err;
	if (index >= settings.devices) {
		snprintf(text, size, "%u soft devices are there (QUOIT_SOFT_DEVICES), not this one",
			 (unsigned)settings.devices);
		return -ENODEV;
	}
	if (!tsc_hz())
		tsc_init();
	err = make_device(index, settings.bytes, ret);
	if (err)
		snprintf(text, size, "the soft device has no room for %llu bytes",
			 (unsigned long long)settings.bytes);
	else
		describe(*ret, index, ret_info);
	if (!err && !index)
		memcpy(ret_info->address, settings.address, sizeof ret_info->address);
	return err;
}

static void soft_close(struct quoit_device *d)
{
	if (!d)
		return;
	soft_direct_close(d);
	soft_stream_free_all(d);
	soft_pool_release_all(d);
	(void)munmap(d->base, d->bytes);
	(void)close(d->fd);
	soft_ranges_done(&d->allocated);
	soft_ranges_done(&d->host);
	(void)pthread_cond_destroy(&d->changed);
	(void)pthread_mutex_destroy(&d->lock);
	free(d);
}

/* ---- health ---- */

static const bool wants_parked[SOFT_FUNCTION_NR] = {
	[SOFT_MEMORY_NEW] = true,    [SOFT_MEMORY_FREE] = true,   [SOFT_HOST_NEW] = true,
	[SOFT_HOST_REGISTER] = true, [SOFT_STREAM_NEW] = true,    [SOFT_MODULE_NEW] = true,
	[SOFT_KERNEL_FIND] = true,   [SOFT_POOL_EXPORT] = true,   [SOFT_POOL_IMPORT] = true,
	[SOFT_MEMORY_EXPORT] = true, [SOFT_MEMORY_IMPORT] = true,
};

int soft_enter(struct quoit_device *d, enum soft_function function)
{
	int err = atomic_load_explicit(&d->broken, memory_order_acquire);

	if (err)
		return err;
	if (wants_parked[function]) {
		soft_want_parked(d);
		err = atomic_load_explicit(&d->broken, memory_order_acquire);
		if (err)
			return err;
	}
	err = soft_faults_next(function);
	if (soft_is_sticky(err))
		soft_break(d, err, NULL, SOFT_INJECTED);
	return err;
}

void soft_want_parked(struct quoit_device *d)
{
	if (atomic_load(&d->resident))
		soft_break(d, -QUOIT_EGPUFAULT, NULL,
			   "a call that may wait for the device, beside a resident consumer");
}

void soft_break(struct quoit_device *d, int err, const struct quoit_device_verdict *verdict,
		const char *why)
{
	(void)pthread_mutex_lock(&d->lock);
	if (!d->broken) {
		d->culprit = verdict;
		d->why = why;
		atomic_store_explicit(&d->broken, err, memory_order_release);
	}
	(void)pthread_cond_broadcast(&d->changed);
	(void)pthread_mutex_unlock(&d->lock);
}

static int soft_health(struct quoit_device *d, const struct quoit_device_verdict **ret_verdict)
{
	const int err = soft_enter(d, SOFT_HEALTH);

	/* The culprit was written before `broken`, and only once. */
	*ret_verdict = soft_is_sticky(err) ? d->culprit : NULL;
	return err;
}

static const char *soft_why(struct quoit_device *d, int err)
{
	return err && atomic_load_explicit(&d->broken, memory_order_acquire) == err ? d->why : NULL;
}

/* ---- the clock ---- */

/* The device's clock is the processor's: its nanoseconds are converted ticks. */
uint64_t soft_now(void)
{
	return tsc_to_ns(tsc_now());
}

static int soft_clock(struct quoit_device *d, uint64_t *ret_device_ns, uint64_t *ret_ticks,
		      uint64_t *ret_error)
{
	const int err = soft_enter(d, SOFT_CLOCK);
	const uint64_t now = tsc_now();

	if (err)
		return err;
	*ret_ticks = tsc_raw(now);
	*ret_device_ns = tsc_to_ns(now);
	*ret_error = tsc_hz() / 1000000000 + 1; /* a nanosecond, rounded up */
	return 0;
}

const struct quoit_device_driver soft_device_driver = {
	.version = QUOIT_DEVICE_VERSION,
	.name = "soft",
	.count = soft_count,
	.open = soft_open,
	.close = soft_close,
	.health = soft_health,
	.why = soft_why,
	.clock = soft_clock,
	.memory_new = soft_memory_new,
	.memory_free = soft_memory_free,
	.host_new = soft_host_new,
	.host_free = soft_host_free,
	.host_register = soft_host_register,
	.host_unregister = soft_host_unregister,
	.pool_export = soft_pool_export,
	.pool_import = soft_pool_import,
	.pool_release = soft_pool_release,
	.memory_export = soft_memory_export,
	.memory_import = soft_memory_import,
	.memory_release = soft_memory_release,
	.stream_new = soft_stream_new,
	.stream_free = soft_stream_free,
	.event_new = soft_event_new,
	.event_free = soft_event_free,
	.event_record = soft_event_record,
	.event_done = soft_event_done,
	.stream_wait = soft_event_wait,
	.copy = soft_copy,
	.clear = soft_clear,
	.run = soft_run,
	.signal = soft_signal,
	.stamp = soft_stamp,
	.module_new = soft_module_new,
	.module_free = soft_module_free,
	.kernel_find = soft_kernel_find,
	.launch = soft_launch,
	.direct_open = soft_direct_open,
	.direct_start = soft_direct_start,
	.range_begin = soft_range_begin,
	.range_end = soft_range_end,
};
