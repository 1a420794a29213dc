/* SPDX-License-Identifier: MIT */
/*
 * subject.c - the process that the machine is examined for: the running quoitd, or one started from
 * here
 */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tree.h"

#define MOST_STATUS    65536 /* a user may be in very many groups */
#define MOST_LIMITS    8192
#define MOST_VARIABLES 131072

/* ---- /proc/PID/status ---- */

static bool list_of(const char *status, const char *name, struct numbers *ret)
{
	const char *field = tree_field(status, name);
	char list[4096];

	if (!field)
		return false;
	snprintf(list, sizeof list, "%.*s", (int)strcspn(field, " \t\n"), field);
	return numbers_parse(list, ret);
}

/* Parse "Uid:  real effective ...": the second number counts. */
static bool effective(const char *status, const char *name, uint32_t *ret)
{
	const char *field = tree_field(status, name);

	return field && sscanf(field, "%*u %u", ret) == 1;
}

static void read_groups(const char *status, struct subject *s)
{
	const char *at = tree_field(status, "Groups:");
	unsigned gid;
	int n;

	while (at && s->groups < SUBJECT_GROUPS && sscanf(at, "%u%n", &gid, &n) == 1) {
		s->group[s->groups++] = gid;
		at += n;
		at += strspn(at, " \t");
		if (*at == '\n')
			break;
	}
}

static uint64_t hexadecimal(const char *status, const char *name)
{
	const char *field = tree_field(status, name);

	return field ? strtoull(field, NULL, 16) : 0;
}

/* Is it in a user namespace with only some users?  The initial namespace has all. */
static bool has_namespace(int root, const struct subject *s)
{
	unsigned inside, outside, count;
	char line[64];

	return tree_line(root, line, sizeof line, "%s/uid_map", s->directory) &&
	       sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 &&
	       (inside || outside || count != UINT32_MAX);
}

static void read_status(int root, struct subject *s)
{
	char *status = malloc(MOST_STATUS);

	if (status && tree_read(root, status, MOST_STATUS, "%s/status", s->directory) > 0) {
		s->known = effective(status, "Uid:", &s->uid) && effective(status, "Gid:", &s->gid);
		read_groups(status, s);
		if (!has_namespace(root, s))
			s->capabilities = hexadecimal(status, "CapEff:");
		s->has_cpus = list_of(status, "Cpus_allowed_list:", &s->cpus);
		s->has_memories = list_of(status, "Mems_allowed_list:", &s->memories);
	}
	free(status);
}

/* ---- /proc/PID/limits ---- */

static bool parse_limit(const char *word, size_t length, uint64_t *ret)
{
	char text[32];

	snprintf(text, sizeof text, "%.*s", (int)length, word);
	*ret = SUBJECT_UNLIMITED;
	return !strcmp(text, "unlimited") || tree_parse_number(text, ret);
}

/* Find a line's soft limit, or the hard one behind it. */
static bool limit_of(const char *limits, const char *name, bool hard, uint64_t *ret)
{
	const char *field = tree_field(limits, name);

	if (field && hard) {
		field += strcspn(field, " \t\n");
		field += strspn(field, " \t");
	}
	return field && parse_limit(field, strcspn(field, " \t\n"), ret);
}

static void read_limits(int root, struct subject *s)
{
	static const char *const names[SUBJECT_LIMITS] = {
		[SUBJECT_FILE_SIZE] = "Max file size", [SUBJECT_ADDRESSES] = "Max address space",
		[SUBJECT_DATA] = "Max data size",      [SUBJECT_DESCRIPTORS] = "Max open files",
		[SUBJECT_THREADS] = "Max processes",
	};
	char limits[MOST_LIMITS];

	if (tree_read(root, limits, sizeof limits, "%s/limits", s->directory) <= 0)
		return;
	s->has_memlock = limit_of(limits, "Max locked memory", false, &s->memlock);
	for (unsigned i = 0; i < SUBJECT_LIMITS; i++)
		s->limit[i].known = limit_of(limits, names[i], true, &s->limit[i].value);
}

void subject_read(int root, uint32_t pid, struct subject *ret)
{
	*ret = (struct subject){.pid = pid, .directory = "proc/self"};
	if (pid)
		snprintf(ret->directory, sizeof ret->directory, "proc/%u", pid);
	read_status(root, ret);
	read_limits(root, ret);
}

/* ---- permissions ---- */

bool subject_is_in_group(const struct subject *s, uint64_t gid)
{
	for (unsigned i = 0; i < s->groups; i++)
		if (s->group[i] == gid)
			return true;
	return s->gid == gid;
}

bool subject_may_use(const struct subject *s, mode_t mode, uint32_t uid, uint32_t gid)
{
	mode_t both = S_IROTH | S_IWOTH;

	if (s->capabilities & SUBJECT_MAY_OVERRIDE)
		return true;
	if (s->uid == uid)
		both = S_IRUSR | S_IWUSR;
	else if (subject_is_in_group(s, gid))
		both = S_IRGRP | S_IWGRP;
	return (mode & both) == both;
}

/* ---- its environment ---- */

bool subject_variable(int root, const struct subject *s, const char *name, char *ret, size_t size)
{
	char *all = malloc(MOST_VARIABLES);
	int64_t n = all ? tree_read(root, all, MOST_VARIABLES, "%s/environ", s->directory) : -1;
	size_t length = strlen(name);
	bool found = false;

	for (const char *at = all; at && n > 0 && at < all + n && !found; at += strlen(at) + 1) {
		found = !strncmp(at, name, length) && at[length] == '=';
		if (found)
			snprintf(ret, size, "%s", at + length + 1);
	}
	free(all);
	return found;
}
