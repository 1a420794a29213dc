/* SPDX-License-Identifier: MIT */
/* clock.c - read the device's clock and the processor's at one moment. */
#include <errno.h>
#include <time.h>

#include "context.h"
#include "kernels/kernels.h"

/*
 * Readings of both clocks; the least disturbed one is taken.  If the device has no room for a
 * kernel of one thread, a reading gives up after some milliseconds.
 */
#define CLOCK_TRIES 8
#define CLOCK_SPINS 4000000u

/* How often the end of a reading's kernel is looked for after its time was seen. */
#define CLOCK_LOOKS 1000u

static uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

/*
 * Has the kernel of a reading ended?  0; -EAGAIN: not yet.  The runtime asks and does not wait,
 * because a consumer may be resident.
 */
static int clock_end_reading(struct quoit_device *d)
{
	int err = -EAGAIN;

	for (unsigned i = 0; i < CLOCK_LOOKS && err == -EAGAIN; i++)
		err = device_check(d, cudaStreamQuery(d->clock));
	return err;
}

/* One reading: a kernel writes the time, between two times taken here.  -EAGAIN: it has not yet. */
static int clock_read_once(struct quoit_device *d, uint64_t *ret_before, uint64_t *ret_after)
{
	void *there;
	int err = device_pointer(d, d->word, &there);

	if (!err)
		err = clock_end_reading(d); /* of a reading that came too late */
	if (err)
		return err;
	__atomic_store_n(d->word, 0, __ATOMIC_RELEASE);
	*ret_before = clock_ticks();
	err = device_check(d, kernel_stamp(there, d->clock));
	if (err)
		return err;
	for (unsigned i = 0; i < CLOCK_SPINS; i++) {
		if (__atomic_load_n(d->word, __ATOMIC_ACQUIRE) == 0)
			continue;
		*ret_after = clock_ticks();
		return 0;
	}
	return -EAGAIN;
}

/* Read both clocks.  -EAGAIN: the device is busy, ask again later. */
int clock_read(struct quoit_device *d, uint64_t *ret_device_ns, uint64_t *ret_ticks,
	       uint64_t *ret_error)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before, after;
		int err = clock_read_once(d, &before, &after);

		if (err == -EAGAIN && least != UINT64_MAX)
			return 0;
		if (err)
			return err;
		if (after - before >= least)
			continue;
		least = after - before;
		*ret_device_ns = *d->word;
		*ret_ticks = before + least / 2;
		*ret_error = least / 2;
	}
	return 0;
}
