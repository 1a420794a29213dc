/* SPDX-License-Identifier: MIT */
/* follow_devices.c - compute from quoitd's histograms what jobs did on devices */
#include "follow.h"
#include "read/buckets.h"

/* The histograms are long, and reactors update them seldom, so they are read at most this often. */
#define LOOK_LEAST_NS UINT64_C(900000000)

static const struct device_figures unknown = {-1, -1, -1, -1};

/* Figures between two readings; from NULL: since quoitd started. */
static struct device_figures figures_of(const struct timings *from, const struct timings *to,
					unsigned device, double span_ns)
{
	uint64_t count[QUOIT_LATENCY_BUCKETS];
	struct device_figures d;

	if (!timings_phase_since(from, to, QUOIT_OF_DEVICE, device, QUOIT_PHASE_RUN, count) ||
	    span_ns <= 0 || to->tick_ns <= 0)
		return unknown;
	d.jobs = (double)buckets_count(count) / span_ns * 1e9;
	d.at_once = buckets_sum(count) * to->tick_ns / span_ns;
	d.p50 = buckets_percentile(count, 50) * to->tick_ns;
	d.p99 = buckets_percentile(count, 99) * to->tick_ns;
	return d;
}

/* False: the file cannot be read, or a former quoitd left it. */
static bool read_now(struct follow *f, struct timings *ret)
{
	const struct counters_origin *o = &follow_now(f)->origin;

	if (timings_read(f->files.directory, ret) < 0)
		return false;
	if (timings_is_of(ret, o->daemon_pid, o->started_ns))
		return true;
	timings_free(ret);
	return false;
}

static void compare(struct follow *f, const struct timings *now)
{
	const struct counters_origin *o = &follow_now(f)->origin;
	const struct timings *before = &f->timings;
	uint64_t since = f->timings_ns;

	if (!before->bytes || !timings_is_of(before, o->daemon_pid, o->started_ns)) {
		before = NULL;
		since = o->started_ns;
	}
	for (unsigned i = 0; i < f->devices; i++)
		f->device[i] = figures_of(before, now, i + 1, (double)f->read_ns - (double)since);
}

void follow_look_at_devices(struct follow *f)
{
	const struct counter *devices = &follow_now(f)->value[QUOIT_DAEMON_DEVICES];
	struct timings now = {0};

	f->devices =
		devices->known && devices->value <= FOLLOW_DEVICES ? (unsigned)devices->value : 0;
	if (!f->devices ||
	    (f->timings.bytes && follow_before(f) && f->read_ns - f->timings_ns < LOOK_LEAST_NS))
		return;
	if (!read_now(f, &now)) {
		for (unsigned i = 0; i < f->devices; i++)
			f->device[i] = unknown;
		return;
	}
	compare(f, &now);
	timings_free(&f->timings);
	f->timings = now;
	f->timings_ns = f->read_ns;
}
