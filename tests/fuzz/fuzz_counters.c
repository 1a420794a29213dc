/* SPDX-License-Identifier: MIT */
/* fuzz_counters.c - any bytes as counter files: parsed or refused, nothing else */
#include <stdlib.h>

#include "counters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counters_session session;
	struct counters_totals totals;

	(void)counters_parse_session(data, size, &session);
	if (counters_parse_totals(data, size, &totals) == 0 &&
	    (totals.reactors > QUOIT_MAX_REACTORS || totals.cores > QUOIT_MAX_CORES))
		abort();
	return 0;
}
