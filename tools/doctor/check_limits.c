/* SPDX-License-Identifier: MIT */
/* check_limits.c - what quoitd may have of the machine beside memory and time of CPUs */
#include "checks.h"
#include "tree.h"

void check_file_size(struct examination *e)
{
	judge_limit(examination_add(e), SUBJECT_FILE_SIZE, &e->subject, e->cgroup.unit);
}

void check_addresses(struct examination *e)
{
	judge_limit(examination_add(e), SUBJECT_ADDRESSES, &e->subject, e->cgroup.unit);
	judge_limit(examination_add(e), SUBJECT_DATA, &e->subject, e->cgroup.unit);
}

void check_descriptors(struct examination *e)
{
	judge_limit(examination_add(e), SUBJECT_DESCRIPTORS, &e->subject, e->cgroup.unit);
}

void check_threads(struct examination *e)
{
	judge_limit(examination_add(e), SUBJECT_THREADS, &e->subject, e->cgroup.unit);
	judge_tasks(examination_add(e), &e->cgroup);
}

void check_mappings(struct examination *e)
{
	uint64_t mappings;
	bool known = tree_number(e->root, &mappings, "proc/sys/vm/max_map_count");

	judge_mappings(examination_add(e), known, mappings);
}
