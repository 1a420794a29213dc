/* SPDX-License-Identifier: MIT */
/* cpus_watch.c - notices CPUs that quoitd may no longer use */
#include "cpus_watch.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define MOST_CPUS 65536u /* no kernel has more */

static bool may_run_on(uint32_t cpu, const cpu_set_t *allowed, size_t bytes)
{
	return cpu < MOST_CPUS && CPU_ISSET_S(cpu, bytes, allowed);
}

uint32_t cpus_watch_list(const struct cpus_watch *w, char ret[CPUS_WATCH_BYTES])
{
	cpu_set_t allowed[MOST_CPUS / CPU_SETSIZE];
	uint32_t gone = 0;
	size_t used = 0;

	ret[0] = '\0';
	memset(allowed, 0, sizeof allowed);
	if (sched_getaffinity(0, sizeof allowed, allowed) < 0)
		return 0; /* forbidden: nothing is known */
	for (uint32_t i = 0; i < w->plan->nr_cores; i++) {
		uint32_t cpu = w->plan->cores[i].cpu;

		if (may_run_on(cpu, allowed, sizeof allowed))
			continue;
		if (used < CPUS_WATCH_BYTES - 16)
			used += (size_t)snprintf(ret + used, CPUS_WATCH_BYTES - used, "%s%u",
						 gone ? ", " : "", cpu);
		else
			strcpy(ret + used, ", ...");
		gone++;
	}
	return gone;
}

void cpus_watch_look(struct cpus_watch *w)
{
	char list[CPUS_WATCH_BYTES];
	uint32_t gone = cpus_watch_list(w, list);

	if (!strcmp(list, w->said))
		return;
	strcpy(w->said, list);
	if (gone)
		log_warning("quoitd may not use %u of its %u CPUs any more (%s): their threads "
			    "share the others until quoitd is restarted",
			    gone, w->plan->nr_cores, list);
	else
		log_warning("quoitd may use all of its %u CPUs again", w->plan->nr_cores);
}
