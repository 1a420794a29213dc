/* SPDX-License-Identifier: MIT */
/* test_bench.c - a benchmark that fails, or is ended, keeps its samples */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "tool.h"

#define SAID_BYTES (64u << 10)

static char samples_path[64];

/* Choose a name for the samples' file, which does not exist yet. */
static void no_samples(void)
{
	int fd;

	snprintf(samples_path, sizeof samples_path, "/tmp/quoit-samples-XXXXXX");
	fd = mkstemp(samples_path);
	cr_assert_geq(fd, 0);
	close(fd);
	unlink(samples_path);
}

/* Count the lines, each an object of this benchmark; *ret_errors: how many have an error. */
static unsigned count_samples(const char *bench, unsigned *ret_errors)
{
	FILE *from = fopen(samples_path, "re");
	unsigned count = 0;
	char line[512];

	*ret_errors = 0;
	while (from && fgets(line, sizeof line, from)) {
		json_t *sample = json_loads(line, 0, NULL);

		cr_assert(sample, "%s", line);
		cr_expect_str_eq(json_string_value(json_object_get(sample, "bench")), bench);
		cr_expect(json_string_value(json_object_get(sample, "series")));
		cr_expect(json_is_integer(json_object_get(sample, "round")));
		*ret_errors += json_object_get(sample, "error") != NULL;
		cr_expect_neq(json_object_get(sample, "error") == NULL,
			      json_object_get(sample, "value") == NULL, "%s", line);
		json_decref(sample);
		count++;
	}
	if (from)
		fclose(from);
	unlink(samples_path);
	return count;
}

Test(bench, a_series_that_takes_too_long_is_given_up)
{
	char said[SAID_BYTES];
	unsigned errors;

	no_samples();
	cr_expect_eq(tool_run(said, sizeof said, "bench idle --limit=1 --samples=%s", samples_path),
		     1);
	cr_expect(strstr(said, "idle_cpu took more than 1 s"), "%s", said);
	cr_expect(strstr(said, "idle_cpu      -"), "the table is there all the same: %s", said);
	cr_expect_eq(count_samples("idle", &errors), 1);
	cr_expect_eq(errors, 1);
}

Test(bench, the_series_behind_one_that_fails_goes_on)
{
	char said[SAID_BYTES];
	unsigned errors, lines;

	no_samples();
	setenv("QUOIT_LIBEXECDIR", "/nowhere", 1); /* quoit looks for the floor's program there */
	cr_expect_eq(tool_run(said, sizeof said,
			      "bench nop --rounds=2 --only=floor_1,quoit_1 --samples=%s",
			      samples_path),
		     1, "%s", said);
	cr_expect(strstr(said, "floor_1 was not measured"), "%s", said);
	lines = count_samples("nop", &errors);
	cr_expect_geq(errors, 2, "the floor, twice");
	cr_expect_geq(lines - errors, 2, "ours, twice: %s", said);
}

/* It also looks whether keys have the values and revisions that they must have, and fails else. */
Test(bench, keyspaces_are_measured)
{
	char said[SAID_BYTES];
	unsigned errors;

	no_samples();
	cr_expect_eq(
		tool_run(said, sizeof said, "bench keyspace --rounds=1 --samples=%s", samples_path),
		0, "%s", said);
	cr_expect_eq(count_samples("keyspace", &errors), 5, "%s", said);
	cr_expect_eq(errors, 0);
	cr_expect(strstr(said, "put_job/nop ") && strstr(said, "get/nop "), "%s", said);
}

Test(bench, a_signal_ends_the_measuring_and_what_there_is_is_printed)
{
	char said[SAID_BYTES];

	cr_expect_eq(tool_run(said, sizeof said,
			      "bench idle & pid=$!; sleep 1.5; kill -TERM $pid; wait $pid"),
		     128 + 15, "%s", said);
	cr_expect(strstr(said, "idle_cpu      -"), "%s", said);
}

Test(bench, samples_are_appended)
{
	char said[SAID_BYTES];
	unsigned errors;

	no_samples();
	for (int i = 0; i < 2; i++)
		cr_expect_eq(tool_run(said, sizeof said,
				      "bench nop --rounds=1 --only=quoit_1 --samples=%s",
				      samples_path),
			     0, "%s", said);
	cr_expect_eq(count_samples("nop", &errors), 4, "two series, twice: %s", said);
	cr_expect_eq(errors, 0);
	cr_expect_eq(tool_run(said, sizeof said, "bench nop --samples=/nowhere/at/all"), 1);
	cr_expect(strstr(said, "'/nowhere/at/all'"), "%s", said);
}
