/* SPDX-License-Identifier: MIT */
/* tsc.c - finds the rate of the time stamp counter, and corrects it after a suspend */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "tsc.h"

#define NS_PER_S 1000000000u

__extension__ typedef unsigned __int128 tsc_wide;

static struct {
	uint64_t hz;
	uint64_t ns_per_tick; /* in units of 2^-32 */
	bool invariant;
	const char *source;
} tsc;

static void set_rate(uint64_t hz, const char *source)
{
	tsc.hz = hz;
	tsc.ns_per_tick = (uint64_t)(((tsc_wide)NS_PER_S << 32) / hz);
	tsc.source = source;
}

#if defined(__x86_64__)
#include <cpuid.h>

#define CALIBRATE_NS         5000000
#define CALIBRATE_TRIES      16
#define LOOK_TRIES           4
#define CPUID_HYPERVISOR_BIT (1u << 31) /* leaf 1, ECX */
#define CPUID_INVARIANT_BIT  (1u << 8)  /* leaf 0x80000007, EDX */

struct instant {
	uint64_t ns, ticks;
};

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Both clocks at one instant; of several tries, the least disturbed one. */
static struct instant read_both(int tries)
{
	struct instant best = {0};
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < tries; i++) {
		uint64_t before = monotonic_ns(), ticks = __builtin_ia32_rdtsc(),
			 after = monotonic_ns();

		if (after - before < least) {
			least = after - before;
			best = (struct instant){.ns = before + least / 2, .ticks = ticks};
		}
	}
	return best;
}

static uint64_t measure_hz(void)
{
	struct timespec pause = {.tv_nsec = CALIBRATE_NS};
	struct instant start = read_both(CALIBRATE_TRIES), end;

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause) == EINTR)
		;
	end = read_both(CALIBRATE_TRIES);
	return (uint64_t)((tsc_wide)(end.ticks - start.ticks) * NS_PER_S / (end.ns - start.ns));
}

/*
 * Intel SDM, CPUID leaf 0x15: rate = crystal (ECX) * EBX / EAX.  If the crystal is not stated, leaf
 * 0x16 has only the rate on the label, in whole MHz: measuring is better.
 */
static uint64_t processor_hz(void)
{
	unsigned int denominator, numerator, crystal, unused;

	if (!__get_cpuid(0x15, &denominator, &numerator, &crystal, &unused) || !denominator)
		return 0;
	return (uint64_t)crystal * numerator / denominator;
}

/* Hypervisor leaf 0x40000010, EAX: the rate in kHz (VMware's interface; KVM and others have it). */
static uint64_t hypervisor_hz(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & CPUID_HYPERVISOR_BIT))
		return 0;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	if (eax < 0x40000010)
		return 0;
	__cpuid(0x40000010, eax, ebx, ecx, edx);
	return (uint64_t)eax * 1000;
}

static bool agrees(uint64_t stated, uint64_t measured)
{
	return stated > measured - measured / 100 && stated < measured + measured / 100;
}

static void find_rate(void)
{
	uint64_t measured = measure_hz(), stated = processor_hz();

	if (agrees(stated, measured)) {
		set_rate(stated, "told by the processor");
		return;
	}
	stated = hypervisor_hz();
	if (agrees(stated, measured))
		set_rate(stated, "told by the hypervisor");
	else
		set_rate(measured, "measured against CLOCK_MONOTONIC");
}

/* ---- suspends ---- */

/* A look may be late by this part of a second. */
#define LATE_PART 8u

struct tsc_clock tsc_clock __attribute__((aligned(64))) = {.look = UINT64_MAX};
static pthread_mutex_t look_lock = PTHREAD_MUTEX_INITIALIZER;
static struct instant last_look;

/*
 * CLOCK_MONOTONIC stands still while the machine is suspended.  The counter runs on or begins anew,
 * as the processor and its firmware have it.  A difference below a second and an eighth, or within
 * the error of the rate, is not taken for a suspend: tsc_now() does not look at once, so other
 * threads have times that would be set back.
 */
static int64_t skipped(const struct instant *from, const struct instant *to)
{
	int64_t ns = (int64_t)(to->ns - from->ns);
	int64_t ticks = (int64_t)tsc_from_ns((uint64_t)llabs(ns));
	int64_t expected = ns < 0 ? -ticks : ticks;
	int64_t off = (int64_t)(to->ticks - from->ticks) - expected;
	int64_t most = (int64_t)(tsc.hz + tsc.hz / LATE_PART) + ticks / 64;

	return off > most || off < -most ? off : 0;
}

/*
 * The thread that looks may have been interrupted and wait for a core.  As long as the counter
 * shows no sign of a suspend, other threads go on with the lag that they have.
 */
static bool is_looked_at(uint64_t *ret_now)
{
	uint64_t lag = __atomic_load_n(&tsc_clock.lag, __ATOMIC_ACQUIRE),
		 raw = __builtin_ia32_rdtsc();
	uint64_t since = raw - __atomic_load_n(&tsc_clock.seen, __ATOMIC_ACQUIRE);

	*ret_now = raw + lag;
	return since < tsc_clock.look + tsc_clock.look / LATE_PART &&
	       __atomic_load_n(&tsc_clock.lag, __ATOMIC_RELAXED) == lag;
}

uint64_t tsc_look(void)
{
	struct instant now;
	uint64_t lag, unlooked;

	if (pthread_mutex_trylock(&look_lock)) {
		if (is_looked_at(&unlooked))
			return unlooked;
		pthread_mutex_lock(&look_lock);
	}
	now = read_both(LOOK_TRIES);
	lag = tsc_clock.lag - (uint64_t)skipped(&last_look, &now);
	last_look = now;
	__atomic_store_n(&tsc_clock.lag, lag, __ATOMIC_RELEASE);
	__atomic_store_n(&tsc_clock.seen, now.ticks, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&look_lock);
	return now.ticks + lag;
}

int64_t tsc_skipped_ns(void)
{
	int64_t ticks = -(int64_t)__atomic_load_n(&tsc_clock.lag, __ATOMIC_RELAXED);

	return ticks < 0 ? -(int64_t)tsc_to_ns((uint64_t)-ticks)
			 : (int64_t)tsc_to_ns((uint64_t)ticks);
}

void tsc_init(void)
{
	unsigned int eax, ebx, ecx, edx;

	tsc.invariant =
		__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & CPUID_INVARIANT_BIT);
	find_rate();
	last_look = read_both(CALIBRATE_TRIES);
	tsc_clock = (struct tsc_clock){.seen = last_look.ticks, .look = tsc.hz};
}
#else
int64_t tsc_skipped_ns(void)
{
	return 0;
}

void tsc_init(void)
{
	tsc.invariant = true;
	set_rate(NS_PER_S, "CLOCK_MONOTONIC itself");
}
#endif

uint64_t tsc_hz(void)
{
	return tsc.hz;
}

uint64_t tsc_to_ns(uint64_t ticks)
{
	return (uint64_t)((tsc_wide)ticks * tsc.ns_per_tick >> 32);
}

uint64_t tsc_from_ns(uint64_t ns)
{
	return (uint64_t)((tsc_wide)ns * tsc.hz / 1000000000u);
}

bool tsc_is_invariant(void)
{
	return tsc.invariant;
}

const char *tsc_source(void)
{
	return tsc.source;
}
