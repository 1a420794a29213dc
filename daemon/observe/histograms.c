/* SPDX-License-Identifier: MIT */
/* histograms.c - makes and fills the daemon's file of histograms and operations */
#include "histograms.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/shared_file.h"
#include "totals.h"

#define COUNT_BYTES (QUOIT_LATENCY_BUCKETS * sizeof(uint64_t))

struct histograms {
	struct quoit_histograms *file;
	size_t bytes;
	int fd; /* -1: no process sees it */
	uint32_t reactors, devices, cores;
};

#define LABEL(name, text) text,
static const char *const phases[QUOIT_PHASE_NR] = {QUOIT_PHASES(LABEL)};
#undef LABEL

static const unsigned device_phases[HISTOGRAMS_OF_DEVICE] = {
	[HISTOGRAMS_RUN] = QUOIT_PHASE_RUN,
	[HISTOGRAMS_POST] = QUOIT_PHASE_POST,
};

void histogram_tell(struct histogram *h, uint64_t *to)
{
	for (; h->changed; h->changed &= h->changed - 1) {
		unsigned first = (unsigned)__builtin_ctzll(h->changed) * QUOIT_LATENCY_PARTS;

		for (unsigned i = first; i < first + QUOIT_LATENCY_PARTS; i++)
			__atomic_store_n(&to[i], h->count[i], __ATOMIC_RELAXED);
	}
}

/* ---- layout ---- */

/* Each reactor's rows come first: its phases, then those of its devices.  The cores' follow. */
static uint32_t rows_of_reactor(const struct histograms *h)
{
	return QUOIT_PHASE_NR + h->devices * HISTOGRAMS_OF_DEVICE;
}

static uint32_t rows(const struct histograms *h)
{
	return h->reactors * rows_of_reactor(h) + h->cores;
}

static uint64_t *counts(const struct histograms *h, uint32_t row)
{
	return (uint64_t *)((uint8_t *)h->file + h->file->counts_at + row * COUNT_BYTES);
}

uint64_t *histograms_phase(const struct histograms *h, uint32_t reactor, unsigned phase)
{
	return counts(h, reactor * rows_of_reactor(h) + phase);
}

uint64_t *histograms_device(const struct histograms *h, uint32_t reactor, uint32_t device,
			    unsigned which)
{
	return counts(h, reactor * rows_of_reactor(h) + QUOIT_PHASE_NR +
				 (device - 1) * HISTOGRAMS_OF_DEVICE + which);
}

uint64_t *histograms_core(const struct histograms *h, uint32_t core)
{
	return counts(h, h->reactors * rows_of_reactor(h) + core);
}

struct quoit_operation_totals *histograms_operations(const struct histograms *h, uint32_t reactor)
{
	uint8_t *first = (uint8_t *)h->file + h->file->operations_at;

	return (struct quoit_operation_totals *)first + (size_t)reactor * QUOIT_OP_NR;
}

/* ---- making it ---- */

static uint32_t whole_lines(size_t bytes)
{
	return (uint32_t)((bytes + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE);
}

static struct quoit_histograms lay_out(const struct histograms *h)
{
	struct quoit_histograms f = {.buckets = QUOIT_LATENCY_BUCKETS,
				     .parts = QUOIT_LATENCY_PARTS,
				     .rows = rows(h),
				     .row_bytes = sizeof(struct quoit_histogram_row),
				     .operations = QUOIT_OP_NR,
				     .operation_bytes = sizeof(struct quoit_operation_totals)};

	f.rows_at = whole_lines(sizeof f);
	f.operations_at = whole_lines(f.rows_at + (size_t)f.rows * f.row_bytes);
	f.counts_at = whole_lines(f.operations_at +
				  (size_t)h->reactors * f.operations * f.operation_bytes);
	return f;
}

static void name_row(struct quoit_histogram_row **row, const char *label, uint32_t of,
		     uint32_t number, uint32_t reactor)
{
	**row = (struct quoit_histogram_row){.of = of, .number = number, .reactor = reactor};
	snprintf((*row)->label, sizeof(*row)->label, "%s", label);
	(*row)++;
}

static void name_rows(const struct histograms *h)
{
	struct quoit_histogram_row *row =
		(struct quoit_histogram_row *)((uint8_t *)h->file + h->file->rows_at);

	for (uint32_t r = 0; r < h->reactors; r++) {
		for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++)
			name_row(&row, phases[phase], QUOIT_OF_REACTOR, r, r);
		for (uint32_t d = 1; d <= h->devices; d++)
			for (unsigned i = 0; i < HISTOGRAMS_OF_DEVICE; i++)
				name_row(&row, phases[device_phases[i]], QUOIT_OF_DEVICE, d, r);
	}
	for (uint32_t i = 0; i < h->cores; i++)
		name_row(&row, QUOIT_TILE_LABEL, QUOIT_OF_CORE, i, 0);
}

struct histograms *histograms_open(int directory, uint32_t reactors, uint32_t devices,
				   uint32_t cores)
{
	struct histograms *h = calloc(1, sizeof *h);
	struct quoit_histograms head;
	bool is_file;

	if (!h)
		return NULL;
	h->reactors = reactors;
	h->devices = devices;
	h->cores = cores < QUOIT_MAX_CORES ? cores : QUOIT_MAX_CORES;
	head = lay_out(h);
	h->bytes = head.counts_at + head.rows * COUNT_BYTES;
	h->file = shared_file_map(directory, QUOIT_STATS_HISTOGRAMS, h->bytes, &h->fd, &is_file);
	if (!h->file) {
		free(h);
		return NULL;
	}
	*h->file = head;
	totals_fill_header(&h->file->header, (uint32_t)h->bytes, sizeof head, 0, reactors);
	name_rows(h);
	if (is_file)
		shared_file_show(directory, QUOIT_STATS_HISTOGRAMS, h->fd);
	return h;
}

void histograms_close(struct histograms *h, int directory)
{
	if (!h)
		return;
	shared_file_remove(h->file, h->bytes, h->fd, directory, QUOIT_STATS_HISTOGRAMS);
	free(h);
}
