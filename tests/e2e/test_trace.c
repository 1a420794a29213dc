/* SPDX-License-Identifier: MIT */
/* test_trace.c - recorders: the contents of sessions' trace files, and who may have them */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "client.h"
#include "process.h"
#include "recorder.h"

#define MS 1000 /* for usleep */

/* ---- the contents ---- */

/* Record all sessions, of which c has one. */
static int record_all(const struct client *c)
{
	return recorder_open(&c->d, c->s);
}

/* How many records are of a kind; of jobs, also of an operation (-1: all). */
static uint64_t count_records(const struct quoit_trace *file, unsigned kind, int opcode)
{
	const struct quoit_trace_record *r = recorder_record(file, 0);
	uint64_t n = 0;

	for (uint64_t i = 0; i < recorder_records(file); i++)
		n += r[i].kind == kind && (opcode < 0 || r[i].opcode == opcode);
	return n;
}

static const struct quoit_trace_record *find_job(const struct quoit_trace *file, int opcode)
{
	const struct quoit_trace_record *r = recorder_record(file, 0);

	for (uint64_t i = 0; i < recorder_records(file); i++)
		if ((r[i].kind == QUOIT_TRACE_JOB || r[i].kind == QUOIT_TRACE_QUIET) &&
		    r[i].opcode == opcode)
			return &r[i];
	return NULL;
}

/* How many notes of a kind all records of clients have. */
static uint64_t count_events(const struct quoit_trace *file, unsigned kind)
{
	const struct quoit_trace_record *r = recorder_record(file, 0);
	uint64_t n = 0;

	for (uint64_t i = 0; i < recorder_records(file); i++)
		for (unsigned e = 0; r[i].kind == QUOIT_TRACE_CLIENT && e < r[i].opcode; e++)
			n += r[i].event[e].kind == kind;
	return n;
}

/* When the client published this SQE, by its own note; 0: there is none. */
static uint64_t submit_of(const struct quoit_trace *file, uint32_t sq_index)
{
	const struct quoit_trace_record *r = recorder_record(file, 0);

	for (uint64_t i = 0; i < recorder_records(file); i++)
		for (unsigned e = 0; r[i].kind == QUOIT_TRACE_CLIENT && e < r[i].opcode; e++)
			if (r[i].event[e].kind == QUOIT_EVENT_SUBMIT &&
			    r[i].event[e].index == sq_index + 1)
				return r[i].event[e].tsc;
	return 0;
}

static int run(struct client *c, struct quoit_sqe sqe)
{
	return quoit_wait(c->q, client_start(c, sqe), -1);
}

static void end(struct client *c, struct quoit_trace *file, int fd)
{
	free(file);
	close(fd);
	client_close(c);
}

/* ---- jobs ---- */

Test(trace, every_job_of_a_slow_program_has_a_record)
{
	struct quoit_trace *file;
	struct client c;
	quoit_tensor t;
	int fd;

	client_open(&c, NULL, NULL);
	fd = record_all(&c);
	t = quoit_create_vector(c.q, QUOIT_F32, 16);
	cr_assert_eq(run(&c, quoit_fill(t, 1)), 0);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(run(&c, quoit_add_scalar(t, t, 1)), 0);
	file = recorder_read(&c.d, recorder_number(c.s));
	cr_expect_eq(count_records(file, QUOIT_TRACE_JOB, QUOIT_OP_ADD), 100);
	cr_expect_eq(count_records(file, QUOIT_TRACE_JOB, QUOIT_OP_FILL), 1);
	cr_expect_eq(count_records(file, QUOIT_TRACE_QUIET, QUOIT_OP_CREATE), 1);
	cr_expect_eq(file->dropped, 0);
	end(&c, file, fd);
}

Test(trace, times_of_a_job_are_in_their_order)
{
	const struct quoit_trace_record *r;
	struct quoit_trace *file;
	struct client c;
	quoit_tensor t;
	int fd;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	fd = record_all(&c);
	client_busy(&c, t, 2);
	cr_assert_eq(quoit_wait_all(c.q, -1), 0);
	file = recorder_read(&c.d, recorder_number(c.s));
	for (int op = 0; op < QUOIT_OP_NR; op++) {
		r = find_job(file, op);
		if (!r || !r->job.start)
			continue;
		cr_expect_leq(file->begun, r->job.fetch);
		cr_expect_leq(r->job.fetch, r->job.start);
		cr_expect_lt(r->job.start, r->job.end);
		cr_expect_leq(r->job.end, r->job.post);
	}
	end(&c, file, fd);
}

Test(trace, long_jobs_are_the_workers_and_short_ones_the_reactors)
{
	const struct quoit_trace_record *longer, *shorter;
	struct quoit_trace *file;
	struct client c;
	quoit_tensor t, small;
	int fd;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	small = quoit_create_vector(c.q, QUOIT_F32, 4);
	fd = record_all(&c);
	cr_assert_eq(run(&c, quoit_exp(t, t)), 0);
	cr_assert_eq(run(&c, quoit_fill(small, 1)), 0);
	file = recorder_read(&c.d, recorder_number(c.s));
	longer = find_job(file, QUOIT_OP_EXP);
	shorter = find_job(file, QUOIT_OP_FILL);
	cr_assert(longer && shorter);
	cr_expect_eq(longer->place, QUOIT_TRACE_WORKERS);
	cr_expect_eq(shorter->place, QUOIT_TRACE_REACTOR);
	end(&c, file, fd);
}

Test(trace, a_job_that_fails_says_so)
{
	const struct quoit_trace_record *r;
	struct quoit_trace *file;
	struct client c;
	quoit_tensor t;
	int fd;

	client_open(&c, NULL, NULL);
	fd = record_all(&c);
	t = quoit_create_vector(c.q, QUOIT_F32, 4);
	cr_assert_neq(run(&c, quoit_add_scalar(t, QUOIT_NO_TENSOR, 1)), 0);
	file = recorder_read(&c.d, recorder_number(c.s));
	r = find_job(file, QUOIT_OP_ADD);
	cr_assert(r);
	cr_expect_lt(r->res, 0);
	end(&c, file, fd);
}

Test(trace, a_job_that_is_cancelled_ran_nowhere_and_has_the_cqe_that_it_got)
{
	const struct quoit_trace_record *r;
	struct quoit_trace *file;
	struct client c;
	quoit_tensor t;
	quoit_job job;
	int fd;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	fd = record_all(&c);
	client_busy(&c, t, 4);
	cr_assert_eq(quoit_start(c.q, quoit_fill(t, 1), &job), 0);
	cr_assert_eq(quoit_flush(c.q), 0);
	cr_assert_eq(quoit_cancel(c.q, job), 0);
	cr_assert_eq(quoit_wait(c.q, job, -1), -ECANCELED);
	cr_assert_eq(quoit_wait_all(c.q, -1), 0);
	file = recorder_read(&c.d, recorder_number(c.s));
	r = find_job(file, QUOIT_OP_FILL);
	cr_assert(r);
	cr_expect_eq(r->kind, QUOIT_TRACE_JOB);
	cr_expect_eq(r->res, -ECANCELED);
	cr_expect_eq(r->place, QUOIT_TRACE_NOWHERE);
	cr_expect_eq(r->job.start, 0);
	cr_expect_eq(r->job.cq_index, 0, "the others were quiet, and the wait's came after it");
	end(&c, file, fd);
}

Test(trace, a_job_is_fetched_after_it_was_submitted)
{
	const struct quoit_trace_record *r;
	struct quoit_trace *file = NULL;
	uint64_t submits = 0;
	struct client c;
	int fd;

	client_open(&c, NULL, NULL);
	fd = record_all(&c);
	for (int i = 0; i < 50; i++)
		cr_assert_eq(run(&c, quoit_nop(QUOIT_NO_TENSOR)), 0);
	for (int i = 0; i < RECORDER_PATIENCE && submits < 49; i++) {
		free(file);
		file = recorder_read(&c.d, recorder_number(c.s));
		submits = count_events(file, QUOIT_EVENT_SUBMIT);
		usleep(10 * MS);
	}
	r = recorder_record(file, 0);
	for (uint64_t i = 0; i < file->head; i++)
		if (r[i].kind == QUOIT_TRACE_JOB)
			cr_expect_leq(submit_of(file, r[i].job.sq_index), r[i].job.fetch);
	end(&c, file, fd);
}

/* ---- clients' notes ---- */

Test(trace, submits_reaps_and_waits_are_noted)
{
	struct quoit_trace *file = NULL;
	struct client c;
	quoit_tensor t;
	int fd;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	fd = record_all(&c);
	cr_assert_eq(run(&c, quoit_nop(QUOIT_NO_TENSOR)),
		     0); /* from then on its client knows that */
	/* On a busy machine the job may end before the wait, which then does not happen. */
	for (int i = 0; i < RECORDER_PATIENCE; i++) {
		cr_assert_eq(run(&c, quoit_exp(t, t)), 0);
		free(file);
		file = recorder_read(&c.d, recorder_number(c.s));
		if (count_events(file, QUOIT_EVENT_GO) >= 10 &&
		    count_events(file, QUOIT_EVENT_SUBMIT) >= 10 &&
		    count_events(file, QUOIT_EVENT_REAP) >= 10)
			break;
		usleep(10 * MS);
	}
	cr_expect_geq(count_events(file, QUOIT_EVENT_SUBMIT), 10);
	cr_expect_geq(count_events(file, QUOIT_EVENT_REAP), 10);
	cr_expect_geq(count_events(file, QUOIT_EVENT_WAIT), 10);
	cr_expect_geq(count_events(file, QUOIT_EVENT_GO), 10);
	end(&c, file, fd);
}

/* ---- too many ---- */

/* Fewer jobs than a file has records: on a slow machine more would overwrite records. */
Test(trace, what_is_thinned_out_of_a_flood_is_counted)
{
	const uint64_t jobs = 60000;
	struct quoit_trace *file = NULL;
	struct client c;
	uint64_t told = 0;
	int fd;

	client_open(&c, NULL, NULL);
	fd = recorder_connect(&c.d);
	cr_assert_eq(recorder_ask(fd, recorder_number(c.s), QUOIT_TRACE_MOST).result, 0);
	cr_assert(recorder_has_begun(&c.d, recorder_number(c.s)));
	for (uint64_t i = 0; i < jobs; i++)
		cr_assert_eq(quoit_push(c.q, quoit_nop(QUOIT_NO_TENSOR)), 0);
	cr_assert_eq(quoit_wait_all(c.q, -1), 0);
	for (int i = 0; i < RECORDER_PATIENCE && told < jobs + 1; i++) {
		free(file);
		file = recorder_read(&c.d, recorder_number(c.s));
		told = file->dropped + count_records(file, QUOIT_TRACE_JOB, -1) +
		       count_records(file, QUOIT_TRACE_QUIET, -1);
		usleep(10 * MS);
	}
	cr_expect_eq(told, jobs + 1); /* and the wait's */
	end(&c, file, fd);
}

/* ---- coming and going ---- */

Test(trace, the_file_goes_with_its_recorder)
{
	struct client c;
	uint64_t id;
	int fd;

	client_open(&c, NULL, NULL);
	id = recorder_number(c.s);
	cr_expect(recorder_file_is(&c.d, id, false));
	fd = record_all(&c);
	cr_expect(recorder_file_is(&c.d, id, true));
	close(fd);
	cr_expect(recorder_file_is(&c.d, id, false));
	cr_expect_eq(run(&c, quoit_nop(QUOIT_NO_TENSOR)), 0);
	client_close(&c);
}

Test(trace, sessions_that_come_later_are_recorded_from_their_first_job)
{
	struct quoit_session *s;
	struct quoit_trace *file;
	struct client c;
	struct quoit_ring *q;
	struct quoit_sqe nop = quoit_nop(QUOIT_NO_TENSOR);
	quoit_job job;
	int fd;

	client_open(&c, NULL, NULL);
	fd = record_all(&c);
	s = client_session(&c, 16u << 20);
	cr_assert_eq(quoit_open_rings(s, NULL, 1, &q), 0);
	cr_assert_eq(quoit_start(q, nop, &job), 0);
	cr_assert_eq(quoit_wait(q, job, -1), 0);
	file = recorder_read(&c.d, recorder_number(s));
	/* quoitd answers a NOP that comes alone before it writes the record. */
	for (int tries = 0; tries < RECORDER_PATIENCE && !find_job(file, QUOIT_OP_NOP); tries++) {
		free(file);
		usleep(10000);
		file = recorder_read(&c.d, recorder_number(s));
	}
	cr_expect_eq(count_records(file, QUOIT_TRACE_JOB, QUOIT_OP_NOP), 1);
	free(file);
	quoit_close(s, 0);
	close(fd);
	client_close(&c);
}

Test(trace, the_file_of_a_session_that_has_ended_stays_and_says_so)
{
	struct quoit_trace *file;
	struct quoit_session *s;
	struct client c;
	uint64_t id;
	int fd;

	client_open(&c, NULL, NULL);
	fd = record_all(&c);
	s = client_session(&c, 16u << 20);
	id = recorder_number(s);
	quoit_close(s, 0);
	file = recorder_read_ended(&c.d, id);
	free(file);
	close(fd);
	cr_expect(recorder_file_is(&c.d, id, false));
	client_close(&c);
}

Test(trace, what_all_rings_clients_did_is_there_when_the_session_has_ended)
{
	struct quoit_trace *file;
	struct quoit_session *s;
	struct quoit_ring *q[3];
	struct client c;
	uint64_t id;
	int fd;

	client_open(&c, NULL, NULL);
	fd = record_all(&c);
	s = client_session(&c, 16u << 20);
	id = recorder_number(s);
	cr_assert_eq(quoit_open_rings(s, NULL, 3, q), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(quoit_wait_all(q[i], -1), 0);
	quoit_close(s, 0);
	file = recorder_read_ended(&c.d, id);
	cr_expect_geq(count_events(file, QUOIT_EVENT_REAP), 3);
	cr_expect_eq(count_events(file, QUOIT_EVENT_WAIT), count_events(file, QUOIT_EVENT_GO));
	cr_expect_eq(file->events_dropped, 0);
	end(&c, file, fd);
}

Test(trace, a_daemon_that_ends_removes_the_files)
{
	struct client c;
	uint64_t id;
	int fd;

	client_open(&c, NULL, NULL);
	id = recorder_number(c.s);
	fd = record_all(&c);
	cr_assert(recorder_file_is(&c.d, id, true));
	kill(c.d.pid, SIGTERM);
	cr_expect(recorder_file_is(&c.d, id, false));
	close(fd);
	(void)quoit_close(c.s, 0);
	daemon_stop(&c.d);
}

/* ---- refusals ---- */

Test(trace, only_one_records_a_session)
{
	struct client c;
	int first, second;

	client_open(&c, NULL, NULL);
	first = record_all(&c);
	second = recorder_connect(&c.d);
	cr_expect_eq(recorder_ask(second, recorder_number(c.s), 0).result, -EBUSY);
	cr_expect_eq(recorder_ask(second, 0, 0).trace.sessions, 0);
	close(first);
	close(second);
	client_close(&c);
}

Test(trace, a_size_that_makes_no_sense_is_refused)
{
	struct client c;
	int fd;

	client_open(&c, NULL, NULL);
	fd = recorder_connect(&c.d);
	cr_expect_eq(recorder_ask(fd, 0, QUOIT_TRACE_LEAST / 2).result, -EINVAL);
	cr_expect_eq(recorder_ask(fd, 0, QUOIT_TRACE_LEAST + 1).result, -EINVAL);
	cr_expect_eq(recorder_ask(fd, 0, 2 * QUOIT_TRACE_MOST).result, -EINVAL);
	cr_expect_eq(recorder_ask(fd, 4711, 0).result, -ESRCH);
	close(fd);
	client_close(&c);
}

Test(trace, memory_of_traces_is_charged_and_comes_back)
{
	const struct quoit_totals *t;
	struct client c;
	uint64_t before;
	int fd;

	client_open(&c, NULL, NULL);
	t = daemon_totals(&c.d);
	before = t->value[QUOIT_DAEMON_HOST_LEASED];
	fd = record_all(&c);
	cr_expect_geq(t->value[QUOIT_DAEMON_HOST_LEASED],
		      before + QUOIT_TRACE_DEFAULT * sizeof(struct quoit_trace_record));
	close(fd);
	for (int i = 0; i < RECORDER_PATIENCE && t->value[QUOIT_DAEMON_HOST_LEASED] != before; i++)
		usleep(10 * MS);
	cr_expect_eq(t->value[QUOIT_DAEMON_HOST_LEASED], before);
	daemon_totals_unmap(t);
	client_close(&c);
}

/* ---- other clients ---- */

/* Receive the next message, and when it was sent, by the kernel's clock. */
static struct quoit_ctl receive(int fd, struct timespec *ret_when)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof *ret_when)] = {0};
	struct quoit_ctl m;
	struct iovec data = {&m, sizeof m};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof control};
	struct cmsghdr *c;

	cr_assert_eq(recvmsg(fd, &msg, 0), (ssize_t)sizeof m);
	c = CMSG_FIRSTHDR(&msg);
	cr_assert(c && c->cmsg_type == SCM_TIMESTAMPNS);
	memcpy(ret_when, CMSG_DATA(c), sizeof *ret_when);
	return m;
}

/*
 * Connect, and wait until quoitd has accepted the connection: then its next request finds quoitd
 * idle.
 */
static int connect_with_times(const struct daemon *d)
{
	int fd = recorder_connect(d), on = 1;

	cr_assert_eq(setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), 0);
	cr_assert_eq(recorder_ask(fd, 0, 1).result, -EINVAL);
	return fd;
}

/*
 * Both have asked, the recorder first, when quoitd looks.  quoitd handles one of the recorder's
 * sessions at a time, and other requests in between.
 */
Test(trace, who_asks_meanwhile_does_not_wait_until_a_recorder_has_all_its_files)
{
	struct timespec all, other;
	int recorder, neighbour, status;
	struct quoit_session *s[3];
	struct client c;

	client_open(&c, NULL, NULL);
	for (int i = 0; i < 3; i++)
		s[i] = client_session(&c, 1u << 20);
	recorder = connect_with_times(&c.d);
	neighbour = connect_with_times(&c.d);
	process_stop(c.d.pid);
	cr_assert_eq(waitpid(c.d.pid, &status, WUNTRACED), c.d.pid);
	recorder_send(recorder, 0, QUOIT_TRACE_MOST);
	for (int i = 0; i < 3; i++)
		recorder_send(neighbour, 0, 1);
	kill(c.d.pid, SIGCONT);
	cr_expect_eq(receive(recorder, &all).trace.sessions, 4);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(receive(neighbour, &other).result, -EINVAL);
	cr_expect(other.tv_sec < all.tv_sec ||
			  (other.tv_sec == all.tv_sec && other.tv_nsec < all.tv_nsec),
		  "it was answered later");
	close(recorder);
	close(neighbour);
	for (int i = 0; i < 3; i++)
		quoit_close(s[i], 0);
	client_close(&c);
}
