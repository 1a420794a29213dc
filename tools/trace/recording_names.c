/* SPDX-License-Identifier: MIT */
/* recording_names.c - the names of operations, places and call sites */
#include <stdio.h>

#include "recording.h"

const char *recording_operation(unsigned opcode, char *ret, size_t size)
{
	static const char *const names[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) [nr] = #name,
#include <quoit/ops.def>
#undef QUOIT_OP
	};

	if (opcode < QUOIT_OP_NR && names[opcode])
		return names[opcode];
	snprintf(ret, size, "%s %u",
		 opcode >= QUOIT_OP_MODULE_FIRST ? "module operation" : "operation", opcode);
	return ret;
}

static void place_of_stream(unsigned index, char ret[RECORDING_PLACE_BYTES])
{
	const unsigned device = index / QUOIT_TRACE_STREAMS + 1;
	const unsigned stream = index % QUOIT_TRACE_STREAMS;

	if (stream == QUOIT_TRACE_DIRECT)
		snprintf(ret, RECORDING_PLACE_BYTES, "device %u, direct ring", device);
	else
		snprintf(ret, RECORDING_PLACE_BYTES, "device %u, stream %u", device, stream);
}

void recording_place(const struct recording_job *job, char ret[RECORDING_PLACE_BYTES])
{
	const unsigned reactor = job->session->s.reactor;

	if (job->place >= QUOIT_TRACE_STREAM)
		place_of_stream(job->place - QUOIT_TRACE_STREAM, ret);
	else if (job->place >= QUOIT_TRACE_DEVICE)
		snprintf(ret, RECORDING_PLACE_BYTES, "device %u", job->place - QUOIT_TRACE_DEVICE);
	else if (job->place >= QUOIT_TRACE_MODULE)
		snprintf(ret, RECORDING_PLACE_BYTES, "module %u", job->place - QUOIT_TRACE_MODULE);
	else if (job->place == QUOIT_TRACE_BRIDGE)
		snprintf(ret, RECORDING_PLACE_BYTES, "bridge between devices");
	else if (job->place == QUOIT_TRACE_TEAM)
		snprintf(ret, RECORDING_PLACE_BYTES, "functions of programs");
	else if (job->place == QUOIT_TRACE_SERVICE)
		snprintf(ret, RECORDING_PLACE_BYTES, "functions of services");
	else if (job->place == QUOIT_TRACE_KERNEL)
		snprintf(ret, RECORDING_PLACE_BYTES, "files of reactor %u", reactor);
	else if (job->place == QUOIT_TRACE_WORKERS)
		snprintf(ret, RECORDING_PLACE_BYTES, "workers of reactor %u", reactor);
	else if (job->place == QUOIT_TRACE_REACTOR)
		snprintf(ret, RECORDING_PLACE_BYTES, "reactor %u", reactor);
	else
		snprintf(ret, RECORDING_PLACE_BYTES, "nowhere");
}

const char *recording_site(const struct recording_session *s, unsigned ring, unsigned site)
{
	if (!s->names || ring >= QUOIT_SITE_RINGS || site >= QUOIT_MAX_SITES ||
	    !*s->names->name[ring][site])
		return RECORDING_UNKNOWN;
	return s->names->name[ring][site];
}
