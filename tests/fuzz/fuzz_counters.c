/* SPDX-License-Identifier: MIT */
/*
 * fuzz_counters.c - read any bytes as counter files: they are parsed or refused, without any other
 * effect
 */
#include <stdlib.h>
#include <string.h>

#include "read/counters.h"
#include "read/latency.h"
#include "read/timings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Everything that the file announces must lie in the file. */
static void read_timings(const uint8_t *data, size_t size)
{
	struct quoit_operation_totals operation;
	void *copy = malloc(size ? size : 1);
	struct timings t;

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (timings_parse(copy, size, &t) < 0) {
		free(copy);
		return;
	}
	(void)timings_percentile(NULL, &t, -1, 99);
	for (unsigned i = 0; i < QUOIT_OP_NR; i++)
		(void)timings_operation(&t, i, &operation);
	timings_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counters_session session;
	struct counters_totals totals;
	static struct latency latency;

	(void)counters_parse_session(data, size, &session);
	if (counters_parse_totals(data, size, &totals) == 0 &&
	    (totals.reactors > QUOIT_MAX_REACTORS || totals.cores > QUOIT_MAX_CORES))
		abort();
	if (latency_parse(data, size, &latency) == 0)
		for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++)
			if (latency_percentile(&latency, phase, 99) > 0 &&
			    !latency_jobs(&latency, phase))
				abort();
	read_timings(data, size);
	return 0;
}
