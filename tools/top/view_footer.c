/* SPDX-License-Identifier: MIT */
/* view_footer.c - make the last line, with the most useful keys */
#include <stdio.h>
#include <string.h>

#include "view_private.h"

static const struct {
	char key;
	const char *name, *words;
} keys[] = {
	{'h', "h", "help"},     {'\r', "Enter", "session"}, {'u', "u", "users"},
	{'/', "/", "search"},   {'k', "k", "end session"},  {'c', "c", "columns"},
	{'d', "d", "interval"}, {'q', "q", "end"},
};

#define KEYS (sizeof keys / sizeof keys[0])

void view_footer(struct view *v)
{
	v->footer_at = v->count;
	for (size_t i = 0; i < KEYS; i++) {
		view_add(v, VIEW_STRONG, "%s", keys[i].name);
		view_add(v, VIEW_TITLE, " %s ", keys[i].words);
	}
	view_pad(v, VIEW_TITLE, v->width);
	view_end_line(v);
}

char view_footer_key(unsigned x)
{
	size_t end = 0;

	for (size_t i = 0; i < KEYS; i++) {
		end += strlen(keys[i].name) + strlen(keys[i].words) + 2;
		if (x < end)
			return keys[i].key;
	}
	return 0;
}
