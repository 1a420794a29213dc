/* SPDX-License-Identifier: MIT */
/* user_rules.c - the table of values that a user may have, and the sections that set them */
#include "user_rules.h"

#include <string.h>

#include "base/ids.h"

#define BLANKS " \t"

#define ROW(rule, name, type, least, most, value, help)                                            \
	[rule] = {name, type, 0, sizeof(uint64_t), least, most, value, help, true}

const struct option_row user_rules_row[RULE_NR] = {
	ROW(RULE_SHARE, "share", OPTION_NUMBER, SHARE_LEAST, SHARE_MOST, "N",
	    "weight against the other users when there is not enough for all (default: uid-share)"),
	ROW(RULE_MEMORY, "memory", OPTION_BYTES, 0, UINT64_MAX, "BYTES",
	    "host memory for leases, tables and rings together (0: by the share; default: "
	    "uid-memory)"),
	ROW(RULE_CONNECTIONS, "connections", OPTION_NUMBER, 1, 100000, "N",
	    "most connections at a time (default: uid-connections)"),
	ROW(RULE_RINGS, "rings", OPTION_NUMBER, 1, 262144, "N",
	    "most rings at a time (default: uid-rings)"),
	ROW(RULE_GPU_MEMORY, "gpu-memory", OPTION_BYTES, 0, UINT64_MAX, "BYTES",
	    "memory for leases on each device (0: by the share; default: uid-gpu-memory)"),
	ROW(RULE_LEASE, "lease", OPTION_BYTES, 0, UINT64_MAX, "BYTES",
	    "host memory promised to a session that asks for no amount (0: the lease grows; "
	    "default: lease)"),
};

static bool is_of(const struct rule_section *s, bool group)
{
	return s->is_known && s->part == RULES_COUNT && s->is_group == group;
}

static struct rule_section *find(const struct user_rules *r, const struct rule_section *like)
{
	for (unsigned i = 0; i < r->count; i++) {
		struct rule_section *s = (struct rule_section *)(uintptr_t)&r->section[i];

		if (s->is_group != like->is_group || s->is_known != like->is_known)
			continue;
		if (s->is_known ? s->id == like->id : !strcmp(s->name, like->name))
			return s;
	}
	return NULL;
}

/* Split "user alice", without blanks around.  False: the second word is empty or too long. */
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

static struct rule_section *add(struct user_rules *r, const struct rule_section *new, FILE *err)
{
	struct rule_section *s = &r->section[r->count];

	if (r->count == RULES_SECTIONS) {
		fprintf(err, "more than %d sections of users and groups\n", RULES_SECTIONS);
		return NULL;
	}
	r->count++;
	*s = *new;
	return s;
}

struct rule_section *user_rules_begin(struct user_rules *r, const char *words, unsigned file,
				      FILE *err)
{
	struct rule_section new = {0}, *s;
	char kind[8];
	bool has_name = split(words, kind, new.name), is_group = !strcmp(kind, "group");

	if ((!is_group && strcmp(kind, "user") != 0) || !has_name) {
		fprintf(err, "unknown section '%s'; allowed are [user NAME] and [group NAME]\n",
			words);
		return NULL;
	}
	new.is_group = is_group;
	new.is_known = ids_find(is_group, new.name, &new.id) == 0;
	s = find(r, &new);
	if (s && s->file == file) {
		fprintf(err, "a second section of %s '%s' in this file: put both into one\n", kind,
			new.name);
		return NULL;
	}
	if (!new.is_known && strspn(new.name, "0123456789") == strlen(new.name)) {
		fprintf(err, "there is no %s '%s'\n", kind, new.name);
		return NULL;
	}
	if (!new.is_known && !s)
		fprintf(err,
			"warning: there is no %s '%s' now: the section takes effect once there "
			"is\n",
			kind, new.name);
	s = s ? s : add(r, &new, err);
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

/* ---- names that become known ---- */

bool user_rules_lack_names(const struct user_rules *r)
{
	for (unsigned i = 0; i < r->count; i++)
		if (!r->section[i].is_known)
			return true;
	return false;
}

bool user_rules_look_again(struct user_rules *r)
{
	bool any = false;

	for (unsigned i = 0; i < r->count; i++) {
		struct rule_section *s = &r->section[i];

		if (s->is_known)
			continue;
		s->is_known = ids_find(s->is_group, s->name, &s->id) == 0;
		any |= s->is_known;
	}
	return any;
}

static struct rule_section *find_unknown(const struct user_rules *r,
					 const struct rule_section *like)
{
	struct rule_section unknown = *like;

	unknown.is_known = false;
	return find(r, &unknown);
}

static bool is_later(struct config_origin a, struct config_origin b)
{
	return a.file != b.file ? a.file > b.file : a.line > b.line;
}

/* Of the two, the later lines count. */
static void merge(struct rule_section *into, const struct rule_section *s)
{
	for (unsigned i = 0; i < RULE_NR; i++) {
		if (s->origin[i].kind == CONFIG_DEFAULT ||
		    (into->origin[i].kind != CONFIG_DEFAULT &&
		     is_later(into->origin[i], s->origin[i])))
			continue;
		into->value[i] = s->value[i];
		into->origin[i] = s->origin[i];
	}
	into->file = s->file > into->file ? s->file : into->file;
}

/* The first section of the same id; it may be this one. */
static struct rule_section *find_first(struct user_rules *r, const struct rule_section *like)
{
	struct rule_section *s = r->section;

	while (s != like && (!is_of(s, like->is_group) || s->id != like->id))
		s++;
	return s;
}

static bool stands_in(const struct rule_section *s, unsigned file)
{
	bool does = s->file == file;

	for (unsigned i = 0; i < RULE_NR; i++)
		does |= s->origin[i].kind == CONFIG_FILE && s->origin[i].file == file;
	return does;
}

static bool share_a_file(const struct rule_section *a, const struct rule_section *b)
{
	bool do_share = stands_in(a, b->file);

	for (unsigned i = 0; i < RULE_NR; i++)
		do_share |= b->origin[i].kind == CONFIG_FILE && stands_in(a, b->origin[i].file);
	return do_share;
}

static void join(struct user_rules *r, FILE *err)
{
	for (unsigned i = 0; i < r->count; i++) {
		struct rule_section *s = &r->section[i];
		struct rule_section *first = is_of(s, s->is_group) ? find_first(r, s) : s;

		if (first == s)
			continue;
		if (!share_a_file(first, s)) {
			merge(first, s);
			s->part = RULES_JOINED;
			continue;
		}
		s->part = RULES_SECOND;
		fprintf(err,
			"a second section of %s '%s' in one file, as '%s': it does not count\n",
			s->is_group ? "group" : "user", first->name, s->name);
	}
}

void user_rules_take_names(struct user_rules *r, const struct user_rules *from, FILE *err)
{
	for (unsigned i = 0; i < from->count; i++) {
		const struct rule_section *known = &from->section[i];
		struct rule_section *s = known->is_known ? find_unknown(r, known) : NULL;

		if (!s)
			continue;
		s->is_known = true;
		s->id = known->id;
	}
	join(r, err);
}

/* ---- one user ---- */

const struct rule_section *user_rules_of(const struct user_rules *r, uid_t uid)
{
	for (unsigned i = 0; i < r->count; i++)
		if (is_of(&r->section[i], false) && r->section[i].id == uid)
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
		if (is_of(&r->section[i], true) && is_among(r->section[i].id, gids, count))
			take(&r->section[i], ret);
}
