/* SPDX-License-Identifier: MIT */
/* check_cpu.c - check which CPUs quoitd may use, and how they run and sleep */
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "tree.h"

#define CPU         "sys/devices/system/cpu/cpu%d/"
#define CLOCK       "sys/devices/system/clocksource/clocksource0/"
#define MOST_STATES 16

void check_cpuset(struct examination *e)
{
	judge_cpuset(examination_add(e), &e->cpus);
}

void check_isolated(struct examination *e)
{
	judge_isolated(examination_add(e), &e->cpus);
}

/* ---- clocks and idle states ---- */

static void judge_one(struct examination *e, int cpu, struct finding *f)
{
	char governor[64], driver[64], preference[64];
	bool has_governor =
		tree_line(e->root, governor, sizeof governor, CPU "cpufreq/scaling_governor", cpu);
	bool has_driver =
		tree_line(e->root, driver, sizeof driver, CPU "cpufreq/scaling_driver", cpu);
	bool prefers = tree_line(e->root, preference, sizeof preference,
				 CPU "cpufreq/energy_performance_preference", cpu);

	judge_governor(f, (unsigned)cpu, has_driver ? driver : NULL, has_governor ? governor : NULL,
		       prefers ? preference : NULL);
}

/* CPUs are usually alike: report the worst one. */
void check_governor(struct examination *e)
{
	const struct numbers *cpus = &e->cpus.allowed;
	struct finding *worst = examination_add(e);

	judge_governor(worst, 0, NULL, NULL, NULL);
	for (int i = numbers_next(cpus, 0); i >= 0; i = numbers_next(cpus, (unsigned)i + 1)) {
		struct finding f = {.check = e->check};

		judge_one(e, i, &f);
		if (f.level > worst->level || (*f.word && !*worst->word))
			*worst = f;
	}
}

/* The deepest idle state of one CPU that is not switched off: the last one. */
void check_idle(struct examination *e)
{
	int cpu = numbers_next(&e->cpus.allowed, 0), deepest = -1;
	char name[64] = "", one[64];
	uint64_t latency = 0, us, off;

	for (int i = 0; cpu >= 0 && i < MOST_STATES; i++) {
		if (!tree_number(e->root, &us, CPU "cpuidle/state%d/latency", cpu, i))
			break;
		if (tree_number(e->root, &off, CPU "cpuidle/state%d/disable", cpu, i) && off)
			continue;
		if (!tree_line(e->root, one, sizeof one, CPU "cpuidle/state%d/name", cpu, i))
			snprintf(one, sizeof one, "state%d", i);
		if (deepest >= 0 && us < latency)
			continue;
		deepest = i;
		latency = us;
		memcpy(name, one, sizeof name);
	}
	judge_idle_state(examination_add(e), deepest, name, latency);
}

/* ---- hypervisor and clock ---- */

/*
 * The first line of /proc/stat: user nice system idle iowait irq softirq steal, then guests' times,
 * which user and nice include.
 */
void check_virtual(struct examination *e)
{
	unsigned long long t[8] = {0}, sum = 0;
	char line[256] = "";

	if (tree_line(e->root, line, sizeof line, "proc/stat") &&
	    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
		   &t[4], &t[5], &t[6], &t[7]) == 8)
		for (unsigned i = 0; i < 8; i++)
			sum += t[i];
	judge_virtual(examination_add(e), e->is_virtual, t[7], sum);
}

static bool has_word(char *line, const char *word)
{
	char *rest = NULL;

	for (char *one = strtok_r(line, " ", &rest); one; one = strtok_r(NULL, " ", &rest))
		if (!strcmp(one, word))
			return true;
	return false;
}

void check_clock(struct examination *e)
{
	char source[64], available[256];
	bool known = tree_line(e->root, source, sizeof source, CLOCK "current_clocksource");
	bool listed =
		tree_line(e->root, available, sizeof available, CLOCK "available_clocksource");

	judge_clock(examination_add(e), known ? source : NULL,
		    listed && has_word(available, "tsc"));
}
