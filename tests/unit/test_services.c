/* SPDX-License-Identifier: MIT */
/* test_services.c - `quoit ls` and `quoit calls`: what they ask quoitd, and print of its answers */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "answering.h"
#include "commands.h"
#include "read/services.h"

#define NOBODY 4000001u /* without a name */

static struct quoit_service_reply services[] = {
	{.service = 3,
	 .name = "fft",
	 .servers = 2,
	 .lanes = 4,
	 .known = 1,
	 .callers = 1,
	 .waiting = 5,
	 .running = 4,
	 .calls = 100,
	 .failed = 7,
	 .again = 2,
	 .ticks = 1000},
	{.service = 4,
	 .name = "a\nb",
	 .uid = NOBODY,
	 .gid = NOBODY + 1,
	 .mode = QUOIT_SERVE_GROUP,
	 .servers = 1,
	 .lanes = 1},
	{.service = 9,
	 .name = "sort",
	 .uid = NOBODY,
	 .mode = QUOIT_SERVE_OTHERS,
	 .servers = 1,
	 .lanes = 8},
	{.service = 12,
	 .name = "ledger",
	 .uid = NOBODY,
	 .kind = QUOIT_SYNC_LOCK,
	 .known = 1,
	 .callers = 2,
	 .waiting = 1,
	 .holder = 4711,
	 .calls = 9},
	{.service = 13,
	 .name = "slots",
	 .uid = NOBODY,
	 .kind = QUOIT_SYNC_SEMAPHORE,
	 .known = 1,
	 .callers = 1,
	 .value = 5},
	{.service = 14,
	 .name = "rows",
	 .uid = NOBODY,
	 .kind = QUOIT_SYNC_QUEUE,
	 .known = 1,
	 .callers = 2,
	 .waiting = 3,
	 .calls = 70,
	 .kib = 3},
	{.service = 15,
	 .name = "settings",
	 .uid = NOBODY,
	 .kind = QUOIT_SYNC_KEYSPACE,
	 .known = 1,
	 .callers = 1,
	 .value = 2,
	 .kib = 1},
};

static struct quoit_caller_reply callers[] = {
	{.service = 3,
	 .caller = 1,
	 .session = 77,
	 .uid = NOBODY,
	 .pid = 12,
	 .waiting = 5,
	 .running = 4,
	 .calls = 100,
	 .failed = 7},
	{.service = 9, .caller = 2, .session = 78, .uid = NOBODY, .pid = 13, .calls = 1},
	{.service = 9, .caller = 6, .session = 79, .uid = NOBODY, .pid = 14, .calls = 2},
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* ---- a quoitd that has only these ---- */

static bool stuck; /* it always answers with the first one */

static bool answer(struct quoit_ctl *m)
{
	const uint64_t service = m->services.service, caller = m->services.caller;

	m->result = -ENOENT;
	for (size_t i = 0; m->type == QUOIT_CTL_SERVICES && i < COUNT(services); i++)
		if (stuck || services[i].service >= service) {
			m->result = 0;
			m->service_reply = services[i];
			return true;
		}
	for (size_t i = 0; m->type == QUOIT_CTL_CALLERS && i < COUNT(callers); i++)
		if (callers[i].service == service && (stuck || callers[i].caller >= caller)) {
			m->result = 0;
			m->caller_reply = callers[i];
			return true;
		}
	return true;
}

static void start(void)
{
	services[0].uid = geteuid();
	answering_start(answer);
}

TestSuite(services, .init = start, .fini = answering_stop);

/* ---- run a command ---- */

typedef int command_fn(int argc, char **argv);

static char *said, *complained;

/* Its exit status; what it prints is in `said` and `complained`. */
static int run(command_fn *command, const char *name, const char *a, const char *b)
{
	const char *words[] = {name, "--socket", answering_path, a, a ? b : NULL, NULL};
	FILE *const out = stdout, *const err = stderr;
	size_t said_bytes, complained_bytes;
	int argc = 0, status;

	while (words[argc])
		argc++;
	free(said); /* of the run before */
	free(complained);
	stdout = open_memstream(&said, &said_bytes);
	stderr = open_memstream(&complained, &complained_bytes);
	optind = 0;
	status = command(argc, (char **)(uintptr_t)words);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	return status;
}

static void expect_said(int status, int wanted_status, const char *wanted)
{
	cr_expect_eq(status, wanted_status, "%s", complained);
	cr_expect_str_eq(said, wanted, "said:\n%swanted:\n%s", said, wanted);
}

/* ---- the lists ---- */

Test(services, all_are_listed_until_quoitd_says_that_there_is_no_further_one)
{
	char text[CONTROL_TEXT_BYTES];
	struct services s = {0};
	struct service_callers c = {0};
	int fd = control_connect(answering_path, text);

	cr_assert_geq(fd, 0);
	cr_expect_eq(services_read(fd, answering_path, &s, text), 0);
	cr_assert_eq(s.count, 7);
	cr_expect_eq(s.list[2].service, 9);
	cr_expect_eq(services_read_callers(fd, answering_path, 9, &c, text), 0);
	cr_expect_eq(services_read_callers(fd, answering_path, 4, &c, text), 0);
	cr_assert_eq(c.count, 2);
	cr_expect_eq(c.list[1].session, 79);
	free(s.list);
	free(c.list);
	close(fd);
}

Test(services, an_answer_that_does_not_go_on_ends_the_list)
{
	char text[CONTROL_TEXT_BYTES];
	struct services s = {0};
	struct service_callers c = {0};
	int fd = control_connect(answering_path, text);

	stuck = true;
	cr_expect_eq(services_read(fd, answering_path, &s, text), 0);
	cr_expect_eq(s.count, 1);
	cr_expect_eq(services_read_callers(fd, answering_path, 9, &c, text), 0);
	cr_expect_eq(c.count, 1);
	free(s.list);
	free(c.list);
	close(fd);
}

Test(services, a_name_without_an_end_is_cut)
{
	char text[CONTROL_TEXT_BYTES];
	struct services s = {0};
	int fd = control_connect(answering_path, text);

	memset(services[0].name, 'x', sizeof services[0].name);
	cr_expect_eq(services_read(fd, answering_path, &s, text), 0);
	cr_expect_eq(strlen(s.list[0].name), QUOIT_NAME_BYTES - 1);
	free(s.list);
	close(fd);
}

/* ---- the commands ---- */

Test(services, ls_prints_a_line_for_each)
{
	expect_said(
		run(cmd_ls, "ls", "-o",
		    "name,kind,mode,gid,servers,lanes,callers,waiting,running,calls,failed,again,"
		    "holder,value,size,mean,number"),
		0,
		"NAME             KIND      MODE              GID SERVERS LANES CALLERS WAITING "
		"RUNNING CALLS FAILED AGAIN HOLDER VALUE SIZE MEAN NUMBER\n"
		"fft              service   own                 -       2     4       1       5 "
		"      4   100      7     2      -     -    -    -      3\n"
		"4000001/a\\x0ab   service   group:4000002 4000002       1     1       -       - "
		"      -     -      -     -      -     -    -    -      4\n"
		"4000001/sort     service   all                 -       1     8       -       - "
		"      -     -      -     -      -     -    -    -      9\n"
		"4000001/ledger   lock      own                 -       -     -       2       1 "
		"      -     9      0     -   4711     -    -    -     12\n"
		"4000001/slots    semaphore own                 -       -     -       1       0 "
		"      -     0      0     -      -     5    -    -     13\n"
		"4000001/rows     queue     own                 -       -     -       2       3 "
		"      -    70      0     -      -     0 3.0K    -     14\n"
		"4000001/settings keyspace  own                 -       -     -       1       0 "
		"      -     0      0     -      -     2 1.0K    -     15\n");
}

Test(services, ls_sorts_by_any_column)
{
	expect_said(
		run(cmd_ls, "ls", "--sort=-lanes", "-oname="), 0,
		"4000001/sort\nfft\n4000001/a\\x0ab\n4000001/ledger\n4000001/slots\n4000001/rows\n"
		"4000001/settings\n");
}

Test(services, calls_prints_a_line_for_each_caller)
{
	expect_said(run(cmd_calls, "calls", "-o",
			"service,user,pid,session,waiting,running,calls,failed,wait,longest"),
		    0,
		    "SERVICE      USER    PID SESSION WAITING RUNNING CALLS FAILED WAIT LONGEST\n"
		    "fft          4000001  12      77       5       4   100      7    -       -\n"
		    "4000001/sort 4000001  13      78       0       0     1      0    -       -\n"
		    "4000001/sort 4000001  14      79       0       0     2      0    -       -\n");
}

Test(services, calls_of_one_service_are_chosen_by_its_name)
{
	expect_said(run(cmd_calls, "calls", "-osession=", "fft"), 0, "77\n");
	expect_said(run(cmd_calls, "calls", "-osession=", "4000001/sort"), 0, "78\n79\n");
	expect_said(run(cmd_calls, "calls", "-osession=", "4000001/fft"), 1, "");
	expect_said(run(cmd_calls, "calls", "-osession=", "sort"), 1, "");
	expect_said(run(cmd_calls, "calls", "-osession=", "no-such-user/fft"), 2, "");
}

Test(services, what_is_not_there_is_said)
{
	cr_expect_eq(run(cmd_calls, "calls", "nothing", NULL), 1);
	cr_expect_str_eq(complained, "quoit calls: there is no service 'nothing' that you may call "
				     "(see quoit ls)\n");
	cr_expect_eq(run(cmd_calls, "calls", "a", "b"), 2);
	cr_expect_str_eq(complained,
			 "quoit calls: unexpected argument 'b' (see quoit calls --help)\n");
	cr_expect_eq(run(cmd_ls, "ls", "a", NULL), 2);
	cr_expect_eq(run(cmd_ls, "ls", "-o", "servics"), 2);
	cr_expect_str_eq(complained, "quoit ls: unknown column 'servics'; did you mean 'servers'? "
				     "(see quoit ls --columns)\n");
}

/* ---- JSON ---- */

static json_t *json_of(command_fn *command, const char *name, size_t count)
{
	json_t *list;

	cr_expect_eq(run(command, name, "--json", NULL), 0);
	list = json_loads(said, 0, NULL);
	cr_assert_eq(json_array_size(list), count, "%s", said);
	return list;
}

Test(services, json_has_all_columns_and_null_for_what_is_not_known)
{
	json_t *list = json_of(cmd_ls, "ls", 7), *one = json_array_get(list, 0);

	cr_expect_eq(json_object_size(one), 20);
	cr_expect_str_eq(json_string_value(json_object_get(one, "name")), "fft");
	cr_expect_eq(json_integer_value(json_object_get(one, "waiting")), 5);
	cr_expect(json_is_null(json_object_get(one, "mean_seconds")), "no totals, no seconds");
	cr_expect(json_is_null(json_object_get(one, "gid")));
	json_decref(list);
	list = json_of(cmd_calls, "calls", 3);
	one = json_array_get(list, 2);
	cr_expect_eq(json_object_size(one), 16);
	cr_expect_eq(json_integer_value(json_object_get(one, "session")), 79);
	cr_expect_str_eq(json_string_value(json_object_get(one, "user")), "4000001");
	cr_expect(json_is_null(json_object_get(one, "longest_seconds")));
	json_decref(list);
}
