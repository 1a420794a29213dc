/* SPDX-License-Identifier: MIT */
/* stage_main.c - a program of cases: its options, and its summary */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

/* False: the word is not an option. */
static bool take_option(struct stage *s, const char *option)
{
	char *end = "";

	if (!strcmp(option, "--short"))
		s->times = 0;
	else if (!strcmp(option, "--full"))
		s->times = 1;
	else if (!strncmp(option, "--full=", 7))
		s->times = (uint32_t)strtoul(option + 7, &end, 10);
	else if (!strncmp(option, "--only=", 7))
		s->only = option + 7;
	else
		return false;
	return !*end && (s->times || strncmp(option, "--full", 6) != 0);
}

bool stage_init(struct stage *s, int argc, char **argv)
{
	*s = (struct stage){.random = 88172645463325252u, .daemon.pid = -1, .canary.pid = -1};
	for (int i = 1; i < argc; i++)
		if (!take_option(s, argv[i])) {
			fprintf(stderr, "usage: %s [--short | --full[=TIMES]] [--only=CASE]\n",
				argv[0]);
			return false;
		}
	return true;
}

uint32_t stage_times(const struct stage *s, uint32_t few, uint32_t many)
{
	uint64_t all = (uint64_t)s->times * many;

	if (!s->times)
		return few;
	return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX - 1;
}

int stage_end(const struct stage *s)
{
	printf("%u passed, %u failed, %u skipped\n", s->passed, s->failed, s->skipped);
	return s->failed ? 1 : s->passed ? 0 : 77;
}

int stage_main(int argc, char **argv, const struct stage_scene *scene,
	       const struct stage_case *cases, unsigned count)
{
	const struct stage_scene plain = {0};
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	stage_play(&s, scene ? scene : &plain, cases, count);
	return stage_end(&s);
}

int stage_main_alone(int argc, char **argv, const struct stage_case *cases, unsigned count)
{
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 2;
	stage_play_alone(&s, cases, count);
	return stage_end(&s);
}
