/* SPDX-License-Identifier: MIT */
/* check_cgroup.c - check the control groups of quoitd */
#include "checks.h"

void check_cgroup(struct examination *e)
{
	judge_cgroup(examination_add(e), &e->cgroup);
}

void check_cgroup_memory(struct examination *e)
{
	judge_cgroup_memory(examination_add(e), &e->cgroup, e->machine_bytes,
			    e->running.host_limit);
}

void check_cgroup_cpu(struct examination *e)
{
	judge_cgroup_cpu(examination_add(e), &e->cgroup, numbers_count(&e->cpus.allowed));
}
