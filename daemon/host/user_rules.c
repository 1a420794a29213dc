/* SPDX-License-Identifier: MIT */
/* user_rules.c - what a user may have: the table of such values, and the sections that say them */
#include "user_rules.h"

#include <string.h>

#include "ids.h"

#define BLANKS " \t"

#define ROW(rule, name, type, least, most, value, help)                                            \
	[rule] = {name, type, 0, sizeof(uint64_t), least, most, value, help, true}

const struct option_row user_rules_row[RULE_NR] = {
	ROW(RULE_SHARE, "share", OPTION_NUMBER, SHARE_LEAST, SHARE_MOST, "N",
	    "weight among the users when there is not enough for all; by default uid-share"),
	ROW(RULE_MEMORY, "memory", OPTION_BYTES, 0, UINT64_MAX, "BYTES",
	    "leases, tables and rings together (0: by its share); by default uid-memory"),
	ROW(RULE_CONNECTIONS, "connections", OPTION_NUMBER, 1, 100000, "N",
	    "connections; by default uid-connections"),
	ROW(RULE_RINGS, "rings", OPTION_NUMBER, 1, 262144, "N", "rings; by default uid-rings"),
	ROW(RULE_GPU_MEMORY, "gpu-memory", OPTION_BYTES, 0, UINT64_MAX, "BYTES",
	    "leases on each device (0: by its share); by default uid-gpu-memory"),
	ROW(RULE_LEASE, "lease", OPTION_BYTES, 0, UINT64_MAX, "BYTES",
	    "of a session that asks for none (0: 1/64 of memory, at least 16M); by default lease"),
};

static struct rule_section *find(struct user_rules *r, bool is_group, uint32_t id)
{
	for (unsigned i = 0; i < r->count; i++)
		if (r->section[i].is_group == is_group && r->section[i].id == id)
			return &r->section[i];
	return NULL;
}

/* "user alice" in two, without blanks around; false: the second is empty or too long. */
static bool split(const char *words, char kind[8], char name[OPTION_NAME_BYTES])
{
	const char *second;
	size_t length;

	words += strspn(words, BLANKS);
	length = strcspn(words, BLANKS);
	second = words + length + strspn(words + length, BLANKS);
	snprintf(kind, 8, "%.*s", length < 8 ? (int)length : 7, words);
	length = strlen(second);
	while (length && strchr(BLANKS, second[length - 1]))
		length--;
	if (!length || length >= OPTION_NAME_BYTES)
		return false;
	snprintf(name, OPTION_NAME_BYTES, "%.*s", (int)length, second);
	return true;
}

static struct rule_section *add(struct user_rules *r, bool is_group, uint32_t id, const char *name,
				FILE *err)
{
	struct rule_section *s = &r->section[r->count];

	if (r->count == RULES_SECTIONS) {
		fprintf(err, "more than %d sections of users and groups\n", RULES_SECTIONS);
		return NULL;
	}
	r->count++;
	*s = (struct rule_section){.is_group = is_group, .id = id};
	strcpy(s->name, name);
	return s;
}

struct rule_section *user_rules_begin(struct user_rules *r, const char *words, unsigned file,
				      FILE *err)
{
	char kind[8], name[OPTION_NAME_BYTES];
	bool has_name = split(words, kind, name), is_group = !strcmp(kind, "group");
	struct rule_section *s;
	uint32_t id;

	if ((!is_group && strcmp(kind, "user") != 0) || !has_name) {
		fprintf(err, "unknown section '%s'; there are [user NAME] and [group NAME]\n",
			words);
		return NULL;
	}
	if (ids_find(is_group, name, &id) < 0) {
		fprintf(err, "there is no %s '%s'\n", kind, name);
		return NULL;
	}
	s = find(r, is_group, id);
	if (s && s->file == file) {
		fprintf(err, "a second section of %s '%s' in this file\n", kind, name);
		return NULL;
	}
	s = s ? s : add(r, is_group, id, name, err);
	if (s)
		s->file = file;
	return s;
}

bool user_rules_assign(struct rule_section *s, const char *name, const char *text,
		       struct config_origin origin, FILE *err)
{
	for (unsigned i = 0; i < RULE_NR; i++) {
		const struct option_row *row = &user_rules_row[i];

		if (strcmp(row->name, name) != 0)
			continue;
		if (!option_put(row, &s->value[i], text)) {
			option_explain(row, text, err);
			return false;
		}
		s->origin[i] = origin;
		return true;
	}
	fprintf(err, "unknown option '%s' of a %s", name, s->is_group ? "group" : "user");
	option_suggest(user_rules_row, RULE_NR, name + (strncmp(name, "uid-", 4) ? 0 : 4), "", err);
	fputc('\n', err);
	return false;
}

static bool is_among(uint32_t id, const gid_t *gids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (gids[i] == id)
			return true;
	return false;
}

static void take(const struct rule_section *s, const struct rule_section *ret[RULE_NR])
{
	for (unsigned i = 0; i < RULE_NR; i++)
		if (!ret[i] && s->origin[i].kind != CONFIG_DEFAULT)
			ret[i] = s;
}

const struct rule_section *user_rules_of(const struct user_rules *r, uid_t uid)
{
	for (unsigned i = 0; i < r->count; i++)
		if (!r->section[i].is_group && r->section[i].id == uid)
			return &r->section[i];
	return NULL;
}

void user_rules_find(const struct user_rules *r, uid_t uid, const gid_t *gids, size_t count,
		     const struct rule_section *ret[RULE_NR])
{
	const struct rule_section *own = user_rules_of(r, uid);

	memset(ret, 0, RULE_NR * sizeof *ret);
	if (own)
		take(own, ret);
	for (unsigned i = 0; i < r->count; i++)
		if (r->section[i].is_group && is_among(r->section[i].id, gids, count))
			take(&r->section[i], ret);
}
