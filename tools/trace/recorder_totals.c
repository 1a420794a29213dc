/* SPDX-License-Identifier: MIT */
/* recorder_totals.c - write a sample of the work of reactors and cores */
#include "recorder_private.h"

void recorder_put_totals(struct recorder *r)
{
	static struct counters_totals totals;
	static struct {
		struct trace_totals head;
		uint64_t rest[(QUOIT_MAX_REACTORS * sizeof(struct trace_reactor) +
			       QUOIT_MAX_CORES * sizeof(struct trace_core)) /
			      8];
	} out;
	struct trace_reactor *reactor = (struct trace_reactor *)out.rest;
	struct trace_core *core;
	size_t bytes;

	if (counters_read_totals(r->directory, &totals) < 0)
		return;
	out.head = (struct trace_totals){recorder_ticks(), totals.reactors, totals.cores};
	for (unsigned i = 0; i < totals.reactors; i++) {
		const struct counters_reactor *from = &totals.reactor[i];

		*reactor++ = (struct trace_reactor){from->cpu, from->node,
						    from->value[QUOIT_REACTOR_WORK_TICKS].value,
						    from->value[QUOIT_REACTOR_POLL_TICKS].value};
	}
	core = (struct trace_core *)reactor;
	for (unsigned i = 0; i < totals.cores; i++)
		*core++ = (struct trace_core){totals.core[i].cpu, totals.core[i].node,
					      totals.core[i].value[QUOIT_CORE_TILE_TICKS].value};
	bytes = (size_t)((uint8_t *)core - (uint8_t *)&out);
	if (trace_writer_has_room(&r->writer, bytes))
		trace_writer_put(&r->writer, TRACE_TOTALS, 0, &out, bytes);
}
