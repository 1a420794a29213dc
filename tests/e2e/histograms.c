/* SPDX-License-Identifier: MIT */
/*
 * histograms.c - read quoitd's file of histograms and operations, as a program can with only the
 * header
 */
#include "histograms.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define PATIENCE 500 /* times 10 ms */

/* Read the whole file; the caller frees it. */
static uint8_t *read_file(const struct daemon *d)
{
	char path[256];
	struct stat st;
	uint8_t *bytes;
	int fd;

	snprintf(path, sizeof path, "%s/%s", d->folder, QUOIT_STATS_HISTOGRAMS);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_eq(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	cr_assert(bytes);
	cr_assert_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	cr_assert_eq(((struct quoit_histograms *)bytes)->header.file_bytes, st.st_size);
	close(fd);
	return bytes;
}

static bool is_row(const struct quoit_histogram_row *row, uint32_t of, int64_t number,
		   const char *label)
{
	return row->of == of && (number < 0 || row->number == number) && !strcmp(row->label, label);
}

uint64_t histograms_longer(const struct daemon *d, uint32_t of, int64_t number, const char *label,
			   double seconds)
{
	uint8_t *bytes = read_file(d);
	const struct quoit_histograms *h = (void *)bytes;
	const struct quoit_histogram_row *rows = (void *)(bytes + h->rows_at);
	const uint64_t *count = (void *)(bytes + h->counts_at);
	uint64_t all = 0;

	for (uint32_t i = 0; i < h->rows; i++)
		for (uint32_t k = 0; is_row(&rows[i], of, number, label) && k < h->buckets; k++)
			if ((double)quoit_latency_least(k) >= seconds * (double)h->header.tsc_hz)
				all += count[i * h->buckets + k];
	free(bytes);
	return all;
}

uint64_t histograms_count(const struct daemon *d, uint32_t of, int64_t number, const char *label)
{
	return histograms_longer(d, of, number, label, 0);
}

struct quoit_operation_totals histograms_operation(const struct daemon *d, uint8_t operation)
{
	uint8_t *bytes = read_file(d);
	const struct quoit_histograms *h = (void *)bytes;
	const struct quoit_operation_totals *one = (void *)(bytes + h->operations_at);
	struct quoit_operation_totals all = {0};

	for (uint32_t r = 0; r < h->header.reactors; r++) {
		const struct quoit_operation_totals *o = &one[r * h->operations + operation];

		all.jobs += o->jobs;
		all.timed += o->timed;
		all.ticks += o->ticks;
		all.bytes += o->bytes;
	}
	free(bytes);
	return all;
}

struct quoit_operation_totals histograms_wait(const struct daemon *d, uint8_t operation,
					      uint64_t jobs, uint64_t bytes)
{
	struct quoit_operation_totals o = histograms_operation(d, operation);

	for (int i = 0; i < PATIENCE && (o.jobs != jobs || o.bytes != bytes); i++) {
		usleep(10000);
		o = histograms_operation(d, operation);
	}
	return o;
}
