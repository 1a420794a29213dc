/* SPDX-License-Identifier: MIT */
/* check_limits.c - check quoitd's limits besides memory and CPU time */
#include "checks.h"

#include <inttypes.h>
#include <stdio.h>

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
	uint64_t used = 0, most = 0;
	char line[80];
	bool known = tree_line(e->root, line, sizeof line, "proc/sys/fs/file-nr") &&
		     sscanf(line, "%" SCNu64 " %*u %" SCNu64, &used, &most) == 2;

	judge_limit(examination_add(e), SUBJECT_DESCRIPTORS, &e->subject, e->cgroup.unit);
	judge_open_files(examination_add(e), known, used, most);
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
