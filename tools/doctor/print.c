/* SPDX-License-Identifier: MIT */
/* print.c - print findings as lines for people or as JSON */
#include "print.h"

#include <stdio.h>

#include "read/format.h"

#define ESCAPED_BYTES (4 * FINDING_BYTES + 1)

static bool is_wanted(const struct finding *f, bool off_only)
{
	return !off_only || f->level >= LEVEL_WARNING;
}

/* ---- lines ---- */

static void print_part(const char *name, const char *text)
{
	char escaped[ESCAPED_BYTES];

	format_escape(text, escaped, sizeof escaped);
	printf("%-7s  %s %s\n", "", name, escaped);
}

static void print_finding(const struct finding *f)
{
	char escaped[ESCAPED_BYTES];

	format_escape(f->what, escaped, sizeof escaped);
	printf("%-7s  %-14s  %s\n", level_word(f->level), f->check, escaped);
	if (f->why)
		print_part("why: ", f->why);
	if (*f->mend)
		print_part("mend:", f->mend);
}

static void print_count(size_t count, const char *one, const char *more)
{
	printf("%zu %s, ", count, count == 1 ? one : more);
}

void findings_print(const struct findings *f, bool off_only)
{
	for (size_t i = 0; i < f->count; i++)
		if (is_wanted(&f->list[i], off_only))
			print_finding(&f->list[i]);
	if (off_only)
		return;
	print_count(findings_count(f, LEVEL_FAILURE), "failure", "failures");
	print_count(findings_count(f, LEVEL_WARNING), "warning", "warnings");
	print_count(findings_count(f, LEVEL_NOTE), "note", "notes");
	printf("%zu ok\n", findings_count(f, LEVEL_OK));
}

/* ---- JSON ---- */

/* Null for an empty text. */
static json_t *text_json(const char *text)
{
	char escaped[ESCAPED_BYTES];

	if (!text || !*text)
		return json_null();
	format_escape(text, escaped, sizeof escaped);
	return json_string(escaped);
}

static json_t *finding_json(const struct finding *f)
{
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "check", f->check, "level",
			 level_word(f->level), "what", text_json(f->what), "why", text_json(f->why),
			 "mend", text_json(f->mend), "value",
			 f->is_number ? json_real(f->number) : text_json(f->word));
}

bool findings_print_json(const struct findings *f, bool off_only)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < f->count; i++)
		if (is_wanted(&f->list[i], off_only))
			whole &= !json_array_append_new(list, finding_json(&f->list[i]));
	if (!whole) {
		json_decref(list);
		list = NULL; /* then the message about missing memory follows */
	}
	return format_json_print(list);
}
