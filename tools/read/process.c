/* SPDX-License-Identifier: MIT */
/* process.c - find out what /proc says about the processes in counter files */
#include "process_private.h"

#include <errno.h>
#include <libproc2/pids.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* /proc gives start times in hundredths of a second, rounded. */
#define START_SLACK_S 0.02

/* The most processes that libproc2 looks up at a time. */
#define AT_A_TIME 255u

/* ---- PID namespace ---- */

bool process_is_here(uint32_t pid_namespace)
{
	static uint32_t ours; /* it never changes */
	struct stat st;

	if (!ours && stat("/proc/self/ns/pid", &st) == 0)
		ours = (uint32_t)st.st_ino;
	return !pid_namespace || !ours || ours == pid_namespace;
}

/* ---- what libproc2 knows ---- */

enum item {
	ITEM_PID,
	ITEM_STATE,
	ITEM_START,
	ITEM_PAGES,
	ITEM_MINOR,
	ITEM_MAJOR,
	ITEM_PSS,
	ITEM_NR
};

static enum pids_item items[ITEM_NR] = {
	[ITEM_PID] = PIDS_ID_PID,   [ITEM_STATE] = PIDS_STATE,   [ITEM_START] = PIDS_TIME_START,
	[ITEM_PAGES] = PIDS_RSS,    [ITEM_MINOR] = PIDS_FLT_MIN, [ITEM_MAJOR] = PIDS_FLT_MAJ,
	[ITEM_PSS] = PIDS_SMAP_PSS, /* the last item, so that it can be left out */
};

static bool is_it(struct pids_stack *found, struct pids_info *info, uint64_t by_ns)
{
	char state = PIDS_VAL(ITEM_STATE, s_ch, found, info);
	double start = PIDS_VAL(ITEM_START, real, found, info);

	(void)info;
	return state != 'Z' && state != 'X' && start <= (double)by_ns / 1e9 + START_SLACK_S;
}

static void take(struct process *p, struct pids_stack *found, struct pids_info *info, bool share)
{
	if (!is_it(found, info, p->by_ns))
		return;
	(void)info;
	p->known = true;
	p->resident_bytes = (uint64_t)PIDS_VAL(ITEM_PAGES, ul_int, found, info) *
			    (uint64_t)sysconf(_SC_PAGESIZE);
	p->faults_known = true;
	p->minor_faults = PIDS_VAL(ITEM_MINOR, ul_int, found, info);
	p->major_faults = PIDS_VAL(ITEM_MAJOR, ul_int, found, info);
	if (!share)
		return;
	p->share_bytes = (uint64_t)PIDS_VAL(ITEM_PSS, ul_int, found, info) << 10;
	p->share_known = p->share_bytes || !p->resident_bytes; /* 0: it could not be read */
}

static void look_at(struct pids_info *info, struct process *const *list, size_t count, bool share)
{
	unsigned pid[AT_A_TIME];
	struct pids_fetch *fetch;
	int known = 0;

	for (size_t i = 0; i < count; i++)
		if (list[i]->pid) /* 0, a process of another namespace, would end the list */
			pid[known++] = list[i]->pid;
	fetch = known ? procps_pids_select(info, pid, known, PIDS_SELECT_PID) : NULL;
	for (int i = 0; fetch && i < fetch->counts->total; i++)
		for (size_t j = 0; j < count; j++)
			if (PIDS_VAL(ITEM_PID, s_int, fetch->stacks[i], info) == (int)list[j]->pid)
				take(list[j], fetch->stacks[i], info, share);
}

/* ---- nodes ---- */

/* Parse a mapping's line: ... N0=12 N1=3 kernelpagesize_kB=4 */
static void add_mapping(struct process *p, char *line)
{
	const char *size = strstr(line, "kernelpagesize_kB=");
	uint64_t page = size ? strtoull(strchr(size, '=') + 1, NULL, 10) << 10 : 0;
	char *rest = NULL;

	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		unsigned node;
		unsigned long long pages;

		if (sscanf(word, "N%u=%llu", &node, &pages) == 2 && node < PROCESS_NODES)
			p->node_bytes[node] += pages * page;
	}
}

static void look_at_nodes(struct process *p)
{
	char path[40], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%u/numa_maps", p->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (getline(&line, &room, file) > 0)
		add_mapping(p, line);
	p->nodes_known = !ferror(file);
	free(line);
	fclose(file);
}

/* Look at all of them, by one call for each AT_A_TIME. */
static void look_at_all(struct process *const *list, size_t count, bool share)
{
	struct pids_info *info = NULL;

	if (procps_pids_new(&info, items, share ? ITEM_NR : ITEM_PSS) < 0)
		return;
	for (size_t i = 0; i < count; i += AT_A_TIME)
		look_at(info, list + i, count - i < AT_A_TIME ? count - i : AT_A_TIME, share);
	procps_pids_unref(&info);
}

void process_read_pages(struct process *p, unsigned needs)
{
	p->known = false;
	look_at_all(&p, 1, needs & PROCESS_NEED_SMAPS);
	if (p->known && needs & PROCESS_NEED_NUMA)
		look_at_nodes(p);
}

void process_look(struct process *const *list, size_t count, unsigned needs)
{
	if (needs)
		look_at_all(list, count, false);
	if (needs & (PROCESS_NEED_SMAPS | PROCESS_NEED_NUMA))
		process_pages_look(list, count, needs);
}

/* ---- one process ---- */

bool process_lives(uint32_t pid, uint64_t by_ns)
{
	struct process one = {.pid = pid, .by_ns = by_ns}, *list = &one;
	struct stat st;
	char path[24];

	if (!pid)
		return false;
	process_look(&list, 1, PROCESS_NEED_RESIDENT);
	if (one.known)
		return true;
	/* A /proc with hidepid hides other users' processes. */
	snprintf(path, sizeof path, "/proc/%u", pid);
	return stat(path, &st) < 0 && kill((pid_t)pid, 0) < 0 && errno == EPERM;
}

unsigned process_kill_children(uint32_t parent, const char *command)
{
	enum { PARENT, PID, COMMAND, NR };
	enum pids_item wanted[NR] = {
		[PARENT] = PIDS_ID_PPID, [PID] = PIDS_ID_PID, [COMMAND] = PIDS_CMD};
	struct pids_info *info = NULL;
	struct pids_fetch *fetch;
	unsigned killed = 0;

	if (procps_pids_new(&info, wanted, NR) < 0)
		return 0;
	fetch = procps_pids_reap(info, PIDS_FETCH_TASKS_ONLY);
	for (int i = 0; fetch && i < fetch->counts->total; i++) {
		struct pids_stack *process = fetch->stacks[i];

		if (PIDS_VAL(PARENT, s_int, process, info) == (int)parent &&
		    !strcmp(PIDS_VAL(COMMAND, str, process, info), command))
			killed += !kill(PIDS_VAL(PID, s_int, process, info), SIGKILL);
	}
	procps_pids_unref(&info);
	return killed;
}
