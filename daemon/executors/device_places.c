/* SPDX-License-Identifier: MIT */
/* device_places.c - the devices' processes put where they belong */
#include "device_places.h"

#include <string.h>

#include "host/affinity.h"
#include "host/log.h"
#include "host/topology.h"

void device_places_find(struct device_places *p, const struct executors *e,
			const struct topology *topology, const struct placement_config *config)
{
	/* A described machine's numbers are not to be bound to. */
	if (p->found || !topology->this_machine)
		return;
	p->found = true;
	for (uint32_t i = 0; i < executors_devices(e); i++) {
		const char *address = executors_device(e, i + 1)->address;

		if (placement_device_find(topology, config, address, &p->device[i]) < 0)
			return;
		p->count++;
	}
}

static void bind_one(struct device_places *p, uint32_t i, uint32_t owner, pid_t pid)
{
	const struct placement_device *d = &p->device[i];
	int err;

	if (!pid || pid == p->bound[i][owner] || !d->nr_cpus)
		return;
	err = affinity_bind_process(pid, d->cpus, d->nr_cpus);
	if (err < 0 && !p->error[i])
		log_warning("device %u: its process is not bound to node %d: %s", i + 1, d->node,
			    strerror(-err));
	p->bound[i][owner] = pid;
	p->error[i] = err;
}

void device_places_bind(struct device_places *p, const struct executors *e)
{
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t owner = 0; owner <= CONFIG_OWN_USERS; owner++)
			bind_one(p, i, owner, executors_device_pid(e, i + 1, owner));
}

void device_places_describe(const struct device_places *p, const struct placement *plan, FILE *out)
{
	for (uint32_t i = 0; i < p->count; i++) {
		placement_device_describe(&p->device[i], i + 1, plan, out);
		if (p->error[i] < 0)
			fprintf(out, "; but the process is not bound: %s", strerror(-p->error[i]));
		fprintf(out, "\n");
	}
}

void device_places_done(struct device_places *p)
{
	for (uint32_t i = 0; i < p->count; i++)
		placement_device_done(&p->device[i]);
}
