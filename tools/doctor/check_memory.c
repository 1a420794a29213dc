/* SPDX-License-Identifier: MIT */
/* check_memory.c - check locked memory, huge pages and NUMA balancing */
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "tree.h"
#include "trials.h"

#define THP "sys/kernel/mm/transparent_hugepage/"

void check_memlock(struct examination *e)
{
	judge_memlock(examination_add(e), &e->subject, e->cgroup.unit);
}

static uint64_t count_of(const char *text, const char *name, uint64_t otherwise)
{
	const char *field = tree_field(text, name);
	unsigned long long n;

	return field && sscanf(field, "%llu", &n) == 1 ? n : otherwise;
}

/*
 * Checks pages of the default size only; pages of 1 GiB are reserved at boot for reasons that are
 * not known here.
 */
void check_huge_pages(struct examination *e)
{
	char text[4096] = "";
	uint64_t pages, unused, reserved;

	(void)tree_read(e->root, text, sizeof text, "proc/meminfo");
	pages = count_of(text, "HugePages_Total:", 0);
	unused = count_of(text, "HugePages_Free:", 0);
	reserved = count_of(text, "HugePages_Rsvd:", 0);
	judge_huge_pages(examination_add(e), pages, unused > reserved ? unused - reserved : 0,
			 count_of(text, "Hugepagesize:", 2048) << 10, e->machine_bytes);
}

/* From "always within_size [advise] never" take the word in brackets, in place. */
static const char *chosen(char *line)
{
	char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	return begin + 1;
}

/*
 * An allowed huge page may still not be given, and from Linux 6.1 on one that is asked for is given
 * under "never", too.  So on the machine itself the trial decides.
 */
void check_shmem(struct examination *e)
{
	char all[128], of_2m[128];
	bool has_all = tree_line(e->root, all, sizeof all, THP "shmem_enabled");
	bool has_2m = tree_line(e->root, of_2m, sizeof of_2m, THP "hugepages-2048kB/shmem_enabled");

	struct finding *f = examination_add(e);
	int err;

	judge_shmem(f, has_all ? chosen(all) : NULL, has_2m ? chosen(of_2m) : NULL);
	if (!e->live)
		return;
	err = trial_run(FEATURE_HUGE_PAGES);
	if (err ? f->level == LEVEL_OK : f->level != LEVEL_OK)
		judge_feature(f, FEATURE_HUGE_PAGES, err);
}

void check_balancing(struct examination *e)
{
	uint64_t mode = 0;
	bool known = tree_number(e->root, &mode, "proc/sys/kernel/numa_balancing");

	judge_numa_balancing(examination_add(e), known, mode, numbers_count(&e->nodes));
}
