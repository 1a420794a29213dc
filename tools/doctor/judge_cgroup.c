/* SPDX-License-Identifier: MIT */
/* judge_cgroup.c - judge the limits of control groups */
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "read/format.h"

/*
 * quoitd lends out half of the memory that its group allows.  A default session takes 21 MiB of
 * that: a lease of 16 and tables of 5 (docs/limits.md).  So with less than this, one or two
 * sessions fit.
 */
#define LEAST_BYTES (UINT64_C(128) << 20)

void judge_cgroup(struct finding *f, const struct cgroup *c)
{
	char number[2] = {(char)('0' + c->version), '\0'};

	finding_word(f, c->version ? number : "");
	if (!c->version)
		finding_say(f, LEVEL_NOTE, "no control group is known of this process");
	else
		finding_say(f, LEVEL_OK, "control groups of version %u%s%s", c->version,
			    *c->unit ? ", " : "", c->unit);
}

/*
 * How to lift a group's limit: by systemd if it made the group, since it would set the limit again.
 */
static void mend_limit(struct finding *f, const char *why, const struct cgroup *c, const char *path,
		       const char *property, const char *none)
{
	const char *last = strrchr(path, '/');
	size_t length = strlen(c->unit), before = last ? (size_t)(last - path) : 0;

	if (length && before > length && !strncmp(last - length, c->unit, length))
		finding_mend(f, why, "sudo systemctl set-property %s %s", c->unit, property);
	else if (finding_is_plain(path))
		finding_mend(f, why, "echo %s | sudo tee %s", none, path);
	else
		finding_mend(
			f, why,
			"systemd-cgls  # the group's name is no plain word: raise its limit by "
			"hand");
}

/*
 * A running quoitd says what it lends out (--memory).  One that is started now would read only its
 * own group's maximum, and lend out half of it, or half of the machine's memory.
 */
static void judge_lent(struct finding *f, uint64_t least, uint64_t lent)
{
	static const char *const why[] = {
		[LEVEL_WARNING] =
			"little is left for quoitd itself, its executors and the page cache",
		[LEVEL_FAILURE] =
			"the kernel kills quoitd, or holds it up, when sessions use all that "
			"they were lent",
	};
	enum level level = lent >= least ? LEVEL_FAILURE : LEVEL_WARNING;
	char allowed[16], part[16];

	format_bytes(least, allowed, sizeof allowed);
	format_bytes(lent, part, sizeof part);
	if (lent <= least / 3 * 2) { /* a quoitd may report any number */
		finding_say(f, LEVEL_OK, "control groups allow %s, of which quoitd lends out %s",
			    allowed, part);
		return;
	}
	finding_say(f, level, "control groups allow %s, and quoitd lends out %s", allowed, part);
	finding_mend(f, why[level], "quoitd --memory=%llu", (unsigned long long)(least / 2));
}

void judge_cgroup_memory(struct finding *f, const struct cgroup *c, uint64_t machine_bytes,
			 uint64_t host_limit)
{
	const struct cgroup_memory *m = &c->memory;
	const char *last = strrchr(m->path, '/');
	bool is_high = last && !strcmp(last, "/memory.high");
	uint64_t seen = m->own;
	char least[16];

	if (m->least == CGROUP_UNLIMITED) {
		finding_say(f, LEVEL_OK, "no control group limits memory");
		return;
	}
	if (machine_bytes && machine_bytes < seen)
		seen = machine_bytes;
	finding_number(f, (double)m->least);
	if (m->least >= LEAST_BYTES) {
		judge_lent(f, m->least,
			   host_limit ? host_limit
				      : (seen == CGROUP_UNLIMITED ? m->least : seen) / 2);
		return;
	}
	format_bytes(m->least, least, sizeof least);
	finding_say(f, LEVEL_FAILURE, "control groups allow %s of memory", least);
	mend_limit(f, "quoitd lends out half of it: there is room for hardly a session", c, m->path,
		   is_high ? "MemoryHigh=infinity" : "MemoryMax=infinity",
		   c->version == 2 ? "max" : "-1");
}

/* Of a hundred periods in which the group ran; some are stopped whenever a machine starts. */
#define STOPPED_WARNING 1
#define STOPPED_FAILURE 10

void judge_cgroup_cpu(struct finding *f, const struct cgroup *c, unsigned cpus)
{
	static const char why[] = "when the quota is used up, all threads stop for the rest of the "
				  "period (0.1 s as a rule), reactors too";
	const char *none = c->version == 2 ? "max" : "-1";
	const struct cgroup_cpu *limit = &c->cpu;
	double stopped =
		limit->periods ? 100.0 * (double)limit->throttled / (double)limit->periods : 0;

	if (limit->cpus <= 0) {
		finding_say(f, LEVEL_OK, "no control group limits the time of CPUs");
		return;
	}
	finding_number(f, limit->cpus);
	if (limit->cpus >= cpus && cpus && stopped <= STOPPED_WARNING) {
		finding_say(f, LEVEL_OK,
			    "control groups allow the time of %g CPUs, and %u may be used",
			    limit->cpus, cpus);
		return;
	}
	if (stopped > STOPPED_WARNING)
		finding_say(
			f,
			stopped > STOPPED_FAILURE || limit->cpus < 1 ? LEVEL_FAILURE
								     : LEVEL_WARNING,
			"control groups allow the time of %g CPUs, and stopped it in %.2g %% of "
			"the periods",
			limit->cpus, stopped);
	else
		finding_say(f, limit->cpus < 1 ? LEVEL_FAILURE : LEVEL_WARNING,
			    "control groups allow the time of %g CPUs, and %u may be used",
			    limit->cpus, cpus);
	mend_limit(f, why, c, limit->path, "CPUQuota=", none);
}
