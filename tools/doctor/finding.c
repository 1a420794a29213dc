/* SPDX-License-Identifier: MIT */
/*
 * finding.c - a finding of quoit doctor: how bad it is, what was found, why it matters, what mends
 * it
 */
#include "finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/list.h"

const char *level_word(enum level level)
{
	static const char *const words[LEVEL_NR] = {"ok", "note", "warning", "failure"};

	return words[level];
}

struct finding *findings_add(struct findings *f, const char *check)
{
	struct finding *new = &f->spare;

	if (f->count == f->room && !f->failed) {
		struct finding *list = list_grow(f->list, &f->room, sizeof *list);

		f->failed = !list;
		f->list = list ? list : f->list;
	}
	if (!f->failed)
		new = &f->list[f->count++];
	*new = (struct finding){.check = check};
	return new;
}

void findings_free(struct findings *f)
{
	free(f->list);
	*f = (struct findings){0};
}

size_t findings_count(const struct findings *f, enum level level)
{
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++)
		n += f->list[i].level == level;
	return n;
}

void finding_say(struct finding *f, enum level level, const char *format, ...)
{
	va_list args;

	f->level = level;
	va_start(args, format);
	vsnprintf(f->what, sizeof f->what, format, args);
	va_end(args);
}

void finding_mend(struct finding *f, const char *why, const char *format, ...)
{
	va_list args;

	f->why = why;
	va_start(args, format);
	if (vsnprintf(f->mend, sizeof f->mend, format, args) >= (int)sizeof f->mend)
		snprintf(f->mend, sizeof f->mend, "# the command is too long to be shown");
	va_end(args);
}

void finding_number(struct finding *f, double number)
{
	f->is_number = true;
	f->number = number;
}

void finding_word(struct finding *f, const char *word)
{
	snprintf(f->word, sizeof f->word, "%s", word);
}

bool finding_is_plain(const char *word)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_./@:-";

	return *word && *word != '-' && !word[strspn(word, allowed)];
}
