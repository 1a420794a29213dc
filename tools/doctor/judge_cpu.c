/* SPDX-License-Identifier: MIT */
/* judge_cpu.c - judge the choice of CPUs, and how they run and sleep */
#include <stdio.h>
#include <string.h>

#include "judge.h"

#define LIST_BYTES 96

/* ---- which CPUs ---- */

/* A list that was cut off must not be copied into a command. */
static void mend_by_cpus(struct finding *f, const char *why, const char *list, const char *comment)
{
	if (strstr(list, "..."))
		finding_mend(f, why,
			     "# start quoitd with more CPUs: taskset, or its unit's AllowedCPUs=");
	else
		finding_mend(f, why, "taskset -c %s quoitd  # %s", list, comment);
}

void judge_cpuset(struct finding *f, const struct judge_cpus *c)
{
	struct numbers missing = numbers_without(&c->memories_wanted, &c->memories_allowed);
	struct numbers all = numbers_either(&c->memories_wanted, &c->memories_allowed);
	unsigned allowed = numbers_count(&c->allowed), there = numbers_count(&c->online);
	char list[LIST_BYTES], online[LIST_BYTES];

	numbers_print(&c->allowed, list, sizeof list);
	numbers_print(&c->online, online, sizeof online);
	finding_word(f, list);
	if (!allowed || !there) {
		finding_say(f, LEVEL_NOTE, "it is not known which CPUs may be used");
	} else if (numbers_count(&missing)) {
		char nodes[LIST_BYTES], both[LIST_BYTES];

		numbers_print(&missing, nodes, sizeof nodes);
		numbers_print(&all, both, sizeof both);
		finding_say(f, LEVEL_WARNING,
			    "CPUs %s may be used, memory of their node %s may not", list, nodes);
		finding_mend(f, "sessions there have their memory on another node, which is slower",
			     "%s%s",
			     strstr(both, "...") ? "# allow quoitd.service memory of nodes "
						 : "sudo systemctl set-property quoitd.service "
						   "AllowedMemoryNodes=",
			     both);
	} else if (allowed == 1 && there > 1) {
		finding_say(f, LEVEL_FAILURE, "one CPU of %u may be used, number %s", there, list);
		mend_by_cpus(f,
			     "a client and its reactor take turns on it, at a context switch each",
			     online, "or AllowedCPUs= of its unit");
	} else if (allowed == 1) {
		finding_say(f, LEVEL_WARNING, "the machine has one CPU");
		finding_mend(f,
			     "a client and its reactor take turns on it, at a context switch each",
			     "nproc  # give the machine two CPUs or more");
	} else {
		finding_say(f, allowed < there ? LEVEL_NOTE : LEVEL_OK,
			    "CPUs %s may be used, %u of %u", list, allowed, there);
	}
}

/*
 * Reactors and workers are pinned to one CPU each, so they run well on isolated CPUs.  Threads that
 * are not pinned (executors, file transfer, the control thread) are never moved between such CPUs.
 */
void judge_isolated(struct finding *f, const struct judge_cpus *c)
{
	struct numbers ours = numbers_both(&c->isolated, &c->allowed);
	struct numbers rest = numbers_without(&c->allowed, &c->isolated);
	char list[LIST_BYTES], online[LIST_BYTES];

	numbers_print(&c->isolated, list, sizeof list);
	numbers_print(&c->online, online, sizeof online);
	finding_word(f, list);
	if (!numbers_count(&c->isolated)) {
		finding_say(f, LEVEL_OK,
			    "no CPU is isolated: other programs share those of quoitd");
	} else if (!numbers_count(&ours)) {
		finding_say(f, LEVEL_NOTE, "CPUs %s are isolated, and quoitd uses none of them",
			    list);
		mend_by_cpus(f, "no other program runs there: reactors would answer without delays",
			     online, "or CPUAffinity= of its unit");
	} else if (!numbers_count(&rest)) {
		numbers_print(&ours, list, sizeof list);
		finding_say(f, LEVEL_WARNING, "all CPUs that quoitd may use (%s) are isolated",
			    list);
		mend_by_cpus(
			f,
			"the kernel does not spread threads over these: devices' processes and "
			"file transfers all stay on one",
			online, "quoitd also needs a CPU that is not isolated");
	} else {
		finding_say(f, LEVEL_OK, "CPUs %s are isolated, and quoitd uses some of them",
			    list);
	}
}

/* ---- how fast ---- */

/*
 * Under these drivers "powersave" is not the lowest rate, but follows the load (kernel docs, pm).
 */
static bool follows_load(const char *driver)
{
	return driver && (!strcmp(driver, "intel_pstate") || !strcmp(driver, "amd-pstate-epp") ||
			  !strcmp(driver, "amd_pstate_epp"));
}

void judge_governor(struct finding *f, unsigned cpu, const char *driver, const char *governor,
		    const char *preference)
{
	static const char mend[] =
		"echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";

	finding_word(f, governor ? governor : "");
	if (!governor) {
		finding_say(f, LEVEL_OK, "the CPUs' clocks are not governed on this machine");
	} else if (!strcmp(governor, "powersave") && !follows_load(driver)) {
		finding_say(f, LEVEL_FAILURE, "CPU %u stays at its lowest clock (powersave)", cpu);
		finding_mend(f, "every job takes two to four times as long", "%s", mend);
	} else if (!strcmp(governor, "performance")) {
		finding_say(f, LEVEL_OK, "the CPUs' clocks stay high (performance)");
	} else if (preference && !strcmp(preference, "power")) {
		finding_say(f, LEVEL_WARNING, "CPU %u prefers saving power (%s, %s)", cpu, governor,
			    preference);
		finding_mend(f, "the CPU's clock rises late, and seldom to the top", "%s", mend);
	} else {
		finding_say(f, LEVEL_WARNING, "the clock of CPU %u follows its load (%s)", cpu,
			    governor);
		finding_mend(
			f, "a reactor that wakes for a rare job starts slow, for some ms each time",
			"%s", mend);
	}
}

/*
 * Idle reactors sleep, so a rare job also waits until a CPU leaves its deepest state.  C1 takes 2
 * us, C6 of server CPUs 130 to 300 us (drivers/idle/intel_idle.c).
 */
#define LATENCY_US 100

void judge_idle_state(struct finding *f, int number, const char *name, uint64_t latency_us)
{
	if (number < 0) {
		finding_say(f, LEVEL_OK, "the CPUs have no deep idle states here");
		return;
	}
	finding_number(f, (double)latency_us);
	if (latency_us <= LATENCY_US) {
		finding_say(f, LEVEL_OK, "the deepest idle state, %s, is left within %llu us", name,
			    (unsigned long long)latency_us);
		return;
	}
	finding_say(f, LEVEL_WARNING, "to leave the deepest idle state, %s, takes %llu us", name,
		    (unsigned long long)latency_us);
	finding_mend(f, "a rare job waits for the CPU to wake, since an idle reactor sleeps",
		     "echo 1 | sudo tee /sys/devices/system/cpu/cpu*/cpuidle/state%d/disable",
		     number);
}

/* ---- virtual CPUs and clocks ---- */

/* docs/performance.md: if the hypervisor took 2 to 3 %, figures were up to a tenth worse. */
#define STOLEN_PERCENT 2

void judge_virtual(struct finding *f, bool is_virtual, uint64_t stolen, uint64_t ticks)
{
	double percent = ticks ? 100.0 * (double)stolen / (double)ticks : 0;

	if (!is_virtual) {
		finding_say(f, LEVEL_OK, "no hypervisor is seen");
		return;
	}
	finding_number(f, percent);
	if (percent < STOLEN_PERCENT) {
		finding_say(f, LEVEL_NOTE,
			    "a virtual machine; other guests took %.2g %% of its time, so "
			    "measurements may vary",
			    percent);
		return;
	}
	finding_say(f, LEVEL_WARNING, "a virtual machine; other guests took %.2g %% of its time",
		    percent);
	finding_mend(f, "a reactor stands still whenever the hypervisor runs another guest",
		     "virsh vcpupin DOMAIN VCPU CPU  # on the host: give it CPUs of its own");
}

/* With another clock source, each reading is a system call, or a read from a slow bus. */
void judge_clock(struct finding *f, const char *source, bool has_tsc)
{
	static const char *const fast[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					   "arch_sys_counter"};

	finding_word(f, source ? source : "");
	if (!source || !*source) {
		finding_say(f, LEVEL_NOTE, "the kernel does not name its clock source");
		return;
	}
	for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++)
		if (!strcmp(source, fast[i])) {
			finding_say(f, LEVEL_OK, "the kernel's clock source is %s", source);
			return;
		}
	finding_say(f, LEVEL_WARNING, "the kernel's clock source is %s", source);
	finding_mend(f,
		     "clients and quoitd read the clock often, and reading this one takes about 1 "
		     "us",
		     "%s",
		     has_tsc ? "echo tsc | sudo tee "
			       "/sys/devices/system/clocksource/clocksource0/current_clocksource"
			     : "sudo dmesg | grep -i -e tsc -e clocksource  # why it is not tsc");
}
