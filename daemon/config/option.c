/* SPDX-License-Identifier: MIT */
/* option.c - reads and writes values of each type, and explains errors */
#include "option.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <quoit/nearest.h>

#include "base/ids.h"

/* "4096", "64M", "2G": bytes with an optional K, M, G or T. */
static bool parse_number(const char *text, bool bytes, uint64_t *ret)
{
	static const char units[] = "KMGT";
	unsigned shift = 0;
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || errno) /* strtoull takes blanks and signs */
		return false;
	if (bytes && *end && strchr(units, *end)) {
		shift = 10 * (unsigned)(strchr(units, *end) - units + 1);
		end++;
	}
	if (*end || *ret > UINT64_MAX >> shift)
		return false;
	*ret <<= shift;
	return true;
}

static bool put_number(const struct option_row *row, uint64_t *field, const char *text)
{
	uint64_t number = UINT64_MAX;

	if (!(row->type == OPTION_FD && !strcmp(text, "none")) &&
	    (!parse_number(text, row->type == OPTION_BYTES, &number) || number < row->least ||
	     number > row->most))
		return false;
	*field = number;
	return true;
}

static bool put_flag(bool *field, const char *text)
{
	bool on = !text || !strcmp(text, "yes") || !strcmp(text, "true") || !strcmp(text, "1");

	if (!on && strcmp(text, "no") && strcmp(text, "false") && strcmp(text, "0"))
		return false;
	*field = on;
	return true;
}

static bool is_level(const char *text)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};

	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		if (!strcmp(text, levels[i]))
			return true;
	return false;
}

static bool put_group(struct option_group *field, const char *text)
{
	struct option_group group = {.gid = (gid_t)-1};
	uint32_t gid;

	if (*text && (strlen(text) >= sizeof group.name || ids_find(true, text, &gid) < 0))
		return false;
	if (*text)
		group.gid = gid;
	strcpy(group.name, text);
	*field = group;
	return true;
}

bool option_put(const struct option_row *row, void *field, const char *text)
{
	switch (row->type) {
	case OPTION_FLAG:
		return put_flag(field, text);
	case OPTION_GROUP:
		return put_group(field, text);
	case OPTION_TEXT:
	case OPTION_LEVEL:
		if (strlen(text) >= row->size || (row->type == OPTION_LEVEL && !is_level(text)))
			return false;
		strcpy(field, text);
		return true;
	default:
		return put_number(row, field, text);
	}
}

bool option_is_number(const struct option_row *row)
{
	return row->type == OPTION_NUMBER || row->type == OPTION_FD || row->type == OPTION_BYTES;
}

void option_explain(const struct option_row *row, const char *text, FILE *err)
{
	if (row->type == OPTION_GROUP)
		fprintf(err, "invalid value for option %s: there is no group '%s'", row->name,
			text);
	else
		fprintf(err, "invalid value '%s' for option %s", text, row->name);
	if (row->type == OPTION_NUMBER)
		fprintf(err, " (allowed: %llu to %llu)", (unsigned long long)row->least,
			(unsigned long long)row->most);
	else if (row->type == OPTION_BYTES)
		fprintf(err, " (allowed: bytes, as 65536, 64M or 2G)");
	if (strchr(text, '#'))
		fprintf(err, "; a comment after a value begins with ';'");
	fprintf(err, "; meaning: %s\n", row->help);
}

void option_tell(const struct option_row *row, const void *field, FILE *out)
{
	if (row->type == OPTION_FLAG)
		fputs(*(const bool *)field ? "yes" : "no", out);
	else if (row->type == OPTION_GROUP)
		fputs(((const struct option_group *)field)->name, out);
	else if (row->type == OPTION_TEXT || row->type == OPTION_LEVEL)
		fputs(field, out);
	else if (option_is_number(row) && *(const uint64_t *)field <= row->most)
		fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)field);
}

void option_suggest(const struct option_row *rows, size_t count, const char *word,
		    const char *prefix, FILE *err)
{
	const char *nearest = NULL;
	unsigned distance = UINT_MAX;

	for (size_t i = 0; i < count; i++)
		if (quoit_nearest_is(word, rows[i].name, &distance))
			nearest = rows[i].name;
	if (nearest)
		fprintf(err, "; did you mean '%s%s'?", prefix, nearest);
}
