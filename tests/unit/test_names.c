/* SPDX-License-Identifier: MIT */
/* test_names.c - what the log says of sections whose names become known */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/log.h"
#include "config/user_rules.h"
#include "control/names.h"

#define BOB 4711u

static char logged[4096];

static bool keep(const struct log_line *line)
{
	size_t n = strlen(logged);

	snprintf(logged + n, sizeof logged - n, "<%d>%.*s\n", line->level, (int)line->length,
		 line->text);
	return true;
}

static void section(struct user_rules *r, const char *words, unsigned file)
{
	const struct config_origin origin = {.kind = CONFIG_FILE, .file = file, .line = 2};
	struct rule_section *s = user_rules_begin(r, words, file, stderr);

	cr_assert_not_null(s);
	cr_assert(user_rules_assign(s, "share", "7", origin, stderr));
}

/* All names of `of` that are unknown are Bob's. */
static void learn(struct user_rules *of)
{
	static struct user_rules found;

	found = *of;
	for (unsigned i = 0; i < found.count; i++)
		if (!found.section[i].is_known) {
			found.section[i].is_known = true;
			found.section[i].id = BOB;
		}
	logged[0] = '\0';
	log_init(LOG_LEVEL_INFO, keep);
	names_take(of, &found);
	log_init(LOG_LEVEL_INFO, NULL);
}

#define TAKES(name) "<6>the section of user '" name "' takes effect: its name is known now\n"

Test(names, a_section_whose_name_becomes_known_is_said_to_take_effect_once)
{
	static struct user_rules r;

	section(&r, "user no-such-user", 0);
	learn(&r);
	cr_expect_str_eq(logged, TAKES("no-such-user"));
	learn(&r);
	cr_expect_str_eq(logged, "");
}

Test(names, a_second_section_is_not_said_to_take_effect)
{
	static struct user_rules r;

	section(&r, "user 4711", 0);
	section(&r, "user no-such-user", 0);
	learn(&r);
	cr_expect_str_eq(logged, "<4>a second section of user '4711' in one file, as "
				 "'no-such-user': it does not count\n");
}

Test(names, of_two_names_of_one_user_the_first_takes_effect)
{
	static struct user_rules r;

	section(&r, "user no-such-user", 0);
	section(&r, "user no-such-user-either", 0);
	learn(&r);
	cr_expect_str_eq(logged,
			 "<4>a second section of user 'no-such-user' in one file, as "
			 "'no-such-user-either': it does not count\n" TAKES("no-such-user"));
}

Test(names, sections_of_two_files_both_take_effect)
{
	static struct user_rules r;

	section(&r, "user no-such-user", 0);
	section(&r, "user no-such-user-either", 1);
	learn(&r);
	cr_expect_str_eq(logged, TAKES("no-such-user") TAKES("no-such-user-either"));
}
