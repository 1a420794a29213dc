/* SPDX-License-Identifier: MIT */
/* test_stat.c - quoit stat: a line since the start, then one every interval */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <jansson.h>
#include <quoit.h>

#include "client.h"
#include "daemon.h"
#include "tool.h"

static unsigned lines_of(const char *said)
{
	unsigned n = 0;

	for (; *said; said++)
		n += *said == '\n';
	return n;
}

Test(stat, one_line_under_its_header_without_an_interval)
{
	struct daemon d;
	char said[4096];

	cr_assert_eq(daemon_start(&d, NULL), 0);
	cr_expect_eq(tool_run(said, sizeof said, "stat --socket=%s", d.socket), 0);
	cr_expect_eq(lines_of(said), 2, "%s", said);
	cr_expect(strstr(said, "aqu-sz") && strstr(said, "%util"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "stat --no-headers --socket=%s", d.socket), 0);
	cr_expect_eq(lines_of(said), 1, "%s", said);
	daemon_stop(&d);
}

Test(stat, as_many_lines_as_asked_for)
{
	static const char *const two[] = {"--reactors=2", NULL};
	struct daemon d;
	char said[4096];

	cr_assert_eq(daemon_start(&d, two), 0);
	cr_expect_eq(tool_run(said, sizeof said, "stat --socket=%s --raw 0.01 3", d.socket), 0);
	cr_expect_eq(lines_of(said), 4, "%s", said);
	cr_expect_eq(strncmp(said, "time\tsess\topen\tjobs/s\taqu-sz\t", 29), 0, "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "stat --socket=%s --json 0.01 2", d.socket), 0);
	cr_expect_eq(lines_of(said), 2, "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "stat --reactors --socket=%s", d.socket), 0);
	cr_expect_geq(lines_of(said), 2, "%s", said);
	daemon_stop(&d);
}

/* A value of the first line, as JSON. */
static double first(const struct client *c, const char *key)
{
	char said[4096];
	json_t *json;
	double value;

	cr_assert_eq(tool_run(said, sizeof said, "stat --json --socket=%s", c->d.socket), 0);
	json = json_loads(said, 0, NULL);
	cr_assert_not_null(json, "%s", said);
	value = json_number_value(json_object_get(json, key));
	json_decref(json);
	return value;
}

Test(stat, says_what_was_done_since_the_start)
{
	struct client c;

	client_open(&c, NULL, NULL);
	cr_expect_eq(first(&c, "jobs_per_second"), 0);
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(quoit_push(c.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_wait_all(c.q, QUOIT_FOREVER), 0);
	for (int i = 0; i < 500 && first(&c, "jobs_per_second") == 0; i++)
		usleep(10000);
	cr_expect_gt(first(&c, "jobs_per_second"), 0);
	cr_expect_gt(first(&c, "util_percent"), 0);
	cr_expect_eq(first(&c, "sessions"), 1);
	client_close(&c);
}

/* A terminal of eighty columns shows each line without a break. */
Test(stat, lines_have_eighty_characters_unless_all_columns_are_wanted)
{
	static const char *const two[] = {"--reactors=2", NULL};
	static const char *const forms[] = {"", "--reactors", "0.01 3"};
	struct daemon d;
	char said[4096];

	cr_assert_eq(daemon_start(&d, two), 0);
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "stat --socket=%s %s", d.socket, forms[i]),
			     0);
		for (const char *line = said; *line; line += strcspn(line, "\n") + 1)
			cr_expect_leq(strcspn(line, "\n"), 80, "%s", said);
		cr_expect(strstr(said, "p99") && strstr(said, "%util"), "%s", said);
	}
	cr_expect_eq(tool_run(said, sizeof said, "stat --wide --socket=%s", d.socket), 0);
	cr_expect(strstr(said, "bell/s") && strstr(said, "kill"), "%s", said);
	daemon_stop(&d);
}

Test(stat, a_daemon_that_dies_meanwhile_is_said_to_be_dead)
{
	struct daemon d;
	char said[4096], line[512];
	FILE *from;
	size_t n;

	cr_assert_eq(daemon_start(&d, NULL), 0);
	snprintf(line, sizeof line, "%s/quoit stat --no-headers --socket=%s 0.05 2>&1; echo =$?",
		 tool_folder(), d.socket);
	from = popen(line, "r");
	cr_assert(from && fgets(said, sizeof said, from)); /* quoit stat has begun */
	daemon_kill(&d);
	n = fread(said, 1, sizeof said - 1, from);
	said[n] = '\0';
	pclose(from);
	cr_expect(strstr(said, "is dead"), "%s", said);
	cr_expect(strstr(said, "=1\n"), "%s", said);
	daemon_stop(&d);
	cr_expect_eq(tool_run(said, sizeof said, "stat --socket=%s", d.socket), 1);
	cr_expect(strstr(said, "no counters of quoitd"), "%s", said);
}

Test(stat, operands_that_make_no_sense_are_named)
{
	static const char *const rows[][2] = {
		{"0", "interval in seconds '0'"},       {"-1", "'-1'"},
		{"1s", "interval in seconds '1s'"},     {"nan", "interval in seconds 'nan'"},
		{"1 0", "invalid number of lines '0'"}, {"1 2x", "invalid number of lines '2x'"},
		{"1 2 3", "unexpected argument '3'"},
	};
	char said[4096];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "stat %s", rows[i][0]), 2, "%s",
			     rows[i][0]);
		cr_expect(strstr(said, rows[i][1]), "%s: %s", rows[i][0], said);
	}
}
