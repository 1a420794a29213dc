/* SPDX-License-Identifier: MIT */
/* engine_tell.c - writes what was found and chosen, for `quoit topo` */
#include "engine_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text_file.h"
#include "base/tsc.h"
#include "processes/executors.h"

#define DESCRIPTION_BYTES 16384

struct found {
	const struct engine *machine;
	const struct executors *executors;
};

static void describe_placement(FILE *f, const struct engine *m)
{
	struct placement_config c = engine_placement_wishes(m);
	char *text = malloc(DESCRIPTION_BYTES);

	if (!text)
		return;
	placement_describe(m->plan, m->topology, &c, text, DESCRIPTION_BYTES);
	fputs(text, f);
	free(text);
}

static void describe(FILE *f, const void *from)
{
	const struct found *found = from;
	const struct engine *m = found->machine;

	describe_placement(f, m);
	fprintf(f, "clock: TSC at %.3f MHz, %s\n", (double)tsc_hz() / 1e6, tsc_source());
	fprintf(f, "kernels: %s\n", m->ops.isa);
	if (*m->config->disable)
		fprintf(f, "switched off: %s\n", m->config->disable);
	/* A slow machine, such as an emulated one, has less than one; print that, not 0. */
	fprintf(f, "blas: %s, %.*f GFLOP/s a core; %s\n", m->ops.blas,
		m->ops.gemm_gflops < 10 ? 3 : 0, m->ops.gemm_gflops, m->ops.why);
	fprintf(f, "bfloat16 products: by %s\n", m->ops.bf16);
	fprintf(f, "files: by %s\n",
		m->features.missing[FEATURE_IO_URING] ? "threads" : "io_uring");
	if (!m->config->is_private)
		fprintf(f, "files of other users are written to on: %s\n",
			*m->config->file_systems ? m->config->file_systems : "none");
	features_describe(&m->features, f);
	fprintf(f, "memory: %llu MiB for all leases\n",
		(unsigned long long)m->config->memory >> 20);
	if (executors_devices(found->executors))
		fprintf(f, "memory of each device: %llu MiB for all leases\n",
			(unsigned long long)executors_lease_bytes(found->executors) >> 20);
	if (found->executors)
		executors_describe(found->executors, f);
	device_places_describe(&m->places, m->plan, f);
	if (!*m->gpu.kind)
		fprintf(f, "device: none, %s\n", m->gpu.why);
}

void engine_tell_topology(const struct engine *m, const struct executors *e)
{
	const struct found found = {m, e};

	text_file_write(m->directory, QUOIT_STATS_TOPOLOGY, describe, &found);
}
