/* SPDX-License-Identifier: MIT */
/* test_trace_tool.c - quoit trace: record what happens to jobs, and convert recordings */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <jansson.h>
#include <quoit.h>
#include <quoit/trace.h>

#include "client.h"
#include "daemon.h"
#include "tool.h"

/* ---- a recorder beside the test ---- */

static char folder[] = "/tmp/quoit-trace.XXXXXX";

static void make_folder(void)
{
	cr_assert(mkdtemp(folder));
}

static void remove_folder(void)
{
	char line[128];

	snprintf(line, sizeof line, "rm -r %s", folder);
	cr_expect_eq(system(line), 0);
}

TestSuite(trace_tool, .init = make_folder, .fini = remove_folder, .timeout = 120);

struct recorder {
	FILE *from;
	pid_t pid;
	char said[4096];
};

static uint64_t session_of(const struct client *c)
{
	struct quoit_info info;

	quoit_get_info(c->s, &info);
	return info.session;
}

/*
 * When the session's file was begun, once its reactor writes to it; 0: the session is not recorded.
 */
static uint64_t begun(const struct client *c)
{
	struct quoit_trace head = {.head = 0};
	char path[160];
	int fd;

	snprintf(path, sizeof path, "%s/" QUOIT_STATS_TRACE, c->d.folder,
		 (unsigned long long)session_of(c));
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	if (pread(fd, &head, sizeof head, 0) != sizeof head || !head.head)
		head.begun = 0; /* the first record is the count of open jobs */
	close(fd);
	return head.begun;
}

/* Wait until the session is recorded into a file other than this one. */
static void await_begin(const struct client *c, uint64_t other)
{
	for (int i = 0; i < 1000 && (!begun(c) || begun(c) == other); i++)
		usleep(5000);
	cr_assert(begun(c) && begun(c) != other, "nobody records");
}

/* Begin to record into a file of the folder. */
static void begin_into(struct recorder *r, const struct client *c, const char *options,
		       const char *name)
{
	char line[512];

	snprintf(line, sizeof line,
		 "exec 2>&1; %s/quoit trace record %s --socket=%s -o %s/%s & echo $!; wait $!; "
		 "echo =$?",
		 tool_folder(), options, c->d.socket, folder, name);
	r->from = popen(line, "r");
	cr_assert(r->from && fgets(r->said, sizeof r->said, r->from));
	r->pid = (pid_t)atoi(r->said);
}

/* Begin to record into "trace" of the folder, and wait until new jobs are recorded. */
static void begin(struct recorder *r, const struct client *c, const char *options)
{
	begin_into(r, c, options, "trace");
	await_begin(c, 0);
}

/* End the recorder, and read its messages. */
static void end(struct recorder *r, int sig)
{
	size_t n;

	if (sig)
		kill(r->pid, sig);
	n = fread(r->said, 1, sizeof r->said - 1, r->from);
	r->said[n] = '\0';
	pclose(r->from);
}

/* The number in front of these words. */
static uint64_t before(const char *said, const char *words)
{
	const char *at = strstr(said, words);

	cr_assert(at, "%s: %s", words, said);
	while (at > said && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return strtoull(at, NULL, 10);
}

static void push(const struct client *c, unsigned jobs)
{
	for (unsigned i = 0; i < jobs; i++)
		cr_assert_eq(quoit_push(c->q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_wait_all(c->q, QUOIT_FOREVER), 0);
}

static uint64_t done(const struct client *c)
{
	return daemon_session_counter(&c->d, session_of(c), QUOIT_SESSION_DONE);
}

/* ---- recording ---- */

Test(trace_tool, every_job_of_a_process_is_recorded)
{
	struct recorder r;
	struct client c;
	char options[32];
	uint64_t jobs = 0;

	client_open(&c, NULL, NULL);
	snprintf(options, sizeof options, "-p %d", (int)getpid());
	begin(&r, &c, options);
	for (int i = 0; i < 10; i++, usleep(10000)) /* its notes are read every millisecond */
		push(&c, 300);
	for (int i = 0; i < 500 && jobs < 3000; i++, usleep(10000))
		jobs = done(&c);
	end(&r, SIGINT);
	cr_expect_geq(jobs, 3000);
	cr_expect_eq(before(r.said, " jobs,"), jobs, "%s", r.said);
	cr_expect_gt(before(r.said, " events"), 0, "%s", r.said);
	cr_expect(strstr(r.said, "dropped by quoitd 0, lost 0, beyond --size 0"), "%s", r.said);
	cr_expect(strstr(r.said, "of a core here"), "%s", r.said);
	cr_expect(strstr(r.said, "=0\n"), "%s", r.said);
	client_close(&c);
}

Test(trace_tool, a_second_recorder_goes_on_where_the_first_has_left)
{
	struct recorder first, second;
	struct client c;
	uint64_t before_it;

	client_open(&c, NULL, NULL);
	begin(&first, &c, "-a");
	push(&c, 100);
	begin_into(&second, &c, "-a", "second");
	usleep(500000); /* by now it has asked, and knows that another recorder has the session */
	before_it = begun(&c);
	end(&first, SIGINT);
	await_begin(&c, before_it);
	push(&c, 1000);
	usleep(200000);
	end(&second, SIGINT);
	cr_expect_geq(before(second.said, " jobs,"), 1000, "%s", second.said);
	cr_expect(strstr(second.said, " lost 0,"), "%s", second.said);
	client_close(&c);
}

/* As many sessions as it asks for, and three more. */
Test(trace_tool, sessions_of_a_process_that_are_not_asked_for_are_said)
{
	struct quoit_session *more[66];
	const unsigned count = sizeof more / sizeof more[0];
	struct recorder r;
	struct client c;
	char options[64];

	client_open(&c, NULL, NULL);
	for (unsigned i = 0; i < count; i++)
		more[i] = client_session(&c, 1u << 20);
	snprintf(options, sizeof options, "-p %d --records=4096", (int)getpid());
	begin(&r, &c, options);
	end(&r, SIGINT);
	cr_expect(strstr(r.said, "3 of the 67 sessions of PID"), "%s", r.said);
	cr_expect_eq(before(r.said, " sessions;"), 64, "%s", r.said);
	for (unsigned i = 0; i < count; i++)
		quoit_close(more[i], 0);
	client_close(&c);
}

Test(trace_tool, all_sessions_are_recorded_for_a_time)
{
	struct recorder r;
	struct client c;

	client_open(&c, NULL, NULL);
	begin(&r, &c, "-a -t 0.3");
	push(&c, 10);
	end(&r, 0);
	cr_expect_geq(before(r.said, " jobs,"), 10, "%s", r.said);
	cr_expect_eq(before(r.said, " sessions"), 1, "%s", r.said);
	client_close(&c);
}

/* Record a whole program: returns its JSON, which the caller drops. */
static json_t *record_program(const char *program)
{
	char said[4096], path[128];
	json_error_t error;
	json_t *json;

	cr_assert_eq(tool_run(said, sizeof said, "trace record -o %s/trace -- %s/examples/%s",
			      folder, tool_folder(), program),
		     0, "%s", said);
	cr_expect(strstr(said, "lost 0, beyond --size 0"), "%s", said);
	cr_assert_eq(tool_run(said, sizeof said, "trace json %s/trace -o %s/json", folder, folder),
		     0, "%s", said);
	snprintf(path, sizeof path, "%s/json", folder);
	json = json_load_file(path, 0, &error);
	cr_assert(json, "%s at line %d", error.text, error.line);
	return json;
}

static unsigned count(const json_t *events, const char *ph, const char *name)
{
	unsigned n = 0;
	size_t i;
	json_t *e;

	json_array_foreach(events, i, e) n +=
		!strcmp(json_string_value(json_object_get(e, "ph")), ph) &&
		(!name || !strcmp(json_string_value(json_object_get(e, "name")), name));
	return n;
}

Test(trace_tool, a_program_becomes_tracks_arrows_and_counters, .timeout = 120)
{
	json_t *json = record_program("w1_queue"), *events = json_object_get(json, "traceEvents");

	/* Ten products, and five more; each appears on its ring and where it ran. */
	cr_expect_geq(count(events, "X", "gemm"), 30);
	cr_expect_geq(count(events, "s", NULL), 15);
	cr_expect_eq(count(events, "s", NULL), count(events, "f", NULL));
	cr_expect_geq(count(events, "C", "jobs"), 2);
	cr_expect_geq(count(events, "C", "memory"), 2);
	cr_expect_geq(count(events, "X", "submit"), 2);
	json_decref(json);
}

Test(trace_tool, a_program_has_its_own_exit_status)
{
	char said[4096];

	cr_expect_eq(
		tool_run(said, sizeof said, "trace record -o %s/trace -- sh -c 'exit 7'", folder),
		7, "%s", said);
	cr_expect(strstr(said, "0 jobs"), "%s", said);
	cr_expect_eq(
		tool_run(said, sizeof said, "trace record -o %s/trace -- /no/such/program", folder),
		127, "%s", said);
	cr_expect_eq(tool_run(said, sizeof said,
			      "trace record -o %s/trace --quoitd=--no-such -- true", folder),
		     125, "%s", said);
}

/* ---- failures ---- */

Test(trace_tool, a_daemon_that_dies_meanwhile_leaves_what_there_was)
{
	struct recorder r;
	struct client c;
	char said[4096];

	client_open(&c, NULL, NULL);
	begin(&r, &c, "-a");
	push(&c, 200);
	usleep(100000);
	daemon_kill(&c.d);
	end(&r, 0);
	cr_expect(strstr(r.said, "has ended; this is what there was"), "%s", r.said);
	cr_expect_geq(before(r.said, " jobs,"), 200, "%s", r.said);
	cr_expect(strstr(r.said, "=1\n"), "%s", r.said);
	cr_expect_eq(tool_run(said, sizeof said, "report %s/trace -o %s/page", folder, folder), 0);
	cr_expect(strstr(said, "quoitd ended during the recording"), "%s", said);
	quoit_close(c.s, 0);
	daemon_stop(&c.d);
}

Test(trace_tool, a_recorder_that_is_killed_leaves_a_file_that_can_be_read)
{
	struct recorder r;
	struct client c;
	char said[4096];

	client_open(&c, NULL, NULL);
	begin(&r, &c, "-a");
	push(&c, 100);
	/* the recorder has written that by now; if not, the file is valid all the same */
	usleep(300000);
	end(&r, SIGKILL);
	cr_expect_eq(tool_run(said, sizeof said, "report %s/trace -o %s/page", folder, folder), 0,
		     "%s", said);
	cr_expect(strstr(said, "the recording ends early"), "%s", said);
	push(&c, 10); /* quoitd goes on without the recorder */
	client_close(&c);
}

Test(trace_tool, a_file_that_is_full_counts_what_it_has_no_room_for)
{
	struct recorder r;
	struct client c;

	client_open(&c, NULL, NULL);
	begin(&r, &c, "-a --size=2M");
	for (int i = 0; i < 40; i++, usleep(2000))
		push(&c, 1000);
	end(&r, SIGINT);
	cr_expect_not(strstr(r.said, "beyond --size 0\n"), "%s", r.said);
	cr_expect(strstr(r.said, "=0\n"), "%s", r.said);
	client_close(&c);
}

Test(trace_tool, a_disk_that_is_full_is_said)
{
	char said[4096];

	cr_expect_eq(tool_run(said, sizeof said, "trace record -o /dev/full -- true"), 125, "%s",
		     said);
	cr_expect(strstr(said, "/dev/full: No space left"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "trace record -o %s/trace -- true", folder), 0);
	cr_expect_eq(tool_run(said, sizeof said, "report %s/trace -o /dev/full", folder), 1);
	cr_expect(strstr(said, "/dev/full: No space left"), "%s", said);
	cr_expect_eq(tool_run(said, sizeof said, "trace json %s/trace >/dev/full", folder), 1);
}

Test(trace_tool, a_pipe_that_is_closed_ends_it)
{
	char said[4096], line[128];

	cr_expect_eq(tool_run(said, sizeof said, "trace record -o %s/trace -- true", folder), 0);
	cr_expect_eq(tool_run(said, sizeof said, "trace json %s/trace | true", folder), 0, "%s",
		     said);
	cr_expect_eq(tool_run(said, sizeof said,
			      "trace record -o /dev/stdout -- sleep 0.2 2>%s/said | true", folder),
		     0);
	snprintf(line, sizeof line, "grep -q 'Broken pipe' %s/said", folder);
	cr_expect_eq(system(line), 0,
		     "it was ended by a signal, and the program was not waited for");
}

Test(trace_tool, what_is_no_recording_is_refused)
{
	static const char *const commands[] = {"trace json", "report -o -"};
	char said[4096];

	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "%s /proc/self/exe", commands[i]), 1);
		cr_expect(strstr(said, "is not a recording"), "%s", said);
		cr_expect_eq(tool_run(said, sizeof said, "%s /dev/zero", commands[i]), 1);
		cr_expect(strstr(said, "a regular file"), "%s", said);
		cr_expect_eq(tool_run(said, sizeof said, "%s %s/none", commands[i], folder), 1);
		cr_expect(strstr(said, "No such file"), "%s", said);
	}
}

Test(trace_tool, without_a_daemon_there_is_nothing_to_record)
{
	char said[4096];

	cr_expect_eq(tool_run(said, sizeof said, "trace record -a --socket=%s/none -o %s/trace",
			      folder, folder),
		     1);
	cr_expect(strstr(said, "no counters of quoitd beside"), "%s", said);
}

Test(trace_tool, a_process_without_a_session_is_said_to_have_none)
{
	struct daemon d;
	char said[4096], path[64];

	cr_assert_eq(daemon_start(&d, NULL), 0);
	cr_expect_eq(tool_run(said, sizeof said, "trace record -p 1 --socket=%s -o %s/trace",
			      d.socket, folder),
		     1);
	cr_expect(strstr(said, "no session of PID 1"), "%s", said);
	snprintf(path, sizeof path, "%s/trace", folder);
	cr_expect_eq(access(path, F_OK), -1, "what was there before stays as it is");
	daemon_stop(&d);
}

Test(trace_tool, words_that_make_no_sense_are_named)
{
	static const char *const rows[][2] = {
		{"trace", "which command?"},
		{"trace --", "unknown command '--'"},
		{"trace --recrod", "'--recrod'"},
		{"trace rekord", "did you mean 'record'"},
		{"trace record", "say what to record"},
		{"trace record ls", "'ls': the program must come after `--`"},
		{"trace record -a -- ls", "they take no program"},
		{"trace record -a -p 5", "not both"},
		{"trace record -p x", "'x' is not a PID"},
		{"trace record -a -t 1s", "'1s' is not a time"},
		{"trace record -t 1 -- ls", "until it ends"},
		{"trace record -a --size=9x", "'9x' is not a size"},
		{"trace record -a --records=1000", "'1000' is not a power of two"},
		{"trace record -a --quoitd=--eager", "--quoitd is for a private quoitd"},
		{"trace record -a --recrods=4096", "did you mean '--records'"},
		{"trace json", "name a recording"},
		{"trace json a b", "unexpected argument 'b'"},
		{"report", "name a recording"},
		{"report a b", "unexpected argument 'b': one recording"},
		{"reprot", "did you mean 'report'"},
	};
	char said[4096];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		cr_expect_eq(tool_run(said, sizeof said, "%s", rows[i][0]), 2, "%s: %s", rows[i][0],
			     said);
		cr_expect(strstr(said, rows[i][1]), "%s: %s", rows[i][0], said);
	}
}
