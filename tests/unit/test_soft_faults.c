/* SPDX-License-Identifier: MIT */
/* test_soft_faults.c - a soft device fails as it is told to. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft_case.h"

static const struct quoit_device_driver *const soft = &soft_device_driver;

TestSuite(soft_faults, .timeout = 60);

static void order(const char *list)
{
	(void)setenv("QUOIT_SOFT_FAULTS", list, 1);
}

/* Put an operation into the stream. */
static int fill(struct quoit_device_stream *s, uint64_t data, struct quoit_device_verdict *verdict)
{
	const struct quoit_device_call call = {
		.opcode = QUOIT_OP_FILL,
		.tensor[0] = {.data = data, .dim = {1, 1, 1, 1}, .dtype = QUOIT_F32},
		.verdict = verdict,
	};

	return soft->run(s, &call);
}

Test(soft_faults, a_list_that_makes_no_sense_is_refused)
{
	static const char *const lists[] = {
		"run",         "run:1",          "run:x:EIO",    "run:0:EIO",
		"run:1:EWHAT", "run:1:EIO:more", "walk:1:EIO",   "run:1:EIO,walk:1:EIO",
		"hang",        "hang:0",         "hang:1:EIO",   "hang:-",
		"run:1--:EIO", "run:-1:EIO",     "close:1:EIO",  "EIO",
		"run:1+:EIO",  "run:1+0:EIO",    "run:1+2-:EIO",
	};

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		char text[128] = "";

		order(lists[i]);
		cr_expect_eq(soft->count(text, sizeof text), -EINVAL, "%s", lists[i]);
		cr_expect_neq(*text, '\0');
	}
	order("run:1:EIO,,hang:7-,");
	cr_expect_eq(soft->count((char[128]){""}, 128), 1);
}

Test(soft_faults, the_ordered_call_fails)
{
	uint64_t address;
	struct quoit_device *d;

	order("memory_new:3:ENOMEM,memory_new:5-:EIO");
	d = soft_case_open("1M");
	for (int i = 1; i <= 8; i++)
		cr_expect_eq(soft->memory_new(d, 1, &address), i == 3   ? -ENOMEM
							       : i >= 5 ? -EIO
									: 0);
	soft->close(d);
}

Test(soft_faults, every_so_many_calls_fail)
{
	uint64_t address;
	struct quoit_device *d;

	order("memory_new:2+3:EAGAIN");
	d = soft_case_open("1M");
	for (int i = 1; i <= 9; i++)
		cr_expect_eq(soft->memory_new(d, 1, &address), i % 3 == 2 ? -EAGAIN : 0);
	soft->close(d);
}

Test(soft_faults, a_device_that_cannot_be_opened_says_why)
{
	struct quoit_device_info info;
	struct quoit_device *d = NULL;
	char text[128] = "";

	order("open:1-:ENODEV,count:2:EIO");
	cr_expect_eq(soft->count(text, sizeof text), 1);
	cr_expect_eq(soft->count(text, sizeof text), -EIO);
	cr_expect_eq(soft->open(0, &d, &info, text, sizeof text), -ENODEV);
	cr_expect_neq(*text, '\0');
}

/* Call each function that can fail for the first time. */
static int call_function(int which, struct quoit_device *d, struct quoit_device_stream *s,
			 struct quoit_device_event *e, void *memory)
{
	const struct quoit_device_verdict *culprit;
	struct quoit_device_stream *stream;
	struct quoit_device_event *event;
	struct quoit_device_module *m;
	uint64_t n;
	void *more;

	switch (which) {
	case 0:
		return soft->health(d, &culprit);
	case 1:
		return soft->clock(d, &n, &n, &n);
	case 2:
		return soft->memory_free(d, 1);
	case 3:
		return soft->host_new(d, 1, &more);
	case 4:
		return soft->host_register(d, &n, sizeof n);
	case 5:
		return soft->stream_new(d, QUOIT_DEVICE_URGENT, &stream);
	case 6:
		return soft->event_new(d, &event);
	case 7:
		return soft->event_record(e, s);
	case 8:
		return soft->event_done(e);
	case 9:
		return soft->stream_wait(s, e);
	case 10:
		return soft->copy(s, 0, (uintptr_t)memory, 0, QUOIT_DEVICE_IN);
	case 11:
		return soft->clear(s, 0, 0);
	case 12:
		return soft->signal(s, memory, 1);
	case 13:
		return soft->stamp(s, memory);
	default:
		return soft->module_new(d, "soft", 4, &m, (char[64]){""}, 64);
	}
}

Test(soft_faults, any_function_can_be_told_to_fail)
{
	struct quoit_device *d;
	struct quoit_device_stream *s;
	struct quoit_device_event *e = NULL;
	uint64_t *memory;

	order("health:1:EIO,clock:1:EIO,memory_free:1:EIO,host_new:2:EIO,host_register:1:EIO,"
	      "stream_new:2:EIO,event_new:2:EIO,event_record:1:EIO,event_done:1:EIO,"
	      "stream_wait:1:EIO,copy:1:EIO,clear:1:EIO,signal:1:EIO,stamp:1:EIO,module_new:1:EIO");
	d = soft_case_open("1M");
	s = soft_case_stream(d);
	memory = soft_case_host(d, sizeof *memory);
	cr_assert_eq(soft->event_new(d, &e), 0);
	for (int which = 0; which < 15; which++)
		cr_expect_eq(call_function(which, d, s, e, memory), -EIO, "function %d", which);
	soft->event_free(e);
	cr_expect_eq(soft_case_finish(d, s), 1);
	cr_expect_eq(*memory, 0, "what has failed was run");
	soft->host_free(d, memory);
	soft->close(d);
}

Test(soft_faults, a_sticky_error_strikes_when_the_work_runs)
{
	static const struct {
		const char *list;
		int error;
	} rows[] = {{"run:2:EGPUFAULT", -QUOIT_EGPUFAULT}, {"run:2-:EDEVLOST", -QUOIT_EDEVLOST}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		pid_t child = fork(); /* a process reads its list once */
		int status;

		if (!child) {
			const struct quoit_device_verdict *culprit = NULL;
			struct quoit_device_verdict *verdict;
			struct quoit_device_stream *s;
			struct quoit_device *d;
			uint64_t data;
			bool good;

			order(rows[i].list);
			d = soft_case_open("1M");
			s = soft_case_stream(d);
			data = soft_case_memory(d, 4);
			verdict = soft_case_host(d, 3 * sizeof *verdict);
			soft_case_spin(d, s, 10000000);
			good = !fill(s, data, &verdict[0]) && !fill(s, data, &verdict[1]) &&
			       soft_case_break(d, &culprit) == rows[i].error &&
			       culprit == &verdict[1] &&
			       fill(s, data, &verdict[2]) == rows[i].error;
			_exit(good ? 0 : 1);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_expect_eq(status, 0, "%s", rows[i].list);
	}
}

Test(soft_faults, a_sticky_error_of_another_call_strikes_at_once)
{
	struct quoit_device *d;
	const struct quoit_device_verdict *culprit;
	uint64_t n;

	order("memory_new:1:EDEVLOST");
	d = soft_case_open("1M");
	cr_expect_eq(soft->memory_new(d, 1, &n), -QUOIT_EDEVLOST);
	cr_expect_eq(soft->memory_new(d, 1, &n), -QUOIT_EDEVLOST);
	cr_expect_eq(soft->health(d, &culprit), -QUOIT_EDEVLOST);
	cr_expect_null(culprit);
	cr_expect_str_eq(soft->why(d, -QUOIT_EDEVLOST), "injected by QUOIT_SOFT_FAULTS");
	soft->close(d);
}

Test(soft_faults, an_operation_hangs)
{
	struct quoit_device *d;
	struct quoit_device_stream *s, *other;
	struct quoit_device_event *e;
	uint64_t data;

	order("hang:2");
	d = soft_case_open("1M");
	s = soft_case_stream(d);
	other = soft_case_stream(d);
	data = soft_case_memory(d, 4);
	cr_assert_eq(fill(s, data, NULL), 0);
	cr_assert_eq(soft_case_finish(d, s), 1);
	cr_assert_eq(fill(s, data, NULL), 0);
	e = soft_case_mark(d, s);
	for (int i = 0; i < 100; i++) {
		cr_assert_eq(fill(other, data, NULL), 0);
		cr_assert_eq(soft_case_finish(d, other), 1);
	}
	cr_expect_eq(soft->event_done(e), 0);
	soft->event_free(e);
}

/* A child that runs two operations with this list of faults, then ends with 0. */
static pid_t run_two(const char *list)
{
	struct quoit_device_stream *s;
	struct quoit_device *d;
	uint64_t data;
	pid_t child = fork();

	if (child)
		return child;
	order(list);
	d = soft_case_open("1M");
	s = soft_case_stream(d);
	data = soft_case_memory(d, 4);
	for (int i = 0; i < 2; i++)
		if (fill(s, data, NULL) || soft_case_finish(d, s) != 1)
			_exit(1);
	_exit(0);
}

Test(soft_faults, an_operation_kills_the_process)
{
	pid_t child = run_two("die:2");
	int status;

	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
	child = run_two("die:3");
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0);
}

Test(soft_faults, an_operation_stops_the_process)
{
	pid_t child = run_two("stop:2");
	int status;

	cr_assert_eq(waitpid(child, &status, WUNTRACED), child);
	cr_assert(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP, "status %#x", status);
	cr_assert_eq(kill(child, SIGCONT), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0, "it does not go on");
}
