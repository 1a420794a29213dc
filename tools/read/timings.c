/* SPDX-License-Identifier: MIT */
/* timings.c - read quoitd's file of histograms and operations */
#include "timings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buckets.h"
#include "counters.h"

/* three quarters of this is what 64 reactors, 8 devices and 1024 cores need */
#define MOST_BYTES  (64u << 20)
#define COUNT_BYTES (QUOIT_LATENCY_BUCKETS * sizeof(uint64_t))

#define LABEL(name, text) text,
static const char *const labels[QUOIT_PHASE_NR] = {QUOIT_PHASES(LABEL)};
#undef LABEL

/* ---- reading ---- */

/* Do `count` items of this size, from this offset on, lie within the file? */
static bool is_in(const struct quoit_histograms *f, uint64_t at, uint64_t count, uint64_t bytes)
{
	uint64_t size = f->header.file_bytes;

	return at <= size && (!bytes || count <= (size - at) / bytes);
}

static int check(const struct quoit_histograms *f, size_t size)
{
	const struct quoit_stats_header *h = &f->header;

	if (size < sizeof *f || h->magic != QUOIT_STATS_MAGIC)
		return -EBADMSG;
	if (h->version != QUOIT_STATS_VERSION || h->label_bytes != QUOIT_LABEL_BYTES ||
	    f->buckets != QUOIT_LATENCY_BUCKETS || f->parts != QUOIT_LATENCY_PARTS)
		return -EPROTONOSUPPORT;
	if (h->file_bytes > size || h->header_bytes < sizeof *f ||
	    h->header_bytes > h->file_bytes || h->reactors > QUOIT_MAX_REACTORS ||
	    f->row_bytes < sizeof(struct quoit_histogram_row) ||
	    f->operation_bytes < sizeof(struct quoit_operation_totals) ||
	    !is_in(f, f->rows_at, f->rows, f->row_bytes) ||
	    !is_in(f, f->counts_at, f->rows, COUNT_BYTES) ||
	    !is_in(f, f->operations_at, (uint64_t)h->reactors * f->operations, f->operation_bytes))
		return -EBADMSG;
	return 0;
}

int timings_parse(void *bytes, size_t size, struct timings *ret)
{
	int err;

	*ret = (struct timings){0};
	memcpy(&ret->head, bytes, size < sizeof ret->head ? size : sizeof ret->head);
	err = check(&ret->head, size);
	if (err)
		return err;
	ret->bytes = bytes;
	if (ret->head.header.tsc_hz)
		ret->tick_ns = 1e9 / (double)ret->head.header.tsc_hz;
	return 0;
}

int timings_read(int directory, struct timings *ret)
{
	char *buffer = malloc(MOST_BYTES), *shorter;
	int64_t n;
	int err;

	*ret = (struct timings){0};
	if (!buffer)
		return -ENOMEM;
	n = counters_read_file(directory, QUOIT_STATS_HISTOGRAMS, buffer, MOST_BYTES);
	shorter = n > 0 ? realloc(buffer, (size_t)n) : NULL;
	buffer = shorter ? shorter : buffer;
	err = n < 0 ? (int)n : timings_parse(buffer, (size_t)n, ret);
	if (err)
		free(buffer);
	return err;
}

void timings_free(struct timings *t)
{
	free(t->bytes);
	*t = (struct timings){0};
}

bool timings_is_of(const struct timings *t, uint32_t daemon_pid, uint64_t started_ns)
{
	return t->bytes && t->head.header.daemon_pid == daemon_pid &&
	       t->head.header.started_ns >= started_ns;
}

/* ---- contents ---- */

static const uint8_t *at(const struct timings *t, uint64_t offset)
{
	return (const uint8_t *)t->bytes + offset;
}

void timings_row(const struct timings *t, unsigned i, struct timings_row *ret)
{
	struct quoit_histogram_row row;

	memcpy(&row, at(t, t->head.rows_at + (uint64_t)i * t->head.row_bytes), sizeof row);
	*ret = (struct timings_row){.of = row.of, .number = row.number, .reactor = row.reactor};
	memcpy(ret->label, row.label, sizeof row.label);
}

void timings_add(const struct timings *t, unsigned i, uint64_t count[QUOIT_LATENCY_BUCKETS])
{
	const uint8_t *from = at(t, t->head.counts_at + i * COUNT_BYTES);

	for (unsigned k = 0; k < QUOIT_LATENCY_BUCKETS; k++) {
		uint64_t more;

		memcpy(&more, from + k * sizeof more, sizeof more);
		count[k] += more;
	}
}

bool timings_sum(const struct timings *t, uint32_t of, int64_t number, const char *label,
		 uint64_t ret[QUOIT_LATENCY_BUCKETS])
{
	bool any = false;

	memset(ret, 0, COUNT_BYTES);
	for (unsigned i = 0; t->bytes && i < t->head.rows; i++) {
		struct timings_row row;

		timings_row(t, i, &row);
		if (row.of != of || (number >= 0 && row.number != number) ||
		    strcmp(row.label, label) != 0)
			continue;
		any = true;
		timings_add(t, i, ret);
	}
	return any;
}

bool timings_phase_since(const struct timings *from, const struct timings *to, uint32_t of,
			 int64_t number, unsigned phase, uint64_t ret[QUOIT_LATENCY_BUCKETS])
{
	uint64_t before[QUOIT_LATENCY_BUCKETS];

	if (!timings_sum(to, of, number, labels[phase], ret) ||
	    (from && !timings_sum(from, of, number, labels[phase], before)))
		return false;
	for (unsigned i = 0; from && i < QUOIT_LATENCY_BUCKETS; i++)
		ret[i] = ret[i] > before[i] ? ret[i] - before[i] : 0;
	return true;
}

double timings_percentile(const struct timings *from, const struct timings *to, int reactor,
			  double percent)
{
	uint64_t count[QUOIT_LATENCY_BUCKETS];
	double ticks;

	if (!timings_phase_since(from, to, QUOIT_OF_REACTOR, reactor, QUOIT_PHASE_WHOLE, count))
		return -1;
	ticks = buckets_percentile(count, percent);
	return ticks >= 0 && to->tick_ns > 0 ? ticks * to->tick_ns : -1;
}

bool timings_operation(const struct timings *t, unsigned operation,
		       struct quoit_operation_totals *ret)
{
	const struct quoit_histograms *f = &t->head;

	*ret = (struct quoit_operation_totals){0};
	if (!t->bytes || operation >= f->operations)
		return false;
	for (unsigned r = 0; r < f->header.reactors; r++) {
		uint64_t block = (uint64_t)r * f->operations + operation;
		struct quoit_operation_totals one;

		memcpy(&one, at(t, f->operations_at + block * f->operation_bytes), sizeof one);
		ret->jobs += one.jobs;
		ret->timed += one.timed;
		ret->ticks += one.ticks;
		ret->bytes += one.bytes;
	}
	return true;
}
