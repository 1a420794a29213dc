/* SPDX-License-Identifier: MIT */
/* test_counters.c - counter files are read by label, and no content is trusted */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "counters_case.h"
#include "read/counters.h"

/* Parse a copy of exactly `size` bytes, so that a sanitizer notices a read too far. */
static int parse_session(const void *bytes, size_t size, struct counters_session *ret)
{
	void *copy = malloc(size ? size : 1);
	int err;

	memcpy(copy, bytes, size);
	err = counters_parse_session(copy, size, ret);
	free(copy);
	return err;
}

static int parse_totals(const void *bytes, size_t size, struct counters_totals *ret)
{
	void *copy = malloc(size ? size : 1);
	int err;

	memcpy(copy, bytes, size);
	err = counters_parse_totals(copy, size, ret);
	free(copy);
	return err;
}

/* ---- valid files ---- */

Test(counters, every_session_counter_is_found_by_its_label)
{
	struct quoit_session_stats file;
	struct counters_session s;

	counters_case_session(&file);
	cr_assert_eq(parse_session(&file, sizeof file, &s), 0);
	cr_assert_eq(s.session, 5);
	cr_assert_eq(s.origin.daemon_pid, 77);
	cr_assert_eq(strlen(s.name), 32, "a name without an end is ended");
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		cr_assert(s.value[i].known && s.value[i].value == 100 + i, "%s", file.label[i]);
}

Test(counters, a_counter_under_an_unknown_label_is_skipped_and_ours_is_not_known)
{
	struct quoit_session_stats file;
	struct counters_session s;

	counters_case_session(&file);
	snprintf(file.label[QUOIT_SESSION_DONE], QUOIT_LABEL_BYTES, "of_a_later_version");
	cr_assert_eq(parse_session(&file, sizeof file, &s), 0);
	cr_assert_not(s.value[QUOIT_SESSION_DONE].known);
	cr_assert(s.value[QUOIT_SESSION_FAILED].known);
}

Test(counters, a_file_with_fewer_counters_is_read_as_far_as_it_goes)
{
	struct quoit_session_stats file;
	struct counters_session s;

	counters_case_session(&file);
	file.header.counters = 3;
	cr_assert_eq(parse_session(&file, sizeof file, &s), 0);
	cr_assert(s.value[2].known);
	cr_assert_not(s.value[3].known);
}

Test(counters, totals_have_their_counters_and_those_of_each_reactor_and_core)
{
	struct quoit_totals file;
	struct counters_totals t;

	counters_case_totals(&file);
	cr_assert_eq(parse_totals(&file, sizeof file, &t), 0);
	cr_assert_eq(t.reactors, 2);
	cr_assert_eq(t.reactor[1].cpu, 9);
	for (unsigned i = 0; i < QUOIT_DAEMON_NR; i++)
		cr_assert(t.value[i].known && t.value[i].value == 100 + i, "%s",
			  file.daemon_label[i]);
	for (unsigned i = 0; i < QUOIT_REACTOR_NR; i++)
		cr_assert(t.reactor[1].value[i].known && t.reactor[1].value[i].value == 1000 + i,
			  "%s", file.reactor_label[i]);
	cr_assert_eq(t.cores, 3);
	cr_assert_eq(t.core[2].cpu, 11);
	for (unsigned i = 0; i < QUOIT_CORE_NR; i++)
		cr_assert(t.core[2].value[i].known && t.core[2].value[i].value == 5200 + i, "%s",
			  file.core_label[i]);
}

/* ---- refusals ---- */

struct wrong {
	char what[40];
	size_t offset; /* of a 32-bit word in the header */
	uint32_t value;
	int expected;
};

ParameterizedTestParameters(counters, a_header_that_cannot_be_true_is_refused)
{
#define FIELD(f) offsetof(struct quoit_stats_header, f)
	static struct wrong rows[] = {
		{"another magic", FIELD(magic), 1, -EBADMSG},
		{"another version", FIELD(version), QUOIT_STATS_VERSION + 1, -EPROTONOSUPPORT},
		{"longer labels", FIELD(label_bytes), 32, -EPROTONOSUPPORT},
		{"no labels", FIELD(label_bytes), 0, -EPROTONOSUPPORT},
		{"longer than the file", FIELD(file_bytes), 1 << 20, -EBADMSG},
		{"values beyond the file", FIELD(header_bytes), 1 << 20, -EBADMSG},
		{"values at the very end", FIELD(header_bytes), sizeof(struct quoit_session_stats),
		 -EBADMSG},
		{"values inside the header", FIELD(header_bytes), 8, -EBADMSG},
		{"header that wraps", FIELD(header_bytes), UINT32_MAX, -EBADMSG},
		{"more counters than labels fit", FIELD(counters), QUOIT_SESSION_NR + 3, -EBADMSG},
		{"labels for reactors that do not fit", FIELD(reactor_counters), 3, -EBADMSG},
		{"far too many for cores", FIELD(core_counters), UINT32_MAX, -EBADMSG},
		{"far too many counters", FIELD(counters), UINT32_MAX, -EBADMSG},
		{"counters times label wraps", FIELD(counters), 0x0aaaaaab, -EBADMSG},
	};

	return cr_make_param_array(struct wrong, rows, sizeof rows / sizeof rows[0]);
}

ParameterizedTest(struct wrong *row, counters, a_header_that_cannot_be_true_is_refused)
{
	struct quoit_session_stats file;
	struct counters_session s;

	counters_case_session(&file);
	memcpy((char *)&file + row->offset, &row->value, sizeof row->value);
	cr_assert_eq(parse_session(&file, sizeof file, &s), row->expected, "%s", row->what);
}

Test(counters, more_reactors_than_there_can_be_are_refused)
{
	struct quoit_totals file;
	struct counters_totals t;

	counters_case_totals(&file);
	file.header.reactors = QUOIT_MAX_REACTORS + 1;
	cr_assert_eq(parse_totals(&file, sizeof file, &t), -EBADMSG);
	file.header.reactors = QUOIT_MAX_REACTORS;
	cr_assert_eq(parse_totals(&file, sizeof file, &t), 0);
}

Test(counters, reactors_that_are_not_in_the_file_are_refused)
{
	struct quoit_totals file;
	struct counters_totals t;
	const size_t size = offsetof(struct quoit_totals, reactor[1]);

	counters_case_totals(&file);
	file.header.cores = 0;
	file.header.cores_at = 0;
	file.header.file_bytes = (uint32_t)size;
	cr_expect_eq(parse_totals(&file, size, &t), -EBADMSG);
	file.header.reactors = 1;
	cr_expect_eq(parse_totals(&file, size, &t), 0);
}

Test(counters, more_cores_than_there_can_be_are_refused)
{
	static struct quoit_totals file;
	struct counters_totals t;

	counters_case_totals(&file);
	file.header.cores = QUOIT_MAX_CORES + 1;
	cr_assert_eq(parse_totals(&file, sizeof file, &t), -EBADMSG);
	file.header.cores = QUOIT_MAX_CORES;
	cr_assert_eq(parse_totals(&file, sizeof file, &t), 0);
	file.header.cores_at += 64;
	cr_assert_eq(parse_totals(&file, sizeof file, &t), -EBADMSG);
}

Test(counters, a_file_cut_short_anywhere_is_refused)
{
	struct quoit_session_stats session;
	struct quoit_totals totals;
	struct counters_session s;
	struct counters_totals t;

	counters_case_session(&session);
	for (size_t size = 0; size < sizeof session; size++)
		cr_assert_lt(parse_session(&session, size, &s), 0, "%zu bytes", size);
	counters_case_totals(&totals);
	for (size_t size = 0; size < sizeof totals; size += 64)
		cr_assert_lt(parse_totals(&totals, size, &t), 0, "%zu bytes", size);
}

Test(counters, random_words_in_a_good_file_do_no_harm)
{
	struct quoit_totals totals;
	struct counters_session s;
	struct counters_totals t;

	srandom(1);
	for (int round = 0; round < 20000; round++) {
		counters_case_totals(&totals);
		for (int i = 0; i < 3; i++) {
			uint32_t word = (uint32_t)random() >> random() % 31;
			size_t at = (size_t)random() %
				    (i ? sizeof totals - 4 : sizeof totals.header - 4);

			memcpy((char *)&totals + at, &word, sizeof word);
		}
		if (parse_totals(&totals, sizeof totals, &t) == 0)
			cr_assert_leq(t.reactors, QUOIT_MAX_REACTORS);
		(void)parse_session(&totals, sizeof totals, &s);
	}
}

Test(counters, a_file_without_magic_is_of_a_session_that_is_not_there_yet)
{
	struct quoit_session_stats file;
	struct counters_session s;
	FILE *f = tmpfile();

	counters_case_session(&file);
	for (int made = 0; made < 2; made++) {
		file.header.magic = made ? QUOIT_STATS_MAGIC : 0;
		rewind(f);
		cr_assert_eq(fwrite(&file, sizeof file, 1, f), 1);
		fflush(f);
		cr_expect_eq(counters_read_session(fileno(f), file.session, &s),
			     made ? 0 : -ENOENT);
	}
	fclose(f);
}

Test(counters, what_is_no_regular_file_is_not_read)
{
	struct counters_totals t;
	char folder[] = "/tmp/quoit-counters-XXXXXX", path[64];
	FILE *directory;

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/totals", folder);
	cr_assert_eq(mkfifo(path, 0600), 0);
	directory = fopen(folder, "r");
	cr_expect_eq(counters_read_totals(fileno(directory), &t), -EBADMSG);
	unlink(path);
	cr_expect_eq(symlink("/proc/self/status", path), 0);
	cr_expect_eq(counters_read_totals(fileno(directory), &t), -ELOOP);
	unlink(path);
	cr_expect_eq(counters_read_totals(fileno(directory), &t), -ENOENT);
	fclose(directory);
	rmdir(folder);
}

/* As in a program that was started with its standard input closed. */
Test(counters, a_file_is_read_by_whichever_descriptor_it_gets)
{
	char folder[] = "/tmp/quoit-counters-XXXXXX", path[64], bytes[16];
	FILE *directory, *file;

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/some", folder);
	file = fopen(path, "w");
	cr_assert(file && fputs("hello", file) >= 0);
	fclose(file);
	directory = fopen(folder, "r");
	close(STDIN_FILENO);
	cr_expect_eq(counters_read_file(fileno(directory), "some", bytes, sizeof bytes), 5);
	cr_expect_lt(fcntl(STDIN_FILENO, F_GETFD), 0, "it was closed again");
	fclose(directory);
	unlink(path);
	rmdir(folder);
}
