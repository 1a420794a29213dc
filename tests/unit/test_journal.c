/* SPDX-License-Identifier: MIT */
/* test_journal.c - the fields of a log line, and whether there is a journal to take them */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/journal.h"

/* The fields, one per line. */
static const char *fields_of(const struct log_line *line)
{
	static char text[JOURNAL_FIELDS * JOURNAL_FIELD_BYTES];
	char bytes[JOURNAL_FIELDS][JOURNAL_FIELD_BYTES];
	struct iovec fields[JOURNAL_FIELDS];
	int n = journal_fields(line, bytes, fields);

	text[0] = '\0';
	for (int i = 0; i < n; i++) {
		strncat(text, fields[i].iov_base, fields[i].iov_len);
		strcat(text, "\n");
	}
	return text;
}

Test(journal, a_line_about_nobody_has_its_text_and_level)
{
	const struct log_line line = {.level = LOG_LEVEL_WARNING, .text = "all is well"};

	cr_expect_str_eq(fields_of(&line), "MESSAGE=all is well\nPRIORITY=4\n");
}

Test(journal, a_line_about_a_user_says_who)
{
	struct log_line line = {
		.level = LOG_LEVEL_INFO, .is_about = true, .about = {.uid = 0}, .text = "x"};

	cr_expect_str_eq(fields_of(&line), "MESSAGE=x\nPRIORITY=6\nQUOIT_UID=0\n");
	line.about = (struct log_about){
		.uid = UINT32_MAX - 1, .session = UINT64_MAX, .reason = "kill_ring_tail"};
	cr_expect_str_eq(fields_of(&line), "MESSAGE=x\nPRIORITY=6\nQUOIT_UID=4294967294\n"
					   "QUOIT_SESSION=18446744073709551615\n"
					   "QUOIT_REASON=kill_ring_tail\n");
}

Test(journal, the_longest_line_fits)
{
	struct log_line line = {.level = LOG_LEVEL_INFO};

	memset(line.text, 'x', sizeof line.text - 1);
	cr_expect_eq(strchr(fields_of(&line), '\n') - fields_of(&line),
		     (ptrdiff_t)(strlen("MESSAGE=") + sizeof line.text - 1));
}

static void set_stream(const struct stat *st, unsigned off)
{
	char text[64];

	snprintf(text, sizeof text, "%ju:%ju", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino + off);
	setenv("JOURNAL_STREAM", text, 1);
}

Test(journal, it_takes_fields_only_where_standard_error_is_its_stream)
{
	struct stat st;

	cr_assert_eq(fstat(STDERR_FILENO, &st), 0);
	unsetenv("JOURNAL_STREAM");
	cr_expect_not(journal_has_stderr());
	setenv("JOURNAL_STREAM", "nonsense", 1);
	cr_expect_not(journal_has_stderr());
	set_stream(&st, 1);
	cr_expect_not(journal_has_stderr());
	set_stream(&st, 0);
	cr_expect(journal_has_stderr());
}

/* ---- the destination of lines ---- */

static struct log_line sent;
static bool takes;

static bool take(const struct log_line *line)
{
	sent = *line;
	return takes;
}

/* One line about a user, as it appears on stderr. */
static const char *say_one(enum log_level level)
{
	const struct log_about about = {
		.uid = 7, .level = level, .session = 3, .reason = "kill_proto"};
	static char text[1024];
	int file = memfd_create("log", MFD_CLOEXEC), old = dup(STDERR_FILENO);
	ssize_t n;

	cr_assert_geq(dup2(file, STDERR_FILENO), 0);
	log_about(&about, "pid %d", 11);
	n = pread(file, text, sizeof text - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	cr_assert_geq(dup2(old, STDERR_FILENO), 0);
	return text;
}

Test(journal, a_line_that_it_takes_is_said_nowhere_else)
{
	takes = true;
	log_init(LOG_LEVEL_INFO, take);
	cr_expect_str_eq(say_one(0), "");
	cr_expect_str_eq(sent.text, "pid 11");
	cr_expect_eq(sent.length, 6);
	cr_expect(sent.is_about && sent.about.uid == 7 && sent.about.session == 3);
	cr_expect_str_eq(sent.about.reason, "kill_proto");
}

Test(journal, a_line_that_it_does_not_take_goes_to_standard_error_with_its_level)
{
	takes = false;
	log_init(LOG_LEVEL_INFO, take);
	cr_expect_str_eq(say_one(0), "<6>pid 11\n");
}

Test(journal, without_one_lines_are_plain)
{
	log_init(LOG_LEVEL_INFO, NULL);
	cr_expect_str_eq(say_one(0), "quoitd: pid 11\n");
}

Test(journal, a_line_about_somebody_can_be_a_warning)
{
	takes = false;
	log_init(LOG_LEVEL_WARNING, take);
	cr_expect_str_eq(say_one(0), "");
	cr_expect_str_eq(say_one(LOG_LEVEL_WARNING), "<4>pid 11\n");
}
