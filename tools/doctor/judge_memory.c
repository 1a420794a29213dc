/* SPDX-License-Identifier: MIT */
/* judge_memory.c - judge locked memory, huge pages and NUMA balancing */
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "read/format.h"

/* systemd's default for a unit; rings fit into it, pinned regions do not. */
#define DEFAULT_MEMLOCK (UINT64_C(8) << 20)

void judge_memlock(struct finding *f, const struct subject *s, const char *unit)
{
	static const char why[] =
		"memory that cannot be locked may be paged out, and its pages are looked up for "
		"each transfer to files and devices";
	char limit[16];

	if (!s->has_memlock) {
		finding_say(f, LEVEL_NOTE, "it is not known how much memory may be locked");
		return;
	}
	if (s->memlock == SUBJECT_UNLIMITED || s->capabilities & SUBJECT_MAY_LOCK) {
		finding_word(f, "unlimited");
		finding_say(f, LEVEL_OK, "all memory may be locked%s",
			    s->memlock == SUBJECT_UNLIMITED ? "" : " (CAP_IPC_LOCK)");
		return;
	}
	format_bytes(s->memlock, limit, sizeof limit);
	finding_number(f, (double)s->memlock);
	finding_say(f, LEVEL_WARNING, "%s of memory may be locked%s", limit,
		    s->memlock > DEFAULT_MEMLOCK ? ": pinned regions beyond that are not locked"
		    : s->memlock ? ": enough for rings of a private quoitd, not for more"
				 : "");
	if (*unit && s->pid)
		finding_mend(f, why,
			     "sudo prlimit --memlock=unlimited --pid %u  # for good: "
			     "LimitMEMLOCK=infinity of %s",
			     s->pid, unit);
	else if (s->known)
		finding_mend(f, why,
			     "echo \"$(id -un %u) - memlock unlimited\" | sudo tee -a "
			     "/etc/security/limits.d/quoit.conf  # log in anew",
			     s->uid);
	else
		finding_mend(f, why, "# raise the limit of the user that quoitd runs as");
}

/*
 * quoitd uses transparent huge pages, and never reserved ones.  Reserved pages that a program uses
 * or has claimed are not wasted.
 */
void judge_huge_pages(struct finding *f, uint64_t pages, uint64_t spare, uint64_t page_bytes,
		      uint64_t machine_bytes)
{
	double bytes = (double)spare * (double)page_bytes;
	char size[16];

	finding_number(f, (double)spare);
	format_bytes((uint64_t)bytes, size, sizeof size);
	if (!pages) {
		finding_say(f, LEVEL_OK, "no huge pages are set aside: quoitd needs none of these");
	} else if (!machine_bytes || bytes < 0.1 * (double)machine_bytes) {
		finding_say(f, LEVEL_OK, "of the huge pages that are set aside %s are unused",
			    size);
	} else {
		finding_say(f, LEVEL_WARNING,
			    "%s are set aside as huge pages, unused, and quoitd cannot use them",
			    size);
		finding_mend(f, "sessions have less memory by that",
			     "grep Huge /proc/meminfo  # ask who set them aside before you lower "
			     "vm.nr_hugepages");
	}
}

/* The setting for memfds (Documentation/admin-guide/mm/transhuge.rst); quoitd asks by madvise. */
void judge_shmem(struct finding *f, const char *all, const char *of_2m)
{
	const char *holds = of_2m && *of_2m && strcmp(of_2m, "inherit") != 0 ? of_2m : all;

	if (all && (!strcmp(all, "deny") || !strcmp(all, "force")))
		holds = all;
	finding_word(f, holds ? holds : "");
	if (!holds || !*holds) {
		finding_say(f, LEVEL_WARNING, "the kernel has no transparent huge pages");
		finding_mend(f, "tensors lie in pages of 4 KiB: more TLB misses, slower to touch",
			     "# take a kernel that has them (CONFIG_TRANSPARENT_HUGEPAGE)");
	} else if (strcmp(holds, "never") != 0 && strcmp(holds, "deny") != 0) {
		finding_say(f, LEVEL_OK, "shared memory gets transparent huge pages (%s)", holds);
	} else {
		finding_say(f, LEVEL_WARNING, "shared memory gets no transparent huge pages (%s)",
			    holds);
		finding_mend(f, "tensors lie in pages of 4 KiB: more TLB misses, slower to touch",
			     "echo %s | sudo tee /sys/kernel/mm/transparent_hugepage/%s",
			     holds == all ? "advise" : "inherit",
			     holds == all ? "shmem_enabled" : "hugepages-2048kB/shmem_enabled");
	}
}

/* Mode 2 moves memory between fast and slow kinds only (Documentation/admin-guide/sysctl). */
void judge_numa_balancing(struct finding *f, bool known, uint64_t mode, unsigned nodes)
{
	if (known)
		finding_number(f, (double)mode);
	if (!known || !mode) {
		finding_say(f, LEVEL_OK, "the kernel does not move memory between nodes");
	} else if (nodes < 2) {
		finding_say(f, LEVEL_OK, "there is one node: nothing to balance");
	} else if (!(mode & 1)) {
		finding_say(f, LEVEL_NOTE, "the kernel moves memory between its tiers (mode %llu)",
			    (unsigned long long)mode);
	} else {
		finding_say(f, LEVEL_WARNING, "the kernel moves memory between the %u nodes",
			    nodes);
		finding_mend(f,
			     "to see which CPU uses a page the kernel unmaps it: jobs take page "
			     "faults in memory that quoitd has already placed",
			     "sudo sysctl kernel.numa_balancing=0");
	}
}
