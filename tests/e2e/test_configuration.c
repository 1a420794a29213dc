/* SPDX-License-Identifier: MIT */
/* test_configuration.c - quoitd's options: checked before it starts, and shown while it runs */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "configuration.h"
#include "daemon.h"
#include "tool.h"

/* Returns its exit status, and its messages. */
static int check_config(const char *options, char *ret_said, size_t size)
{
	char command[512];
	FILE *said;
	size_t n;

	snprintf(command, sizeof command,
		 "%s/quoitd --check-config --socket=/tmp/quoit-not-made/s %s 2>&1", tool_folder(),
		 options);
	said = popen(command, "re");
	cr_assert(said);
	n = fread(ret_said, 1, size - 1, said);
	ret_said[n] = '\0';
	return WEXITSTATUS(pclose(said));
}

Test(configuration, quoitd_checks_its_options_and_does_nothing_else)
{
	static const char *const wrong[][2] = {
		{"--gpu=sofd", "gpu: invalid value 'sofd'"},
		{"--cpus=0-,1", "cpus: '0-,1'"},
		{"--cpus=1023", "cpus: '1023' has none"},
		{"--inject-hang=nowhere", "inject-hang: no thread 'nowhere'"},
		{"--gpu=sofd --lease=x", "gpu: invalid value 'sofd'"},
		{"--gpu=sofd --lease=x", "invalid value 'x' for option lease"},
		{"--disable=fill,gem", "unknown operation 'gem'"},
		{"--module=/nowhere/m.so", "'/nowhere/m.so'"},
		{"--config=/nowhere/q.conf", "/nowhere/q.conf"},
		{"--gpu=sofd --cpus=x --module=/nowhere/m.so", "gpu: invalid value 'sofd'"},
		{"--gpu=sofd --cpus=x --module=/nowhere/m.so", "cpus: 'x'"},
		{"--gpu=sofd --cpus=x --module=/nowhere/m.so", "'/nowhere/m.so'"},
	};
	char said[4096];

	cr_expect_eq(check_config("--gpu=soft:2 --cpus=0-3,8", said, sizeof said), 0);
	cr_expect_str_eq(said, "");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		cr_expect_eq(check_config(wrong[i][0], said, sizeof said), 2, "%s", wrong[i][0]);
		cr_expect(strstr(said, wrong[i][1]), "%s: %s", wrong[i][0], said);
	}
	cr_expect_eq(access("/tmp/quoit-not-made", F_OK), -1);
}

/* ---- files ---- */

static struct configuration configuration;

/* Start with a file, a drop-in, and an option that overrides both. */
static void start(struct daemon *d)
{
	const char *options[] = {configuration.option, "--max-jobs=256", NULL};

	cr_assert(configuration_make(&configuration,
				     "max-jobs = 64\n\nuid-rings = 77\nuid-memory = 1G\n"));
	cr_assert(configuration_write(
		&configuration, "q.conf.d/10.conf",
		"# less\nuid-memory = 512M\n[group 0]\nrings = 5\n[user root]\nshare = 300\n"));
	cr_assert_eq(daemon_start(d, options), 0);
}

static void stop(struct daemon *d)
{
	daemon_stop(d);
	cr_expect(configuration_remove(&configuration));
}

Test(configuration, what_is_wrong_is_named_with_the_line_that_it_is_from)
{
	char said[4096], option[80], expected[128];

	cr_assert(configuration_make(
		&configuration, "module = /nowhere/a.so\n\ngpu = sofd\nmodule = /nowhere/b.so\n"));
	snprintf(option, sizeof option, "%s --cpus=x", configuration.option);
	cr_expect_eq(check_config(option, said, sizeof said), 2);
	cr_expect(strstr(said, "q.conf, line 3: gpu: invalid value 'sofd'"), "%s", said);
	cr_expect(strstr(said, "q.conf, line 1: module: cannot read '/nowhere/a.so'"), "%s", said);
	snprintf(expected, sizeof expected, "%s, line 4: module: cannot read", configuration.file);
	cr_expect(strstr(said, expected), "%s", said);
	cr_expect(strstr(said, "command line: cpus: 'x'"), "%s", said);
	cr_expect(configuration_remove(&configuration));
}

/* ---- the sample ---- */

/* Lines of settings begin with '#'; lines of comments have '# ' or nothing else. */
Test(configuration, the_sample_is_valid_with_all_of_its_lines_and_names_every_option)
{
	char command[512], said[8192];
	FILE *missing;
	size_t n;

	cr_assert(configuration_make(&configuration, "%s", ""));
	snprintf(command, sizeof command, "%s/quoitd --sample | sed 's/^#\\([^ ]\\)/\\1/' >%s",
		 tool_folder(), configuration.file);
	cr_assert_eq(system(command), 0);
	cr_expect_eq(check_config(configuration.option, said, sizeof said), 0, "%s", said);
	cr_expect_str_eq(said, "");
	snprintf(command, sizeof command,
		 "%s/quoitd --help | sed -n 's/^  --\\([a-z-]*\\) .*/\\1/p' | "
		 "grep -vxE '(check-)?config' | while read -r o; do "
		 "grep -q \"^$o = \" %s || echo \"$o\"; done",
		 tool_folder(), configuration.file);
	missing = popen(command, "re");
	cr_assert(missing);
	n = fread(said, 1, sizeof said - 1, missing);
	said[n] = '\0';
	cr_expect_eq(pclose(missing), 0);
	cr_expect_str_eq(said, "", "not in the sample: %s", said);
	cr_expect(configuration_remove(&configuration));
}

/* ---- the configuration in force ---- */

/* Has an option's row this value, and this origin? */
static void expect_row(json_t *rows, const char *name, const char *value, const char *from)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *has = json_string_value(json_object_get(row, "value"));
		const char *is_from = json_string_value(json_object_get(row, "from"));

		if (strcmp(json_string_value(json_object_get(row, "name")), name))
			continue;
		cr_expect_str_eq(has, value, "%s: %s", name, has);
		cr_expect_str_eq(is_from, from, "%s: %s", name, is_from);
		return;
	}
	cr_expect_fail("no row '%s'", name);
}

Test(configuration, each_value_in_force_is_shown_with_where_it_is_from)
{
	static char said[65536];
	char file[128], dropin[128];
	struct daemon d;
	json_t *rows;

	start(&d);
	cr_assert_eq(tool_run(said, sizeof said, "config --json --socket=%s", d.socket), 0, "%s",
		     said);
	rows = json_loads(said, 0, NULL);
	cr_assert(rows, "%s", said);
	snprintf(file, sizeof file, "%s, line 3", configuration.file);
	snprintf(dropin, sizeof dropin, "%s.d/10.conf, line 2", configuration.file);
	expect_row(rows, "max-jobs", "256", "command line");
	expect_row(rows, "uid-rings", "77", file);
	expect_row(rows, "uid-memory", "536870912", dropin);
	snprintf(dropin, sizeof dropin, "%s.d/10.conf, line 6", configuration.file);
	expect_row(rows, "user.root.share", "300", dropin);
	snprintf(dropin, sizeof dropin, "%s.d/10.conf, line 4", configuration.file);
	expect_row(rows, "group.0.rings", "5", dropin);
	expect_row(rows, "lease", "16777216", "default");
	expect_row(rows, "eager", "no", "default");
	expect_row(rows, "module", "", "default");
	json_decref(rows);
	stop(&d);
}

Test(configuration, those_that_are_asked_for_are_shown_alone)
{
	char said[4096];
	struct daemon d;

	start(&d);
	cr_expect_eq(tool_run(said, sizeof said, "config --socket=%s uid-rings lease", d.socket),
		     0);
	cr_expect(strstr(said, "uid-rings 77 "), "%s", said);
	cr_expect(strstr(said, "lease "), "%s", said);
	cr_expect_not(strstr(said, "uid-memory"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "config --socket=%s uid-rigns", d.socket), 2);
	cr_expect(strstr(said, "'uid-rigns'"), "%s", said);
	cr_expect(strstr(said, "did you mean 'uid-rings'?"), "%s", said);
	stop(&d);
}

Test(configuration, that_of_a_dead_quoitd_is_shown_as_such)
{
	char said[16384];
	struct daemon d;

	start(&d);
	cr_assert_eq(kill(d.pid, SIGKILL), 0);
	cr_assert_eq(waitpid(d.pid, NULL, 0), d.pid);
	cr_expect_eq(tool_run(said, sizeof said, "config --socket=%s uid-rings", d.socket), 0);
	cr_expect(strstr(said, "is dead"), "%s", said);
	cr_expect(strstr(said, "uid-rings 77 "), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "config --socket=/nowhere/s"), 1);
	cr_expect(strstr(said, "/nowhere/s"), "%s", said);
	cr_expect(configuration_remove(&configuration));
}

Test(configuration, what_is_long_is_shown_whole)
{
	char said[4096], expected[512];

	snprintf(expected, sizeof expected, "name %0300d %0150d\n", 7, 8);
	cr_assert(configuration_make(&configuration, "%s", ""));
	cr_assert(configuration_write(&configuration, "config", "name\t%0300d\t%0150d\n", 7, 8));
	cr_expect_eq(tool_run(said, sizeof said, "config --socket=%s/s", configuration.folder), 0,
		     "%s", said);
	cr_expect(strstr(said, expected), "%s", said);
	cr_expect(configuration_remove(&configuration));
}

/* The file may come from another program, or another version. */
Test(configuration, what_is_no_configuration_is_passed_over)
{
	char said[4096], socket[128];

	cr_assert(configuration_make(&configuration, "%s", ""));
	cr_assert(configuration_write(&configuration, "config", "%s",
				      "\n\t\t\nno-value\nname\tval\033[2Jue\tthere\tmore\n\tx"));
	snprintf(socket, sizeof socket, "%s/s", configuration.folder);
	cr_expect_eq(tool_run(said, sizeof said, "config --socket=%s", socket), 0, "%s", said);
	cr_expect(strstr(said, "val\\x1b[2Jue"), "%s", said);
	cr_expect_not(strstr(said, "no-value"), "%s", said);
	cr_expect(configuration_remove(&configuration));
}
