/* SPDX-License-Identifier: MIT */
/* process.c - what /proc says about a process that a counter file names */
#include "process.h"

#include <errno.h>
#include <libproc2/pids.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* /proc counts starts in hundredths of a second, and rounds. */
#define START_SLACK_S 0.02

enum item { ITEM_STATE, ITEM_START, ITEM_RSS, ITEM_NR };

static bool look(uint32_t pid, uint64_t by_ns, uint64_t *ret_bytes)
{
	enum pids_item items[ITEM_NR] = {[ITEM_STATE] = PIDS_STATE,
					 [ITEM_START] = PIDS_TIME_START,
					 [ITEM_RSS] = PIDS_VM_RSS};
	struct pids_info *info = NULL;
	struct pids_fetch *fetch;
	bool lives = false;

	if (!pid || procps_pids_new(&info, items, ITEM_NR) < 0)
		return false;
	fetch = procps_pids_select(info, &pid, 1, PIDS_SELECT_PID);
	if (fetch && fetch->counts->total == 1) {
		struct pids_stack *process = fetch->stacks[0];
		char state = PIDS_VAL(ITEM_STATE, s_ch, process, info);
		double start = PIDS_VAL(ITEM_START, real, process, info);

		lives = state != 'Z' && state != 'X' &&
			start <= (double)by_ns / 1e9 + START_SLACK_S;
		*ret_bytes = (uint64_t)PIDS_VAL(ITEM_RSS, ul_int, process, info) << 10;
	} else if (fetch) { /* a /proc may hide other users' processes (hidepid) */
		lives = kill((pid_t)pid, 0) < 0 && errno == EPERM;
	}
	procps_pids_unref(&info);
	return lives;
}

bool process_lives(uint32_t pid, uint64_t by_ns)
{
	uint64_t bytes;

	return look(pid, by_ns, &bytes);
}

bool process_resident(uint32_t pid, uint64_t by_ns, uint64_t *ret_bytes)
{
	return look(pid, by_ns, ret_bytes) && *ret_bytes > 0;
}

unsigned process_kill_children(uint32_t parent, const char *command)
{
	enum { PARENT, PID, COMMAND, NR };
	enum pids_item items[NR] = {
		[PARENT] = PIDS_ID_PPID, [PID] = PIDS_ID_PID, [COMMAND] = PIDS_CMD};
	struct pids_info *info = NULL;
	struct pids_fetch *fetch;
	unsigned killed = 0;

	if (procps_pids_new(&info, items, NR) < 0)
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
