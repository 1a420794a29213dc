/* SPDX-License-Identifier: MIT */
/* hello_place.c - chooses a new session's reactor and the nodes of its memory */
#include "hello_place.h"

#include <stdio.h>
#include <string.h>

#include "memory/bind.h"

/* The CPU on which the client last ran, from /proc; UINT32_MAX: it cannot be read. */
static uint32_t look_up_cpu(pid_t pid)
{
	char path[32], line[1024];
	unsigned cpu = UINT32_MAX;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof line, f)) {
		char *p = strrchr(line, ')'); /* the name may hold anything; field 39 is the CPU */

		for (int field = 2; p && field < 39; field++)
			p = strchr(p + 1, ' ');
		if (p)
			(void)sscanf(p, " %u", &cpu);
	}
	if (f)
		fclose(f);
	return cpu;
}

/*
 * The node on which the client last ran; -1: not known.  Where quoitd cannot see its process in
 * /proc (ProtectProc= of the unit, another PID namespace), the client's own hint counts: a wrong
 * hint harms only the client.
 */
static int32_t client_node(const struct connection *c, const struct quoit_hello *h)
{
	int32_t node = placement_node(c->control->plan, look_up_cpu(c->pid));

	return node < 0 && h->cpu_hint ? placement_node(c->control->plan, h->cpu_hint - 1) : node;
}

/* Note the client's node; count clients without a known one, for `quoit topo` and `quoit ps`. */
static void note_node(const struct control *control, struct session *s, int32_t node)
{
	s->client_node = (uint32_t)(node + 1);
	if (node < 0)
		totals_count(control->totals, QUOIT_DAEMON_CLIENTS_NOWHERE);
}

/* Bind the session's memory to its reactor's node, and the pinned part to the device's node. */
static void bind_memory(const struct control *control, struct session *s,
			const struct placement_core *core, const struct placement_device *device)
{
	if (control->features->missing[FEATURE_MBIND] || control->plan->nr_memories <= 1)
		return;
	if (core->memory_node >= 0)
		bind_session(s, core->memory_node);
	if (device && device->memory_node >= 0 && device->memory_node != core->memory_node)
		bind_pinned(s, device->memory_node);
}

/* The reactor with the fewest sessions of this user; of several, the one with the fewest in all. */
static uint32_t find_home(const struct control *control, const struct user *user, int32_t node)
{
	uint64_t load[QUOIT_MAX_REACTORS];

	for (uint32_t i = 0; i < control->reactor_count; i++)
		load[i] = (uint64_t)user->tenant[i].homes << 32 | control->sessions_of[i];
	return placement_home(control->plan, node, load);
}

const struct placement_core *hello_place(struct connection *c, struct session *s,
					 const struct quoit_hello *h)
{
	struct control *control = c->control;
	const struct placement_core *core;
	const struct placement_device *device = NULL;
	int32_t node = client_node(c, h);

	note_node(control, s, node);
	if (h->device_bytes)
		device = placement_device_near(control->places->device, control->places->count,
					       node);
	c->reactor = find_home(control, s->user, device ? device->node : node);
	core = placement_reactor(control->plan, c->reactor);
	control->sessions_of[c->reactor]++;
	s->user->tenant[c->reactor].homes++;
	s->reactor = &control->reactors[c->reactor];
	bind_memory(control, s, core, device);
	return core;
}
