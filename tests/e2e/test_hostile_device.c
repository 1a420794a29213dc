/* SPDX-License-Identifier: MIT */
/*
 * test_hostile_device.c - quoitd ends a device's executor that lies, names the reason, and only the
 * device's own jobs fail
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit/exec.h>
#include <quoit/stats.h>

#include "executor.h"
#include "lies.h"
#include "recorder.h"

TestSuite(hostile_device, .timeout = 60);

static void prepare(const struct daemon *d)
{
	(void)daemon_log_to_file(d);
}

/* In $QUOIT_BUILD/liar the liar is in quoit-exec's place. */
static struct house open_house(enum lie first_words)
{
	const char *const options[] = {"--gpu=soft", "--log=info", "--gpu-ms=300", NULL};
	const char *build = getenv("QUOIT_BUILD");
	char path[PATH_MAX], number[16];
	struct house h = {0};

	snprintf(path, sizeof path, "%s/liar", build ? build : "build");
	snprintf(number, sizeof number, "%d", (int)first_words);
	setenv("QUOIT_BUILD", path, 1);
	setenv("QUOIT_LIE", number, 1);
	cr_assert_eq(daemon_start_prepared(&h.d, options, prepare), 0);
	house_visit(&h, &h.s, &h.q);
	return h;
}

static quoit_tensor vector_on(struct quoit_ring *q, unsigned device)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 64}};

	return quoit_create(q, &shape, QUOIT_CREATE_ON(device));
}

/* quoitd goes on, and so does the device, in a new process if necessary. */
static void expect_recovery(const struct house *h)
{
	quoit_tensor here = vector_on(h->q, 0), there = vector_on(h->q, 1);
	int res = -1;

	cr_expect_eq(house_run(h->q, quoit_fill(here, 1.0)), 0);
	for (int i = 0; i < 100 && res; i++)
		res = house_run(h->q, quoit_fill(there, LIE_NOT));
	cr_expect_eq(res, 0, "%s", quoit_strerror(res));
}

/* ---- lies about jobs ---- */

struct told {
	int lie;
	int32_t res;   /* of the job that made it lie */
	int32_t after; /* of the next job, which was there already */
	char log[48];  /* what quoitd logs about its end; "": it does not end */
};

#define ANSWER "it sent an impossible answer"
#define RINGS  "it wrote impossible ring positions"
#define NAME   "it reported work on a job that it was not given"
#define SILENT "it stopped answering"
#define FAULT  -QUOIT_EGPUFAULT

static struct told told[] = {
	{LIE_ID, FAULT, FAULT, ANSWER},
	{LIE_OTHER_ID, FAULT, FAULT, ANSWER},
	{LIE_TYPE, FAULT, FAULT, ANSWER},
	{LIE_UNMAP, FAULT, FAULT, ANSWER},
	{LIE_TWICE, 0, FAULT, ANSWER},
	{LIE_EARLY, FAULT, FAULT, ANSWER},
	{LIE_COUNT, FAULT, FAULT, ANSWER},
	{LIE_POISON, FAULT, FAULT, ANSWER},
	{LIE_DEATH, FAULT, FAULT, ANSWER},
	{LIE_FAR, FAULT, FAULT, ANSWER},
	{LIE_FAILED, -ENOMEM, 0, ""},
	{LIE_TAIL, FAULT, FAULT, RINGS},
	{LIE_TAIL_BACK, FAULT, FAULT, RINGS},
	{LIE_RUNS_NONE, FAULT, FAULT, NAME},
	{LIE_RUNS_FREE, FAULT, FAULT, NAME},
	{LIE_RUNS_ONE, -ETIME, FAULT, "a job took longer than allowed"},
	{LIE_FAULT, FAULT, FAULT, "ended with exit status 1"},
	{LIE_LOST, -QUOIT_EDEVLOST, -QUOIT_EDEVLOST, "ended with exit status 1"},
	{LIE_WHY, FAULT, FAULT, "quoit-exec ended: ??[2Jwwwwwwwwww"},
	{LIE_SLEEP, FAULT, FAULT, SILENT},
	{LIE_CLOSE, FAULT, FAULT, "it closed its connection"},
	{LIE_EXIT, FAULT, FAULT, "ended with exit status 0"},
	{LIE_DESCRIPTORS, 0, 0, ""},
};

ParameterizedTestParameters(hostile_device, fails_its_jobs_by_name_and_quoitd_says_why)
{
	return cr_make_param_array(struct told, told, sizeof told / sizeof told[0]);
}

ParameterizedTest(struct told *t, hostile_device, fails_its_jobs_by_name_and_quoitd_says_why)
{
	struct house h = open_house(LIE_NOT);
	unsigned deaths = *t->log ? 1 : 0;
	quoit_tensor x = vector_on(h.q, 1);
	struct quoit_sqe next = quoit_fill(x, LIE_NOT);
	struct quoit_cqe cqe[2];

	cr_assert_eq(house_run(h.q, quoit_fill(x, LIE_NOT)), 0);
	house_submit(h.q, quoit_fill(x, t->lie), 1);
	house_submit(h.q, next, 2);
	for (unsigned i = 0; i < 2; i++)
		cqe[i] = house_reap(h.q, NULL);
	cr_expect_eq(cqe[0].user_data, 1);
	cr_expect_eq(cqe[0].res, t->res, "%d: %s", t->lie, quoit_strerror(cqe[0].res));
	cr_expect_eq(cqe[1].user_data, 2);
	/* The next job may have come after the end, and gone to the next process. */
	cr_expect(cqe[1].res == t->after || (deaths && !cqe[1].res), "%d: %s", t->lie,
		  quoit_strerror(cqe[1].res));
	expect_recovery(&h);
	cr_expect_eq(house_total(&h, QUOIT_DAEMON_EXECUTORS_DIED), deaths);
	if (deaths)
		cr_expect_eq(daemon_log_count(&h.d, t->log, 1), 1, "%d: \"%s\"", t->lie, t->log);
	house_close(&h);
}

/* quoitd looks for room in the ring when it seems to be full. */
Test(hostile_device, that_takes_requests_that_were_never_sent_is_ended)
{
	struct house h = open_house(LIE_NOT);
	quoit_tensor x = vector_on(h.q, 1);

	for (unsigned i = 0; i < QUOIT_EXEC_ENTRIES - 10; i++)
		cr_assert_eq(house_run(h.q, quoit_fill(x, LIE_NOT)), 0);
	cr_assert_eq(house_run(h.q, quoit_fill(x, LIE_HEAD)), 0);
	for (unsigned i = 0; i < 20; i++)
		house_submit(h.q, quoit_fill(x, LIE_NOT), i);
	for (unsigned i = 0; i < 20; i++) {
		struct quoit_cqe cqe = house_reap(h.q, NULL);

		cr_expect(cqe.res == FAULT || (i && !cqe.res), "%u: %s", i,
			  quoit_strerror(cqe.res));
	}
	cr_expect_eq(daemon_log_count(&h.d, RINGS, 1), 1);
	expect_recovery(&h);
	house_close(&h);
}

Test(hostile_device, has_its_stamps_put_between_sending_and_answer)
{
	struct house h = open_house(LIE_NOT);
	struct quoit_ring_params params = {.flags = QUOIT_RING_RAW | QUOIT_RING_STAMPS};
	quoit_tensor x = vector_on(h.q, 1);
	const struct quoit_stamps *s;
	struct quoit_ring *q;

	cr_assert_eq(quoit_open_ring(h.s, &params, &q), 0);
	cr_assert_eq(house_run(h.q, quoit_fill(x, LIE_NOT)), 0);
	house_submit(q, quoit_fill(x, LIE_STAMPS), 1);
	cr_assert_eq(quoit_wait_cqe(q, 10000), 0);
	s = quoit_get_stamps(q, 0);
	cr_expect(s->device_start >= s->start && s->device_start <= s->device_end &&
		  s->device_end <= s->post);
	house_close(&h);
}

Test(hostile_device, that_names_a_stream_that_is_not_there_is_recorded_without_one)
{
	struct house h = open_house(LIE_NOT);
	quoit_tensor x = vector_on(h.q, 1);
	int fd = recorder_open(&h.d, h.s);
	struct quoit_trace *file;
	unsigned found = 0;

	cr_assert_eq(house_run(h.q, quoit_fill(x, LIE_STREAM)), 0);
	file = recorder_read(&h.d, recorder_number(h.s));
	for (uint64_t i = 0; i < recorder_records(file); i++) {
		const struct quoit_trace_record *r = recorder_record(file, i);

		if (r->kind > QUOIT_TRACE_QUIET || r->opcode != QUOIT_OP_FILL)
			continue;
		cr_expect_eq(r->place, QUOIT_TRACE_DEVICE + 1, "%u", r->place);
		found++;
	}
	cr_expect_eq(found, 1);
	free(file);
	close(fd);
	house_close(&h);
}

static uint64_t counter(const struct house *h, unsigned counter)
{
	struct quoit_info info;

	quoit_get_info(h->s, &info);
	return daemon_session_counter(&h->d, info.session, counter);
}

static bool has_had_some(const struct house *h, uint64_t least)
{
	return counter(h, QUOIT_SESSION_EXECUTOR_TICKS) > least;
}

Test(hostile_device, that_says_who_had_more_time_than_there_was_is_believed_what_there_was)
{
	struct house h = open_house(LIE_NOT);
	quoit_tensor x = vector_on(h.q, 1);
	uint64_t begun = counter(&h, QUOIT_SESSION_AS_OF), had;

	cr_assert_eq(house_run(h.q, quoit_fill(x, LIE_HAD)), 0);
	cr_assert(house_until(has_had_some, &h, 0));
	had = counter(&h, QUOIT_SESSION_EXECUTOR_TICKS);
	cr_expect_leq(had, (counter(&h, QUOIT_SESSION_AS_OF) - begun) * QUOIT_EXEC_STREAMS);
	expect_recovery(&h);
	house_close(&h);
}

Test(hostile_device, that_names_a_culprit_at_random_leaves_it_unknown)
{
	struct house h = open_house(LIE_NOT);
	struct quoit_error error;

	house_submit(h.q, quoit_fill(vector_on(h.q, 1), LIE_FAULT), 1);
	do
		error.code = house_reap(h.q, &error).res;
	while (!error.code);
	cr_expect_eq(error.code, FAULT);
	cr_expect_eq(error.field, QUOIT_FIELD_DEVICE);
	cr_expect_eq(error.value[1], QUOIT_FAULT_UNKNOWN);
	house_close(&h);
}

Test(hostile_device, that_keeps_the_memory_of_who_leaves_is_ended)
{
	struct house h = open_house(LIE_NOT);
	struct quoit_session *s;
	struct quoit_ring *q;

	house_visit(&h, &s, &q);
	cr_assert_eq(house_run(q, quoit_fill(vector_on(q, 1), LIE_STAY)), 0);
	cr_expect_eq(quoit_close(s, 0), 0);
	cr_expect_eq(daemon_log_count(&h.d, SILENT, 1), 1);
	expect_recovery(&h);
	house_close(&h);
}

/* It never answers, and is never seen at one thing for long. */
Test(hostile_device, of_a_users_own_that_is_always_busy_does_not_hold_a_dead_session)
{
	struct house h = open_house(LIE_NOT);
	struct quoit_open_params p = {
		.socket = h.d.socket, .device_bytes = 1 << 20, .flags = QUOIT_OPEN_KERNELS};
	pid_t client = fork();
	struct quoit_session *s;
	struct quoit_ring *q;

	if (client == 0) {
		if (quoit_open(&p, &s) || quoit_open_ring(s, NULL, &q))
			_exit(1);
		quoit_push(q, quoit_fill(vector_on(q, 1), LIE_RUNS_ANEW));
		(void)quoit_flush(q);
		usleep(500000); /* its process is being started */
		_exit(0);
	}
	cr_expect_eq(daemon_log_count(&h.d,
				      "a user's own device 1 (soft:0): quoit-exec was ended: "
				      "a job took longer than allowed",
				      1),
		     1);
	cr_expect_eq(waitpid(client, NULL, 0), client);
	expect_recovery(&h);
	house_close(&h);
}

Test(hostile_device, that_scribbles_is_ended_and_each_job_ends_once)
{
	struct house h = open_house(LIE_NOT);
	quoit_tensor x[50];

	for (unsigned i = 0; i < 50; i++)
		x[i] = vector_on(h.q, 1);
	for (int round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 50; i++)
			house_submit(h.q, quoit_fill(x[i], i == 20 ? LIE_SCRIBBLE : LIE_NOT), i);
		house_reap_each(h.q, 50);
		expect_recovery(&h);
	}
	house_close(&h);
}

/* ---- lies about itself ---- */

struct first_words {
	int lie;
	char log[48];
};

#define NOT_UNDERSTOOD "invalid hello message: its format is wrong"
#define NO_SENSE       "invalid hello message: impossible device"

static struct first_words first_words[] = {
	{LIE_MAGIC, NOT_UNDERSTOOD},
	{LIE_VERSION, NOT_UNDERSTOOD},
	{LIE_RESULT, NOT_UNDERSTOOD},
	{LIE_OPERATIONS, NO_SENSE},
	{LIE_DEVICES_NONE, NO_SENSE},
	{LIE_DEVICES_MANY, NO_SENSE},
	{LIE_BYTES_NONE, NO_SENSE},
	{LIE_BYTES_MANY, NO_SENSE},
	{LIE_NAME_ENDLESS, NO_SENSE},
	{LIE_NAME_ESCAPE, NO_SENSE},
	{LIE_TEXT_ENDLESS, NOT_UNDERSTOOD},
	{LIE_SHORT, NOT_UNDERSTOOD},
	{LIE_LONG, NOT_UNDERSTOOD},
	{LIE_HELLO_DESCRIPTORS, NOT_UNDERSTOOD},
	{LIE_HELLO_EXIT, "left out: quoit-exec"},
	{LIE_HELLO_CLOSE, "left out: quoit-exec was ended: it closed"},
};

ParameterizedTestParameters(hostile_device, is_left_out_for_its_first_words)
{
	return cr_make_param_array(struct first_words, first_words,
				   sizeof first_words / sizeof first_words[0]);
}

ParameterizedTest(struct first_words *w, hostile_device, is_left_out_for_its_first_words)
{
	struct house h = open_house((enum lie)w->lie);
	quoit_tensor here = vector_on(h.q, 0);
	struct quoit_info info;

	quoit_get_info(h.s, &info);
	cr_expect_eq(info.devices, 0);
	cr_expect_eq(daemon_log_count(&h.d, w->log, 1), 1, "%d: \"%s\"", w->lie, w->log);
	cr_expect(house_says(&h, "left out: "));
	cr_expect_eq(house_run(h.q, quoit_fill(here, 1.0)), 0);
	house_close(&h);
}
