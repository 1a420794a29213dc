/* SPDX-License-Identifier: MIT */
/* device_places.c - bind the devices' processes to CPUs near their devices */
#include "device_places.h"

#include <string.h>

#include "base/affinity.h"
#include "base/log.h"
#include "machine/topology.h"

/* If memory runs out, the device's place stays unknown. */
static void find(struct device_places *p, uint32_t i, const char *address)
{
	p->device[i] = (struct placement_device){.reason = PLACEMENT_NEAR_NOTHING,
						 .node = TOPOLOGY_UNKNOWN,
						 .memory_node = TOPOLOGY_UNKNOWN};
	(void)placement_device_find(p->topology, &p->config, address, &p->device[i]);
	p->found[i] = true;
}

void device_places_bind(struct device_places *p, uint32_t number, const char *address, pid_t pid)
{
	const struct placement_device *d = &p->device[number - 1];
	int *error = &p->error[number - 1], err;

	if (!p->topology->this_machine) /* a described machine's CPU numbers are not this one's */
		return;
	if (!p->found[number - 1])
		find(p, number - 1, address);
	if (!d->nr_cpus)
		return;
	err = affinity_bind_process(pid, d->cpus, d->nr_cpus);
	if (err < 0 && !*error)
		log_warning("device %u: its process is not bound to node %d: %s", number, d->node,
			    strerror(-err));
	*error = err;
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
	for (uint32_t i = 0; i < CONFIG_DEVICES; i++)
		placement_device_done(&p->device[i]);
}
