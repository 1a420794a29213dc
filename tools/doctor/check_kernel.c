/* SPDX-License-Identifier: MIT */
/* check_kernel.c - check the kernel's version, and who may use io_uring */
#include "checks.h"
#include "tree.h"

void check_kernel(struct examination *e)
{
	char release[128];
	bool known = tree_line(e->root, release, sizeof release, "proc/sys/kernel/osrelease");

	judge_kernel(examination_add(e), known ? release : NULL);
}

void check_io_uring(struct examination *e)
{
	char release[128], group[32];
	uint64_t disabled = 0;
	bool has_release = tree_line(e->root, release, sizeof release, "proc/sys/kernel/osrelease");
	bool has_group = tree_line(e->root, group, sizeof group, "proc/sys/kernel/io_uring_group");
	bool known = tree_number(e->root, &disabled, "proc/sys/kernel/io_uring_disabled");

	judge_io_uring(examination_add(e), known, disabled, has_group ? group : NULL,
		       has_release ? release : NULL, &e->subject);
}
