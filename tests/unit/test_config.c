/* SPDX-License-Identifier: MIT */
/* test_config.c - options from the command line and a file, and errors that name the word. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/hang_injection.h"
#include "config/config.h"

#define WORDS 4

static struct config config;
static char said[4096]; /* the messages on stderr */

/* Read a command line of up to WORDS words; `said` gets the messages. */
static int read_args(const char *const words[WORDS])
{
	char *argv[WORDS + 2] = {(char *)"quoitd"};
	FILE *err = fmemopen(said, sizeof said, "w"), *out = fopen("/dev/null", "w");
	int argc = 1, status;

	memset(said, 0, sizeof said);
	for (int i = 0; i < WORDS && words[i]; i++)
		argv[argc++] = (char *)words[i];
	config_init(&config);
	status = config_args(&config, argc, argv, out, err);
	fclose(err);
	fclose(out);
	return status;
}

static int read_bytes(const char *text, size_t size)
{
	char path[] = "/tmp/quoit-config-XXXXXX";
	FILE *err = fmemopen(said, sizeof said, "w");
	int fd = mkstemp(path), status;

	memset(said, 0, sizeof said);
	cr_assert_eq(write(fd, text, size), (ssize_t)size);
	close(fd);
	config_init(&config);
	status = config_file(&config, path, err);
	fclose(err);
	unlink(path);
	return status;
}

static int read_file(const char *text)
{
	return read_bytes(text, strlen(text));
}

Test(config, without_options_there_are_the_defaults)
{
	const char *const none[WORDS] = {NULL};

	cr_assert_eq(read_args(none), 0);
	cr_expect_str_eq(config.socket, "/run/quoit/quoitd.sock");
	cr_expect_str_eq(config.log, "info");
	cr_expect_not(config.is_private);
	cr_expect_eq(config.max_jobs, 4096);
	cr_expect_eq(config.ready_fd, UINT64_MAX);
}

static void set_or_unset(const char *name, const char *value)
{
	cr_assert_eq(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

Test(config, a_private_quoitd_listens_where_its_users_programs_look)
{
	static const struct {
		const char *word, *variable, *runtime;
		const char *socket;
	} rows[] = {
		{"--private", "/v/s", "/r", "/v/s"},
		{"--private", NULL, "/r", "/r/quoit/quoitd.sock"},
		{"--private", NULL, NULL, "/run/quoit/quoitd.sock"},
		{"--private", NULL, "", "/run/quoit/quoitd.sock"},
		{"--private=no", "/v/s", "/r", "/run/quoit/quoitd.sock"},
		{"--socket=/w/s", "/v/s", "/r", "/w/s"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *const words[WORDS] = {rows[i].word};

		set_or_unset("QUOIT_SOCKET", rows[i].variable);
		set_or_unset("XDG_RUNTIME_DIR", rows[i].runtime);
		cr_assert_eq(read_args(words), 0, "row %zu: %s", i, said);
		cr_expect_str_eq(config.socket, rows[i].socket, "row %zu: %s", i, config.socket);
	}
}

Test(config, a_path_that_is_empty_or_too_long_is_refused)
{
	static const char below[] = "/quoit/quoitd.sock";
	const char *const words[WORDS] = {"--private"};
	char runtime[QUOIT_SOCKET_BYTES] = "";

	set_or_unset("QUOIT_SOCKET", "");
	cr_expect_eq(read_args(words), -ENOENT);
	cr_expect(strstr(said, "QUOIT_SOCKET"), "%s", said);
	memset(runtime, 'r', sizeof runtime - sizeof below);
	set_or_unset("QUOIT_SOCKET", NULL);
	set_or_unset("XDG_RUNTIME_DIR", runtime);
	cr_expect_eq(read_args(words), 0, "%s", said);
	cr_expect_eq(strlen(config.socket), sizeof config.socket - 1);
	runtime[sizeof runtime - sizeof below] = 'r';
	set_or_unset("XDG_RUNTIME_DIR", runtime);
	cr_expect_eq(read_args(words), -ENAMETOOLONG);
	cr_expect(strstr(said, "XDG_RUNTIME_DIR"), "%s", said);
}

struct number {
	const char *text;
	uint64_t bytes;
	int status;
};

Test(config, bytes_may_have_a_unit)
{
	static const struct number numbers[] = {
		{"0", 0, 0},
		{"4096", 4096, 0},
		{"3K", 3072, 0},
		{"64M", UINT64_C(64) << 20, 0},
		{"2G", UINT64_C(2) << 30, 0},
		{"5T", UINT64_C(5) << 40, 0},
		{"18446744073709551615", UINT64_MAX, 0},
		{"18446744073709551616", 0, -EINVAL},
		{"16777216T", 0, -EINVAL},
		{"-1", 0, -EINVAL},
		{" -1", 0, -EINVAL},
		{"+1", 0, -EINVAL},
		{"64MB", 0, -EINVAL},
		{"64m", 0, -EINVAL},
		{"M", 0, -EINVAL},
		{"", 0, -EINVAL},
		{"0x10", 0, -EINVAL},
		{"1.5G", 0, -EINVAL},
	};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		const struct number *n = &numbers[i];
		const char *const words[WORDS] = {"--memory", n->text};

		cr_expect_eq(read_args(words), n->status, "'%s'", n->text);
		if (!n->status)
			cr_expect_eq(config.memory, n->bytes, "'%s' is %lu", n->text,
				     config.memory);
		else
			cr_expect(strstr(said, "memory"), "'%s': %s", n->text, said);
	}
}

struct line {
	const char *words[WORDS];
	const char *named; /* words that the message must contain */
};

Test(config, what_is_wrong_on_the_command_line_is_named)
{
	static const struct line lines[] = {
		{{"--frobnicate"}, "--frobnicate"},
		{{"--socket"}, "--socket"},
		{{"--socket"}, "needs a value"},
		{{"-x"}, "'-x'"},
		{{"-xy"}, "'-x'"},
		{{"--help=please"}, "--help=please"},
		{{"--memroy=1G"}, "'--memroy=1G'; did you mean '--memory'?"},
		{{"--chek-config"}, "'--chek-config'; did you mean '--check-config'?"},
		{{"--log=debgu"},
		 "invalid value 'debgu' for option log; meaning: error, warning, info or debug"},
		{{"word"}, "word"},
		{{"--private", "word"}, "word"},
		{{"--max-jobs=63"}, "64 to 65536"},
		{{"--max-jobs=65537"}, "64 to 65536"},
		{{"--max-jobs=64K"}, "'64K'"},
		{{"--reactors=65"}, "0 to 64"},
		{{"--private=perhaps"}, "'perhaps'"},
		{{"--hello-ms=9"}, "hello-ms"},
		{{"--config=/nowhere/quoitd.conf"}, "/nowhere/quoitd.conf"},
	};

	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		int status = read_args(lines[i].words);

		cr_expect_lt(status, 0, "row %zu", i);
		cr_expect(strstr(said, lines[i].named), "row %zu: %s", i, said);
	}
}

Test(config, a_path_too_long_for_a_socket_is_refused)
{
	char path[200], option[220];
	const char *words[WORDS] = {option};

	memset(path, 'x', sizeof path);
	for (size_t length = 106; length < 109; length++) {
		snprintf(option, sizeof option, "--socket=%.*s", (int)length, path);
		cr_expect_eq(read_args(words), length < 108 ? 0 : -EINVAL, "%zu", length);
	}
}

Test(config, a_flag_stands_alone_or_has_a_value)
{
	static const struct {
		const char *word;
		bool expected;
	} flags[] = {{"--private", true},      {"--private=yes", true}, {"--private=1", true},
		     {"--private=true", true}, {"--private=no", false}, {"--private=0", false}};

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		const char *const words[WORDS] = {flags[i].word};

		cr_expect_eq(read_args(words), 0);
		cr_expect_eq(config.is_private, flags[i].expected, "%s", flags[i].word);
	}
}

Test(config, modules_add_up_to_a_limit)
{
	char text[1024] = "";

	for (unsigned i = 0; i < CONFIG_MODULES; i++)
		strcat(text, "module = /lib/m.so\n");
	cr_expect_eq(read_file(text), 0);
	cr_expect_eq(config.modules, CONFIG_MODULES);
	strcat(text, "module = /lib/m.so\n");
	cr_expect_eq(read_file(text), -EINVAL);
	cr_expect_eq(config.modules, CONFIG_MODULES);
}

Test(config, a_file_has_the_names_of_the_options)
{
	cr_assert_eq(read_file("# a comment\nsocket = /tmp/s\nmemory = 1G\nprivate = yes\n"), 0,
		     "%s", said);
	cr_expect_str_eq(config.socket, "/tmp/s");
	cr_expect_eq(config.memory, UINT64_C(1) << 30);
	cr_expect(config.is_private);
}

Test(config, what_is_wrong_in_a_file_is_named_with_its_line)
{
	cr_expect_eq(read_file("socket = /tmp/s\nfrobnicate = 1\n"), -EINVAL);
	cr_expect(strstr(said, "frobnicate"), "%s", said);
	cr_expect(strstr(said, "line 2"), "%s", said);
	cr_expect_eq(read_file("memroy = 1G\n"), -EINVAL);
	cr_expect(strstr(said, "did you mean 'memory'?"), "%s", said);
	cr_expect_eq(read_file("[section]\nmemory = 1G\n"), -EINVAL);
	cr_expect(strstr(said, "section"), "%s", said);
	cr_expect_eq(read_file("reactors = 2 # two\n"), -EINVAL);
	cr_expect(strstr(said, "a comment after a value begins with ';'"), "%s", said);
	cr_expect_eq(read_file("\n\nmax-jobs = 1\n"), -EINVAL);
	cr_expect(strstr(said, "line 3"), "%s", said);
}

Test(config, all_that_is_wrong_in_a_file_is_said)
{
	static const char *const wrong[] = {
		"line 1: unknown option 'memroy'; did you mean 'memory'?",
		"line 3: expected 'name = value'",
		"line 4: invalid value '1G' for option max-jobs (allowed: 64 to 65536)",
		"line 5: the section's name lacks its ']'",
		"line 7: too long",
		"line 8: the line has a NUL byte",
		"line 9: invalid value 'frob' for option log",
		"line 11: expected 'name = value'",
		"line 12: invalid value '12Q' for option lease (allowed: bytes, as 65536, 64M or 2G)",
	};
	char text[4096];
	int length = snprintf(text, sizeof text,
			      "memroy = 1G\n\nword\nmax-jobs = 1G\n[section\nmemory = 2G\n"
			      "socket = /%0300d\ncpus = 0%c\nlog = frob\nreactors = 3\n"
			      "private ; = yes\nlease = 12Q\n",
			      0, '\1');

	*strchr(text, '\1') = '\0';
	cr_expect_eq(read_bytes(text, (size_t)length), -EINVAL);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		cr_expect(strstr(said, wrong[i]), "'%s' in: %s", wrong[i], said);
	cr_expect_eq(config.memory, UINT64_C(2) << 30);
	cr_expect_eq(config.reactors, 3);
}

/* Some readers of such files would take it for a continuation of the value before. */
Test(config, a_line_may_begin_with_blanks_and_the_last_one_may_lack_its_end)
{
	cr_expect_eq(read_file("socket = /tmp/s\n  \t \n  memory = 1G\n\treactors = 2"), 0, "%s",
		     said);
	cr_expect_str_eq(config.socket, "/tmp/s");
	cr_expect_eq(config.memory, UINT64_C(1) << 30);
	cr_expect_eq(config.reactors, 2);
}

/* ---- sections ---- */

static uint64_t rule_of(uid_t uid, enum rule rule)
{
	struct user_rule may;

	config_user(&config, uid, NULL, 0, &may);
	return may.value[rule];
}

Test(config, sections_say_what_users_and_groups_may_have)
{
	static const gid_t gid = 4000000002;
	struct user_rule may;

	cr_assert_eq(read_file("uid-share = 50\nuid-memory = 8G\n[user root]\nshare = 7\n"
			       "[ group  4000000002 ] ; all of them\nlease=32M\nconnections = 3\n"
			       "[user 4000000001]\nmemory = 2G\n"),
		     0, "%s", said);
	cr_expect(config_settle(&config, UINT64_C(16) << 30, UINT64_MAX));
	cr_expect_eq(rule_of(0, RULE_SHARE), 7);
	cr_expect_eq(rule_of(0, RULE_MEMORY), UINT64_C(8) << 30);
	cr_expect_eq(rule_of(0, RULE_LEASE), UINT64_C(128) << 20);
	cr_expect_eq(rule_of(4000000001, RULE_SHARE), 50);
	cr_expect_eq(rule_of(4000000001, RULE_LEASE), UINT64_C(32) << 20);
	config_user(&config, 5, &gid, 1, &may);
	cr_expect_eq(may.value[RULE_CONNECTIONS], 3);
	cr_expect_eq(may.value[RULE_LEASE], UINT64_C(32) << 20);
	cr_expect_eq(may.value[RULE_RINGS], 1024);
}

Test(config, session_that_asks_for_none_gets_no_more_than_its_user_may_have)
{
	cr_assert_eq(read_file("lease = 1G\nuid-memory = 512M\n[user root]\nmemory = 4M\n"), 0,
		     "%s", said);
	cr_expect(config_settle(&config, UINT64_C(16) << 30, UINT64_MAX));
	cr_expect_eq(rule_of(5, RULE_LEASE), 384 << 20);
	cr_expect_eq(rule_of(0, RULE_LEASE), 3 << 20);
}

Test(config, memory_is_no_more_than_there_may_be)
{
	config_init(&config);
	cr_expect(config_settle(&config, 5 << 20, 8 << 20));
	cr_expect_eq(config.memory, 5 << 20);
	config_init(&config);
	config.memory = 9 << 20;
	cr_expect_not(config_settle(&config, 5 << 20, 8 << 20));
	cr_expect_eq(config.memory, 8 << 20);
}

Test(config, without_a_limit_memory_is_divided_by_share_and_in_a_private_quoitd_it_is_not)
{
	const uint64_t all = UINT64_C(16) << 30;

	cr_assert_eq(read_file("[user root]\nmemory = 2G\n"), 0, "%s", said);
	config_settle(&config, all, all);
	cr_expect_eq(rule_of(5, RULE_MEMORY), 0);
	cr_expect_eq(rule_of(5, RULE_GPU_MEMORY), 0);
	cr_expect_eq(rule_of(5, RULE_LEASE), all / 64);
	cr_expect_eq(rule_of(0, RULE_LEASE), (UINT64_C(2) << 30) / 64);
	config.is_private = true;
	cr_expect_eq(rule_of(5, RULE_MEMORY), UINT64_MAX);
	cr_expect_eq(rule_of(5, RULE_GPU_MEMORY), UINT64_MAX);
	cr_expect_eq(rule_of(5, RULE_LEASE), all / 64);
	cr_expect_eq(rule_of(0, RULE_MEMORY), UINT64_C(2) << 30);
}

Test(config, what_is_wrong_in_a_section_is_named)
{
	static const char *const wrong[] = {
		"line 1: unknown section 'usr root'",
		"line 3: warning: there is no user 'no-such-user' now",
		"line 4: invalid value '0' for option share",
		"line 6: unknown option 'shar' of a user; did you mean 'share'?",
		"line 7: invalid value '0' for option share (allowed: 1 to 10000)",
		"line 8: a second section of user '0'",
		"line 10: unknown section 'group'",
		"line 11: unexpected text after the section's name",
		"line 12: there is no group '4294967295'",
		"line 14: unknown option 'max-jobs' of a group",
		"line 15: unknown option 'uid-memory' of a group; did you mean 'memory'?",
		"line 16: the section's name lacks its ']'",
	};

	cr_expect_eq(read_file("[usr root]\nshare = 1\n[user no-such-user]\nshare = 0\n"
			       "[user root]\nshar = 1\nshare = 0\n[user 0]\nshare = 3\n"
			       "[group]\n[user 5] x\n[group 4294967295]\n[group 5]\nmax-jobs = 64\n"
			       "uid-memory = 1G\n[user 6\n"),
		     -EINVAL);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		cr_expect(strstr(said, wrong[i]), "'%s' in: %s", wrong[i], said);
}

Test(config, there_is_a_limit_to_sections)
{
	static char text[16384];

	for (unsigned i = 0; i < RULES_SECTIONS; i++)
		sprintf(text + strlen(text), "[user %u]\nshare = 3\n", 5000 + i);
	cr_expect_eq(read_file(text), 0, "%s", said);
	strcat(text, "[user 4000]\nshare = 3\n");
	cr_expect_eq(read_file(text), -EINVAL);
	cr_expect(strstr(said, "more than 256 sections"), "%s", said);
}

Test(config, a_group_that_there_is_not_is_named)
{
	cr_expect_eq(read_file("stats-group = no-such-group\n"), -EINVAL);
	cr_expect(
		strstr(said,
		       "line 1: invalid value for option stats-group: there is no group 'no-such-group'"),
		"%s", said);
	cr_expect_eq(read_file("stats-group = root\n"), 0);
	cr_expect_eq(config.stats_group.gid, 0);
}

Test(config, an_empty_module_takes_those_before_it_back)
{
	cr_expect_eq(read_file("module = /a\nmodule =\nmodule = /b\n"), 0, "%s", said);
	cr_expect_eq(config.modules, 1);
	cr_expect_str_eq(config.module[0], "/b");
}

/* ---- reload ---- */

Test(config, what_takes_effect_at_a_reload_is_taken_and_the_rest_is_named)
{
	static struct config next;
	char waiting[256];

	cr_assert_eq(read_file("reactors = 2\nmax-jobs = 64\nmodule = /a\n"), 0);
	next = config;
	cr_assert_eq(read_file("\nreactors = 3\nmax-jobs = 128\nmodule = /b\ncpus = 0\n"
			       "[user 5]\nshare = 9\n"),
		     0);
	cr_expect(config_settle(&config, 1 << 30, UINT64_MAX));
	cr_expect(config_settle(&next, 1 << 30, UINT64_MAX));
	config_take(&next, &config, waiting, sizeof waiting);
	cr_expect_str_eq(waiting, "reactors cpus module");
	cr_expect_eq(next.reactors, 2);
	cr_expect_eq(next.max_jobs, 128);
	cr_expect_str_eq(next.module[0], "/a");
	cr_expect_eq(next.rules.count, 1);
	config_take(&next, &next, waiting, 2);
	cr_expect_str_eq(waiting, "");
}

/* ---- drop-ins ---- */

static char folder[] = "/tmp/quoit-config-XXXXXX";

static const char *path_in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_in_folder(name), "we");

	cr_assert(f);
	fputs(text, f);
	fclose(f);
}

static void make_folder(void)
{
	cr_assert(mkdtemp(folder));
	cr_assert_eq(mkdir(path_in_folder("q.conf.d"), 0755), 0);
	write_file("q.conf", "memory = 1G\nmax-jobs = 64\nreactors = 1\n");
}

static void remove_folder(void)
{
	char command[160];

	snprintf(command, sizeof command, "rm -r %s", folder);
	cr_expect_eq(system(command), 0);
}

static int read_folder(void)
{
	char option[160];
	const char *const words[WORDS] = {option, "--reactors=7"};

	snprintf(option, sizeof option, "--config=%s", path_in_folder("q.conf"));
	return read_args(words);
}

Test(config, dropins_win_over_the_file_in_the_order_of_their_names, .init = make_folder,
     .fini = remove_folder)
{
	write_file("q.conf.d/10-a.conf", "memory = 2G\nmax-jobs = 128\nreactors = 2\n");
	write_file("q.conf.d/20-b.conf", "memory = 3G\n");
	write_file("q.conf.d/30-c.conf~", "memory = 4G\n");
	write_file("q.conf.d/.40.conf", "memory = 5G\n");
	cr_assert_eq(read_folder(), 0, "%s", said);
	cr_expect_eq(config.memory, UINT64_C(3) << 30);
	cr_expect_eq(config.max_jobs, 128);
	cr_expect_eq(config.reactors, 7);
}

Test(config, a_section_may_go_on_in_a_dropin, .init = make_folder, .fini = remove_folder)
{
	write_file("q.conf", "reactors = 1\n[user 5]\nshare = 1\nrings = 2\n");
	write_file("q.conf.d/10-a.conf", "[user 5]\nshare = 4\n");
	write_file("q.conf.d/20-b.conf", "max-jobs = 64\n");
	cr_assert_eq(read_folder(), 0, "%s", said);
	cr_expect_eq(rule_of(5, RULE_SHARE), 4);
	cr_expect_eq(rule_of(5, RULE_RINGS), 2);
	cr_expect_eq(config.max_jobs, 64);
}

Test(config, what_is_wrong_in_a_dropin_is_said_with_what_is_wrong_in_the_file, .init = make_folder,
     .fini = remove_folder)
{
	write_file("q.conf", "memroy = 1G\n");
	write_file("q.conf.d/10-a.conf", "\nmax-jobs = 1\n");
	write_file("q.conf.d/20-b.conf", "log = debug\n");
	cr_expect_eq(read_folder(), -EINVAL);
	cr_expect(strstr(said, "q.conf, line 1: unknown option 'memroy'"), "%s", said);
	cr_expect(strstr(said, "q.conf.d/10-a.conf, line 2: invalid value '1' for option max-jobs"),
		  "%s", said);
	cr_expect_not(strstr(said, "20-b"), "%s", said);
}

Test(config, a_dropin_that_cannot_be_read_is_named, .init = make_folder, .fini = remove_folder)
{
	cr_assert_eq(mkdir(path_in_folder("q.conf.d/10-a.conf"), 0755), 0);
	cr_expect_lt(read_folder(), 0);
	cr_expect(strstr(said, "cannot read"), "%s", said);
	cr_expect(strstr(said, "10-a.conf"), "%s", said);
}

Test(config, the_sample_is_a_file_without_effect)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	config_sample(out);
	fclose(out);
	cr_expect_eq(read_file(text), 0, "%s", said);
	cr_expect_str_eq(config.socket, "");
	cr_expect(strstr(text, "max-tensors"));
	free(text);
}

/* Lines of settings begin with '#'; lines of comments have '# ' or nothing else. */
static void uncomment(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != '#' || (from > text && from[-1] != '\n') || strchr(" \n", from[1]))
			*to++ = *from;
	*to = '\0';
}

Test(config, the_sample_with_all_of_its_lines_has_each_option_with_its_default)
{
	static struct config defaults;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	config_sample(out);
	fclose(out);
	uncomment(text);
	cr_assert_eq(read_file(text), 0, "%s", said);
	config_init(&defaults);
	cr_expect_eq(config.max_jobs, defaults.max_jobs);
	cr_expect_eq(config.gpu_peers, defaults.gpu_peers);
	cr_expect_eq(config.ready_fd, defaults.ready_fd);
	cr_expect_eq(config.modules, 0);
	cr_expect_eq(config.rules.count, 2);
	cr_expect_eq(config.origin[0].kind, CONFIG_FILE);
	for (unsigned i = 0; i + 1 < CONFIG_OPTIONS; i++) /* all, up to the end of the table */
		cr_expect(config.origin[i].kind == CONFIG_FILE ||
				  config.origin[i + 1].kind == CONFIG_DEFAULT,
			  "option %u", i);
	free(text);
}

Test(config, what_is_near_to_nothing_is_taken_for_nothing)
{
	const char *const words[WORDS] = {"--frobnicate"};

	cr_expect_lt(read_args(words), 0);
	cr_expect_not(strstr(said, "did you mean"), "%s", said);
}

Test(config, the_help_names_each_thread_that_can_be_made_to_get_stuck)
{
	char names[] = HANG_NAMES, *rest = names, *name;
	unsigned count = 0;

	while ((name = strsep(&rest, ", ")) != NULL) {
		enum hang_place place = HANG_NOWHERE;

		if (!*name)
			continue;
		cr_expect(hang_find(name, &place) && place != HANG_NOWHERE, "%s", name);
		count++;
	}
	cr_expect_eq(count, HANG_EXIT, "%u, not all %d", count, HANG_EXIT);
}

Test(config, help_and_version_end_well)
{
	const char *const help[WORDS] = {"--help"}, *const version[WORDS] = {"--version"};

	cr_expect_eq(read_args(help), 1);
	cr_expect_eq(read_args(version), 1);
}

/* ---- names that do not exist yet ---- */

Test(config, a_section_of_a_name_that_nobody_knows_is_a_warning_and_counts_for_nobody)
{
	cr_expect_eq(read_file("[user no-such-user]\nshare = 7\n[group no-such-group]\nshare = 8\n"
			       "[user root]\nshare = 9\n"),
		     0);
	cr_expect(strstr(said, "line 1: warning: there is no user 'no-such-user' now"), "%s", said);
	cr_expect(strstr(said, "line 3: warning: there is no group 'no-such-group' now"), "%s",
		  said);
	config_settle(&config, 1 << 30, UINT64_MAX);
	cr_expect(user_rules_lack_names(&config.rules));
	cr_expect_eq(rule_of(0, RULE_SHARE), 9);
	cr_expect_eq(rule_of((uid_t)-1, RULE_SHARE), SHARE_NORMAL);
	cr_expect_eq(rule_of(5, RULE_SHARE), SHARE_NORMAL);
	cr_expect_not(user_rules_look_again(&config.rules), "nobody knows them yet");
}

Test(config, once_the_name_is_known_its_section_counts)
{
	static struct user_rules found;

	cr_expect_eq(read_file("[user no-such-user]\nshare = 7\n[user another]\nshare = 8\n"), 0);
	config_settle(&config, 1 << 30, UINT64_MAX);
	found = config.rules;
	found.section[0].is_known = true;
	found.section[0].id = 4711;
	cr_expect_not(config.rules.section[0].is_known);
	user_rules_take_names(&config.rules, &found, stderr);
	cr_expect_eq(rule_of(4711, RULE_SHARE), 7);
	cr_expect(user_rules_lack_names(&config.rules), "one is left");
	cr_expect(config.rules.section[0].is_known);
}

/* The first section's name turns out to be 4711, which has a section already. */
static void learn_the_first(char **ret_said)
{
	static struct user_rules found;
	size_t size;
	FILE *err = open_memstream(ret_said, &size);

	found = config.rules;
	found.section[0].is_known = true;
	found.section[0].id = 4711;
	user_rules_take_names(&config.rules, &found, err);
	fclose(err);
}

Test(config, a_second_section_of_one_user_does_not_count_when_that_comes_out_later)
{
	static const char text[] = "[user no-such-user]\nshare = 7\n[user 4711]\nrings = 8\n";
	char *warned;

	cr_expect_eq(read_file(text), 0);
	config_settle(&config, 1 << 30, UINT64_MAX);
	learn_the_first(&warned);
	cr_expect(strstr(warned, "a second section of user 'no-such-user' in one file, as '4711'"),
		  "'%s'", warned);
	cr_expect_eq(rule_of(4711, RULE_SHARE), 7);
	cr_expect_neq(rule_of(4711, RULE_RINGS), 8);
	free(warned);
	learn_the_first(&warned);
	cr_expect_str_eq(warned, "", "it is said once");
	free(warned);
}

Test(config, sections_of_one_user_in_two_files_are_one_when_that_comes_out_later)
{
	static const char text[] = "[user no-such-user]\nshare = 7\nrings = 6\n[user 4711]\n"
				   "share = 9\nconnections = 10\n";
	char *warned;

	cr_expect_eq(read_file(text), 0);
	config_settle(&config, 1 << 30, UINT64_MAX);
	/* As if it were read from a later file. */
	config.rules.section[1].file = 1;
	config.rules.section[1].origin[RULE_SHARE].file = 1;
	config.rules.section[1].origin[RULE_CONNECTIONS].file = 1;
	learn_the_first(&warned);
	cr_expect_str_eq(warned, "");
	cr_expect_eq(rule_of(4711, RULE_SHARE), 9, "the later line counts");
	cr_expect_eq(rule_of(4711, RULE_RINGS), 6);
	cr_expect_eq(rule_of(4711, RULE_CONNECTIONS), 10);
	free(warned);
}
