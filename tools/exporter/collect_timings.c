/* SPDX-License-Identifier: MIT */
/* collect_timings.c - write the metrics of quoitd's histograms and operations */
#include "collect_timings.h"

#include <inttypes.h>
#include <string.h>

#include "collect_buckets.h"
#include "read/limit.h"
#include "read/timings.h"

#define LABEL(name, text) text,
static const char *const phases[QUOIT_PHASE_NR] = {QUOIT_PHASES(LABEL)};
#undef LABEL

#define BY_SAMPLES "on one job in 64, which stands for all, and on long ones."

/* ---- histograms ---- */

/* Write the sum of the histograms with this label, if there are any. */
static void write_sum(struct exposition *e, const struct timings *t, uint32_t of, uint32_t number,
		      const char *label, const struct exposition_label *labels)
{
	uint64_t count[QUOIT_LATENCY_BUCKETS];

	if (timings_sum(t, of, number, label, count))
		collect_buckets(e, labels, count, t->tick_ns, COLLECT_COARSE);
}

/* The totals have no times that only clients know: these histograms are always empty. */
static bool is_told_by_clients(unsigned phase)
{
	return phase == QUOIT_PHASE_SUBMIT || phase == QUOIT_PHASE_REAP;
}

static void write_latency(struct exposition *e, const struct timings *t, uint32_t of,
			  const char *name, uint32_t first, uint32_t end)
{
	char number[12];

	for (uint32_t i = first; i < end; i++)
		for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++) {
			const struct exposition_label labels[] = {
				{name, number}, {"phase", phases[phase]}, {0}};

			snprintf(number, sizeof number, "%" PRIu32, i);
			if (!is_told_by_clients(phase))
				write_sum(e, t, of, i, phases[phase], labels);
		}
}

/*
 * One more than the last device with histograms in the file; only devices up to there are looked
 * up.
 */
static uint32_t end_of_devices(const struct timings *t)
{
	uint32_t end = 1;

	for (unsigned i = 0; i < t->head.rows; i++) {
		struct timings_row row;

		timings_row(t, i, &row);
		if (row.of == QUOIT_OF_DEVICE && row.number >= end && row.number < UINT8_MAX)
			end = row.number + 1;
	}
	return end;
}

static void write_cores(struct exposition *e, const struct timings *t,
			const struct counters_totals *totals)
{
	char cpu[12], node[12];

	for (unsigned i = 0; i < totals->cores; i++) {
		int32_t on = totals->core[i].node;
		const struct exposition_label labels[] = {
			{"cpu", cpu}, {"node", on < 0 ? NULL : node}, {0}};

		snprintf(cpu, sizeof cpu, "%" PRId32, totals->core[i].cpu);
		snprintf(node, sizeof node, "%" PRId32, on);
		write_sum(e, t, QUOIT_OF_CORE, i, QUOIT_TILE_LABEL, labels);
	}
}

/* Write the histograms from which `quoit stat` has its percentiles. */
static void write_jobs(struct exposition *e, const struct timings *t, uint32_t reactors)
{
	uint64_t all[QUOIT_LATENCY_BUCKETS] = {0}, one[QUOIT_LATENCY_BUCKETS];
	bool any = false;

	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_job_seconds",
			   .type = EXPOSITION_HISTOGRAM,
			   .unit = "seconds",
			   .help = "Time from a job's fetch to its end, over all reactors; "
				   "percentiles are within 1.3 times of those of quoit stat.  "
				   "Measured " BY_SAMPLES});
	for (uint32_t i = 0; i < reactors; i++) {
		if (!timings_sum(t, QUOIT_OF_REACTOR, i, phases[QUOIT_PHASE_WHOLE], one))
			continue;
		any = true;
		for (unsigned b = 0; b < QUOIT_LATENCY_BUCKETS; b++)
			all[b] += one[b];
	}
	if (any)
		collect_buckets(e, (struct exposition_label[]){{0}}, all, t->tick_ns, COLLECT_FINE);
}

static void write_histograms(struct exposition *e, const struct timings *t,
			     const struct counters_totals *totals)
{
	if (t->tick_ns <= 0)
		return;
	write_jobs(e, t, totals->reactors);
	exposition_family(
		e,
		&(struct exposition_family){
			.name = "quoit_reactor_latency_seconds",
			.type = EXPOSITION_HISTOGRAM,
			.unit = "seconds",
			.help = "Time that a reactor's jobs spend in each phase.  Measured " BY_SAMPLES});
	write_latency(e, t, QUOIT_OF_REACTOR, "reactor", 0, totals->reactors);
	exposition_family(
		e,
		&(struct exposition_family){
			.name = "quoit_device_latency_seconds",
			.type = EXPOSITION_HISTOGRAM,
			.unit = "seconds",
			.help = "Time that jobs on a device spend in each phase.  Measured " BY_SAMPLES});
	write_latency(e, t, QUOIT_OF_DEVICE, "device", 1, end_of_devices(t));
	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_core_tile_duration_seconds",
			   .type = EXPOSITION_HISTOGRAM,
			   .unit = "seconds",
			   .help = "Time that tiles took on this core; a tile is a piece of a long "
				   "job that one core runs."});
	write_cores(e, t, totals);
}

/* ---- operations ---- */

struct operation {
	char name[32];
	struct quoit_operation_totals done;
};

/* Find the operations that were used, one row for each name; returns their number. */
static unsigned find_operations(const struct timings *t, struct operation ret[QUOIT_OP_NR])
{
	struct operation none = {.name = "none"}; /* all numbers that are not an operation */
	unsigned count = 0;

	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		struct operation one;
		bool is_module = i >= QUOIT_OP_MODULE_FIRST && i <= QUOIT_OP_MODULE_LAST;

		if (!timings_operation(t, i, &one.done) || !one.done.jobs)
			continue;
		snprintf(one.name, sizeof one.name, "%s", limits_operation(i));
		if (is_module)
			snprintf(one.name, sizeof one.name, "module_%u", i);
		if (*one.name == '(')
			none.done.jobs += one.done.jobs;
		else
			ret[count++] = one;
	}
	if (none.done.jobs && count < QUOIT_OP_NR)
		ret[count++] = none;
	return count;
}

/*
 * Each timed job counts as one.  To scale the sum up to all jobs would be better for rare
 * operations, but such a sum could fall.
 */
static double run_seconds(const struct quoit_operation_totals *o, double tick_ns)
{
	return (double)o->ticks * tick_ns / 1e9;
}

static void write_operations(struct exposition *e, const struct timings *t)
{
	static struct operation list[QUOIT_OP_NR];
	unsigned count = find_operations(t, list);

	exposition_family(e, &(struct exposition_family){.name = "quoit_operation_jobs",
							 .type = EXPOSITION_COUNTER,
							 .help = "Jobs (SQEs) of an operation."});
	for (unsigned i = 0; i < count; i++)
		exposition_count(e, (struct exposition_label[]){{"operation", list[i].name}, {0}},
				 list[i].done.jobs);
	exposition_family(e, &(struct exposition_family){
				     .name = "quoit_operation_moved_bytes",
				     .type = EXPOSITION_COUNTER,
				     .unit = "bytes",
				     .help = "Bytes that jobs of an operation read and wrote."});
	for (unsigned i = 0; i < count; i++)
		exposition_count(e, (struct exposition_label[]){{"operation", list[i].name}, {0}},
				 list[i].done.bytes);
	exposition_family(
		e,
		&(struct exposition_family){
			.name = "quoit_operation_run_seconds",
			.type = EXPOSITION_COUNTER,
			.unit = "seconds",
			.help = "Time that jobs of an operation ran, summed up.  Measured " BY_SAMPLES});
	for (unsigned i = 0; t->tick_ns > 0 && i < count; i++)
		exposition_real(e, (struct exposition_label[]){{"operation", list[i].name}, {0}},
				run_seconds(&list[i].done, t->tick_ns));
}

void collect_timings(struct exposition *e, const struct counters_totals *totals, int directory)
{
	struct timings t;

	if (timings_read(directory, &t) < 0)
		return;
	if (timings_is_of(&t, totals->origin.daemon_pid, totals->origin.started_ns)) {
		write_histograms(e, &t, totals);
		write_operations(e, &t);
	}
	timings_free(&t);
}
