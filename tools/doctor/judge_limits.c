/* SPDX-License-Identifier: MIT */
/* judge_limits.c - judge the limits of a process, a control group and the kernel */
#include <inttypes.h>
#include <stdio.h>

#include "judge.h"
#include "read/format.h"

#define GIB (UINT64_C(1) << 30)

struct rule {
	/* "RLIMIT_AS"; what it counts; its name in limits.conf; its name in a unit */
	const char *name, *of, *word, *unit;
	bool bytes;
	uint64_t failure, warning; /* values below these are a failure, or a warning */
	const char *why;
};

/* A default session, of 16 MiB, reserves 768 MiB of addresses in one memory file, and no less. */
static const struct rule rules[] = {
	[SUBJECT_FILE_SIZE] =
		{"RLIMIT_FSIZE", "a file", "fsize", "LimitFSIZE", true, GIB, SUBJECT_UNLIMITED,
		 "a session's memory is a file of 64 times its lease: larger leases are refused"},
	[SUBJECT_ADDRESSES] =
		{"RLIMIT_AS", "addresses", "as", "LimitAS", true, 2 * GIB, SUBJECT_UNLIMITED,
		 "a session reserves addresses for 64 times its lease: few and small ones have room"},
	[SUBJECT_DATA] = {"RLIMIT_DATA", "data", "data", "LimitDATA", true, GIB / 4,
			  SUBJECT_UNLIMITED,
			  "threads' stacks and tables of sessions count against this limit"},
	[SUBJECT_DESCRIPTORS] = {"RLIMIT_NOFILE", "descriptors", "nofile", "LimitNOFILE", false,
				 256, 16384,
				 "each session takes some ten descriptors, each ring three"},
	[SUBJECT_THREADS] = {"RLIMIT_NPROC", "threads of its user", "nproc", "LimitNPROC", false,
			     64, 1024,
			     "quoitd has two threads for each core and one for each reactor; all "
			     "programs of the user count"},
};

static void mend(struct finding *f, const struct rule *r, const struct subject *s, const char *unit)
{
	if (*unit && s->pid)
		finding_mend(f, r->why,
			     "sudo prlimit --%s=unlimited --pid %u  # for good: %s=infinity of %s",
			     r->word, s->pid, r->unit, unit);
	else if (s->known)
		finding_mend(f, r->why,
			     "echo \"$(id -un %u) - %s unlimited\" | sudo tee -a "
			     "/etc/security/limits.d/quoit.conf  # log in anew",
			     s->uid, r->word);
	else
		finding_mend(f, r->why, "# raise the limit of the user that quoitd runs as");
}

void judge_limit(struct finding *f, enum subject_limit which, const struct subject *s,
		 const char *unit)
{
	const struct rule *r = &rules[which];
	uint64_t value = s->limit[which].value;
	char text[24];

	if (!s->limit[which].known) {
		finding_say(f, LEVEL_NOTE, "it is not known how much of %s there may be", r->of);
		return;
	}
	/* The kernel does not apply the limit of threads to root. */
	if (value == SUBJECT_UNLIMITED || (which == SUBJECT_THREADS && s->known && s->uid == 0)) {
		finding_word(f, "unlimited");
		finding_say(f, LEVEL_OK, "no limit of %s (%s)", r->of, r->name);
		return;
	}
	if (r->bytes)
		format_bytes(value, text, sizeof text);
	else
		snprintf(text, sizeof text, "%" PRIu64, value);
	finding_number(f, (double)value);
	finding_say(f,
		    value < r->failure   ? LEVEL_FAILURE
		    : value < r->warning ? LEVEL_WARNING
					 : LEVEL_OK,
		    "%s of %s are allowed (%s)", text, r->of, r->name);
	if (value < r->warning)
		mend(f, r, s, unit);
}

#define TASKS_FAILURE 64u
#define TASKS_WARNING 512u

void judge_tasks(struct finding *f, const struct cgroup *c)
{
	static const char why[] =
		"quoitd has two threads for each core, one for each reactor, and some more";

	if (c->tasks == CGROUP_UNLIMITED) {
		finding_word(f, "unlimited");
		finding_say(f, LEVEL_OK, "no control group limits processes and threads");
		return;
	}
	finding_number(f, (double)c->tasks);
	finding_say(f,
		    c->tasks < TASKS_FAILURE   ? LEVEL_FAILURE
		    : c->tasks < TASKS_WARNING ? LEVEL_WARNING
					       : LEVEL_OK,
		    "control groups allow %" PRIu64 " processes and threads", c->tasks);
	if (c->tasks >= TASKS_WARNING)
		return;
	if (*c->unit)
		finding_mend(f, why, "sudo systemctl set-property %s TasksMax=infinity", c->unit);
	else
		finding_mend(f, why, "# raise pids.max of the control group that quoitd is in");
}

#define OPEN_FILES_LEFT 10000u

/* A limit of the whole machine; only root may go beyond it. */
void judge_open_files(struct finding *f, bool known, uint64_t used, uint64_t most)
{
	if (!known) {
		finding_say(f, LEVEL_NOTE,
			    "it is not known how many files the machine may have open");
		return;
	}
	finding_number(f, (double)most);
	if (most > INT64_MAX / 2) {
		finding_say(f, LEVEL_OK, "no limit of the machine's open files (fs.file-max)");
		return;
	}
	finding_say(f, used + OPEN_FILES_LEFT > most ? LEVEL_WARNING : LEVEL_OK,
		    "%" PRIu64 " of %" PRIu64 " files of the machine are open (fs.file-max)", used,
		    most);
	if (used + OPEN_FILES_LEFT > most)
		finding_mend(f, "each session takes some four files, each ring three",
			     "sudo sysctl fs.file-max=%" PRIu64, most + 1000000);
}

#define MAPPINGS_LEAST 16384u

void judge_mappings(struct finding *f, bool known, uint64_t mappings)
{
	if (!known) {
		finding_say(f, LEVEL_NOTE, "it is not known how many mappings a process may have");
		return;
	}
	finding_number(f, (double)mappings);
	finding_say(f, mappings < MAPPINGS_LEAST ? LEVEL_WARNING : LEVEL_OK,
		    "a process may have %" PRIu64 " mappings of memory (vm.max_map_count)",
		    mappings);
	if (mappings < MAPPINGS_LEAST)
		finding_mend(f, "each session takes some five mappings, each ring two",
			     "sudo sysctl vm.max_map_count=65530");
}
