/* SPDX-License-Identifier: MIT */
/* fuzz_counters.c - any bytes as counter files: parsed or refused, nothing else */
#include <stdlib.h>

#include "counters.h"
#include "legs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counters_session session;
	struct counters_totals totals;
	static struct legs legs;

	(void)counters_parse_session(data, size, &session);
	if (counters_parse_totals(data, size, &totals) == 0 &&
	    (totals.reactors > QUOIT_MAX_REACTORS || totals.cores > QUOIT_MAX_CORES))
		abort();
	if (legs_parse(data, size, &legs) == 0)
		for (unsigned leg = 0; leg < QUOIT_LEG_NR; leg++)
			if (legs_percentile(&legs, leg, 99) > 0 && !legs_jobs(&legs, leg))
				abort();
	return 0;
}
