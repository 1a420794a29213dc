/* SPDX-License-Identifier: MIT */
/* topology.c - reads the machine as plain data, with hwloc */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>
#include <quoit/number_list.h>

#include "topology.h"
#include "base/log.h"
#include "load_guard.h"

enum { DISTANCE_LOCAL = 10, DISTANCE_REMOTE = 20 };

/* hwloc fails without an errno in some places; then the source is bad. */
static int hwloc_error(void)
{
	return errno ? -errno : -EINVAL;
}

static bool is_xml_path(const char *source)
{
	const char *dot = strrchr(source, '.');

	return dot && strcmp(dot, ".xml") == 0;
}

/*
 * hwloc obeys variables with this prefix.  A person or a launcher of jobs may have left them, and
 * the topology of another machine would put threads on CPUs that do not exist.
 */
#define HWLOC_VARIABLES "HWLOC_"

static void say_ignored(void)
{
	for (char **variable = environ; *variable; variable++)
		if (!strncmp(*variable, HWLOC_VARIABLES, strlen(HWLOC_VARIABLES)))
			log_info(
				"%.*s in the environment is ignored: quoitd looks at the machine itself",
				(int)strcspn(*variable, "="), *variable);
}

/*
 * Plug-ins of hwloc (OpenCL's, X11's) would load whatever drivers are installed into quoitd, which
 * needs nothing that they tell.  Only a variable keeps them away.
 */
static void keep_plug_ins_away(void)
{
	(void)setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
}

static int load_machine(const char *source, hwloc_topology_t *ret_machine)
{
	hwloc_topology_t machine;
	int rc = 0;

	errno = 0;
	if (hwloc_topology_init(&machine))
		return hwloc_error();
	if (source && is_xml_path(source))
		rc = hwloc_topology_set_xml(machine, source);
	else if (source)
		rc = hwloc_topology_set_synthetic(machine, source);
	/*
	 * Disallowed objects are wanted too, to report them.  Besides, no cpuset ever holds a node
	 * without memory, which hwloc would then leave out together with its distances.  Only PCI
	 * devices are wanted: for devices of the operating system, hwloc's plug-ins would ask the
	 * drivers of the GPUs, which must stay out of this process.
	 */
	if (rc || hwloc_topology_set_flags(machine, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) ||
	    hwloc_topology_set_type_filter(machine, HWLOC_OBJ_PCI_DEVICE,
					   HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
	    hwloc_topology_load(machine)) {
		rc = hwloc_error();
		hwloc_topology_destroy(machine);
		return rc;
	}
	*ret_machine = machine;
	return 0;
}

static int read_nodes(hwloc_topology_t machine, struct topology *topology)
{
	hwloc_const_nodeset_t allowed = hwloc_topology_get_allowed_nodeset(machine);
	unsigned int number;

	topology->nodes = calloc((size_t)hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_NUMANODE),
				 sizeof(*topology->nodes));
	if (!topology->nodes)
		return -ENOMEM;
	hwloc_bitmap_foreach_begin(number, hwloc_topology_get_topology_nodeset(machine))
	{
		hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(machine, number);

		topology->nodes[topology->nr_nodes++] = (struct topology_node){
			.node = number,
			.memory_bytes = object->attr->numanode.local_memory,
			.memory_allowed = hwloc_bitmap_isset(allowed, number),
		};
	}
	hwloc_bitmap_foreach_end();
	return 0;
}

static uint32_t node_index(const struct topology *topology, uint32_t node)
{
	uint32_t i = 0;

	while (topology->nodes[i].node != node)
		i++;
	return i;
}

static int read_distances(hwloc_topology_t machine, struct topology *topology)
{
	struct hwloc_distances_s *known;
	uint32_t nr = topology->nr_nodes, from, to;
	unsigned int count = 1;

	topology->distance = calloc((size_t)nr * nr, sizeof(*topology->distance));
	if (!topology->distance)
		return -ENOMEM;
	for (from = 0; from < nr; from++)
		for (to = 0; to < nr; to++)
			topology->distance[from * nr + to] =
				from == to ? DISTANCE_LOCAL : DISTANCE_REMOTE;

	if (hwloc_distances_get_by_name(machine, "NUMALatency", &count, &known, 0) || count == 0)
		return 0;
	for (from = 0; from < known->nbobjs; from++)
		for (to = 0; to < known->nbobjs; to++)
			topology->distance[node_index(topology, known->objs[from]->os_index) * nr +
					   node_index(topology, known->objs[to]->os_index)] =
				(uint32_t)known->values[from * known->nbobjs + to];
	hwloc_distances_release(machine, known);
	topology->knows_distances = true;
	return 0;
}

/* The node of a core, by the rule at struct topology_core. */
static uint32_t home_node(hwloc_topology_t machine, const struct topology *topology,
			  hwloc_const_cpuset_t cpus)
{
	uint32_t home = topology->nodes[0].node, i;
	int least = INT_MAX;

	for (i = 0; i < topology->nr_nodes; i++) {
		hwloc_const_cpuset_t around =
			hwloc_get_numanode_obj_by_os_index(machine, topology->nodes[i].node)
				->cpuset;
		int weight = hwloc_bitmap_weight(around);

		if (hwloc_bitmap_isincluded(cpus, around) && weight < least) {
			least = weight;
			home = topology->nodes[i].node;
		}
	}
	return home;
}

static int32_t number_above(hwloc_topology_t machine, hwloc_obj_type_t type, hwloc_obj_t object)
{
	hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(machine, type, object);

	return above ? (int32_t)above->logical_index : TOPOLOGY_UNKNOWN;
}

static void add_core(hwloc_topology_t machine, struct topology *topology, hwloc_obj_t object)
{
	struct topology_core *core = &topology->cores[topology->nr_cores++];
	int32_t package = number_above(machine, HWLOC_OBJ_PACKAGE, object);

	core->package = package == TOPOLOGY_UNKNOWN ? 0 : (uint32_t)package;
	core->node = home_node(machine, topology, object->cpuset);
	core->l2 = number_above(machine, HWLOC_OBJ_L2CACHE, object);
	core->l3 = number_above(machine, HWLOC_OBJ_L3CACHE, object);
	if (core->l2 != TOPOLOGY_UNKNOWN || core->l3 != TOPOLOGY_UNKNOWN)
		topology->knows_caches = true;
}

/* If the source tells no cores (some virtual machines), each PU is a core. */
static int read_cores(hwloc_topology_t machine, struct topology *topology)
{
	size_t nr = (size_t)hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
	hwloc_obj_t pu = NULL, core, last = NULL;

	topology->pus = calloc(nr, sizeof(*topology->pus));
	topology->cores = calloc(nr, sizeof(*topology->cores));
	if (!topology->pus || !topology->cores)
		return -ENOMEM;
	while ((pu = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, pu))) {
		core = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, pu);
		if (!core)
			core = pu;
		if (core != last)
			add_core(machine, topology, core);
		last = core;
		topology->pus[topology->nr_pus++] = (struct topology_pu){
			.cpu = pu->os_index,
			.core = topology->nr_cores - 1,
		};
	}
	return 0;
}

static int mark_allowed(hwloc_topology_t machine, struct topology *topology, const char *list)
{
	hwloc_bitmap_t mask = hwloc_bitmap_alloc_full();
	uint32_t i;
	int rc = 0;

	if (!mask)
		return -ENOMEM;
	if (topology->this_machine && hwloc_get_cpubind(machine, mask, HWLOC_CPUBIND_THREAD))
		rc = hwloc_error();
	hwloc_bitmap_and(mask, mask, hwloc_topology_get_allowed_cpuset(machine));
	for (i = 0; i < topology->nr_pus && rc >= 0; i++) {
		struct topology_pu *pu = &topology->pus[i];

		rc = list ? topology_list_has(list, pu->cpu) : 1;
		pu->allowed = rc > 0 && hwloc_bitmap_isset(mask, pu->cpu);
	}
	hwloc_bitmap_free(mask);
	return rc < 0 ? rc : 0;
}

/* PCI base class 0x03 is display (0x0302: 3D), 0x12 accelerator; 0x0b40 is co-processor. */
static bool is_compute_class(uint16_t class)
{
	return class >> 8 == 0x03 || class >> 8 == 0x12 || class == 0x0b40;
}

/* The node to which all cores near the device belong; unknown if they belong to several. */
static int32_t device_node(hwloc_topology_t machine, const struct topology *topology,
			   hwloc_obj_t device)
{
	hwloc_const_cpuset_t near = hwloc_get_non_io_ancestor_obj(machine, device)->cpuset;
	int32_t node = TOPOLOGY_UNKNOWN;
	uint32_t i;

	for (i = 0; i < topology->nr_pus; i++) {
		int32_t home = (int32_t)topology->cores[topology->pus[i].core].node;

		if (!hwloc_bitmap_isset(near, topology->pus[i].cpu))
			continue;
		if (node != TOPOLOGY_UNKNOWN && node != home)
			return TOPOLOGY_UNKNOWN;
		node = home;
	}
	return node;
}

static int read_devices(hwloc_topology_t machine, struct topology *topology)
{
	hwloc_obj_t object = NULL;
	size_t nr = 0;

	while ((object = hwloc_get_next_pcidev(machine, object)))
		nr += is_compute_class(object->attr->pcidev.class_id);
	topology->devices = calloc(nr ? nr : 1, sizeof(*topology->devices));
	if (!topology->devices)
		return -ENOMEM;
	while ((object = hwloc_get_next_pcidev(machine, object))) {
		const struct hwloc_pcidev_attr_s *pci = &object->attr->pcidev;
		struct topology_device *device = &topology->devices[topology->nr_devices];

		if (!is_compute_class(pci->class_id))
			continue;
		snprintf(device->address, sizeof(device->address), "%04x:%02x:%02x.%x", pci->domain,
			 pci->bus, pci->dev, pci->func);
		device->vendor = pci->vendor_id;
		device->device = pci->device_id;
		device->class = pci->class_id;
		device->node = device_node(machine, topology, object);
		topology->nr_devices++;
	}
	return 0;
}

int topology_read(const char *source, const char *allowed, struct topology **ret_topology)
{
	struct topology *topology;
	struct load_guard guard; /* hwloc loads libraries */
	hwloc_topology_t machine;
	int rc;

	say_ignored();
	load_guard_begin(&guard, (const char *const[]){HWLOC_VARIABLES, NULL});
	keep_plug_ins_away();
	rc = load_machine(source, &machine);
	load_guard_end(&guard, "hwloc");
	if (rc)
		return rc;
	topology = calloc(1, sizeof(*topology));
	if (!topology) {
		hwloc_topology_destroy(machine);
		return -ENOMEM;
	}
	topology->this_machine = hwloc_topology_is_thissystem(machine);
	topology->nr_packages = (uint32_t)hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PACKAGE);
	rc = read_nodes(machine, topology);
	rc = rc ? rc : read_distances(machine, topology);
	rc = rc ? rc : read_cores(machine, topology);
	rc = rc ? rc : mark_allowed(machine, topology, allowed);
	rc = rc ? rc : read_devices(machine, topology);
	hwloc_topology_destroy(machine);
	if (rc) {
		topology_free(topology);
		return rc;
	}
	*ret_topology = topology;
	return 0;
}

void topology_free(struct topology *topology)
{
	if (!topology)
		return;
	free(topology->nodes);
	free(topology->cores);
	free(topology->pus);
	free(topology->devices);
	free(topology->distance);
	free(topology);
}

int topology_list_has(const char *list, uint32_t cpu)
{
	unsigned long first, last;
	bool has = false;

	do {
		if (!quoit_number_list_take(&list, &first, &last) || last > INT_MAX)
			return -EINVAL;
		has |= first <= cpu && cpu <= last;
	} while (*list);
	return has;
}
