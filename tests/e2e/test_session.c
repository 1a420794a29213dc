/* SPDX-License-Identifier: MIT */
/* test_session.c - sessions and rings: opening, sharing, closing, and the end of either side. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "client.h"

#define MIB (UINT64_C(1) << 20)

TestSuite(session_e2e, .timeout = 120);

/* ---- hello ---- */

Test(session_e2e, hello_grants_what_was_asked_for)
{
	struct client c;
	struct quoit_open_params p = {
		.name = "a test", .host_bytes = 8 * MIB, .arena_bytes = MIB, .max_tensors = 100};
	struct quoit_session *s;
	struct quoit_info info;

	client_open(&c, NULL, NULL);
	p.socket = c.d.socket;
	cr_assert_eq(quoit_open(&p, &s), 0);
	quoit_get_info(s, &info);
	cr_expect_eq(info.host_bytes, 8 * MIB);
	cr_expect_eq(info.arena_bytes, MIB);
	cr_expect_eq(info.max_tensors, 100);
	cr_expect_gt(info.tsc_hz, 0);
	cr_expect(info.ops[0] & UINT64_C(1) << QUOIT_OP_GEMM);
	cr_expect_eq(quoit_close(s, 0), 0);
	client_close(&c);
}

struct wish {
	struct quoit_open_params params;
	int err;
	const char *named;
};

Test(session_e2e, a_wish_that_cannot_be_granted_is_refused_in_words)
{
	static const char *const options[] = {"--memory=64M", "--max-tensors=1000", NULL};
	static const struct wish wishes[] = {
		{{.host_bytes = 65 * MIB}, -EDQUOT, "are left"},
		{{.host_bytes = UINT64_MAX}, -EDQUOT, "are left"},
		{{.host_bytes = 1000}, -EINVAL, "at least"},
		{{.host_bytes = 8 * MIB, .arena_bytes = 9 * MIB}, -EINVAL, "arena"},
		{{.host_bytes = 8 * MIB, .pinned_bytes = 8 * MIB}, -EINVAL, "pinned"},
		{{.device_bytes = 1}, -ENODEV, "device"},
		{{.max_tensors = 1001}, -EINVAL, "max_tensors"},
		{{.max_tensors = 1}, -EINVAL, "max_tensors"},
	};
	struct quoit_session *s;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, options), 0);
	for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
		struct quoit_open_params p = wishes[i].params;
		int err;

		p.socket = d.socket;
		err = quoit_open(&p, &s);
		cr_expect_eq(err, wishes[i].err, "row %zu: %d", i, err);
		cr_expect(strstr(quoit_open_text(), wishes[i].named), "row %zu: %s", i,
			  quoit_open_text());
		if (!err)
			quoit_close(s, 0);
	}
	daemon_stop(&d);
}

Test(session_e2e, leases_and_tables_add_up_and_come_back)
{
	static const char *const options[] = {"--memory=110M", NULL};
	struct quoit_open_params p = {.host_bytes = 16 * MIB}; /* and about 10 for its tables */
	struct quoit_session *s[4], *more;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, options), 0);
	p.socket = d.socket;
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(quoit_open(&p, &s[i]), 0);
	cr_expect_eq(quoit_open(&p, &more), -EDQUOT);
	cr_expect_eq(quoit_close(s[2], 0), 0);
	cr_expect_eq(quoit_open(&p, &s[2]), 0);
	for (unsigned i = 0; i < 4; i++)
		cr_expect_eq(quoit_close(s[i], 0), 0);
	daemon_stop(&d);
}

/* Others do not pay for tables that are larger than necessary. */
Test(session_e2e, tables_are_charged_at_the_size_asked_for)
{
	static const char *const options[] = {"--memory=64M", NULL};
	struct quoit_open_params p = {.host_bytes = 50 * MIB, .max_tensors = 65536};
	struct quoit_session *s;
	struct daemon d;

	cr_assert_eq(daemon_start(&d, options), 0);
	p.socket = d.socket;
	cr_expect_eq(quoit_open(&p, &s), -EDQUOT);
	cr_expect(strstr(quoit_open_text(), "for tables"), "%s", quoit_open_text());
	p.max_tensors = 64;
	cr_assert_eq(quoit_open(&p, &s), 0);
	cr_expect_eq(quoit_close(s, 0), 0);
	daemon_stop(&d);
}

/* ---- an unread log ---- */

static void log_into_a_full_pipe(const struct daemon *d)
{
	static const char bytes[4096];
	int ends[2];

	(void)d;
	if (pipe(ends) < 0 || fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0 ||
	    write(ends[1], bytes, sizeof bytes) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
		_exit(126); /* quoitd itself keeps the reading end open */
}

Test(session_e2e, a_log_that_nobody_reads_holds_nobody_up)
{
	static const char *const options[] = {"--log=info", NULL};
	struct client c;

	cr_assert_eq(daemon_start_prepared(&c.d, options, log_into_a_full_pipe), 0);
	for (unsigned i = 0; i < 3; i++)
		cr_expect_eq(quoit_close(client_session(&c, MIB), 0), 0);
	daemon_stop(&c.d);
}

/* ---- many sessions ---- */

Test(session_e2e, sessions_of_one_process_do_not_see_each_other)
{
	enum { SESSIONS = 8 };
	struct quoit_session *s[SESSIONS];
	struct quoit_ring *q[SESSIONS];
	quoit_tensor t[SESSIONS];
	struct client c;
	int32_t value;

	client_open(&c, NULL, NULL);
	for (int i = 0; i < SESSIONS; i++) {
		s[i] = client_session(&c, 4 * MIB);
		cr_assert_eq(quoit_open_ring(s[i], NULL, &q[i]), 0);
		t[i] = quoit_create_vector(q[i], QUOIT_I32, 1);
		cr_expect_eq(t[i], t[0], "the same name in each");
		cr_assert_eq(quoit_push(q[i], quoit_fill_int(t[i], i)), 0);
	}
	for (int i = 0; i < SESSIONS; i++) {
		cr_expect_eq(quoit_read(q[i], t[i], &value, sizeof value), 0);
		cr_expect_eq(value, i);
		cr_expect_eq(quoit_close(s[i], 0), 0);
	}
	client_close(&c);
}

static void *count_up(void *arg)
{
	struct quoit_ring *q = arg;
	quoit_tensor t = quoit_create_vector(q, QUOIT_I64, 1);
	int64_t value = 0;

	for (int i = 0; i < 1000; i++)
		if (quoit_push(q, quoit_add_int(t, t, 1)))
			return (void *)-1;
	return quoit_read(q, t, &value, sizeof value) ? (void *)-1 : (void *)(intptr_t)value;
}

Test(session_e2e, each_thread_has_a_ring_of_one_call)
{
	enum { THREADS = 8 };
	struct quoit_ring *q[THREADS];
	pthread_t thread[THREADS];
	struct client c;

	client_open(&c, NULL, NULL);
	cr_assert_eq(quoit_open_rings(c.s, NULL, THREADS, q), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, count_up, q[i]);
	for (unsigned i = 0; i < THREADS; i++) {
		void *value;

		pthread_join(thread[i], &value);
		cr_expect_eq((intptr_t)value, 1000);
	}
	client_close(&c);
}

Test(session_e2e, a_session_has_so_many_rings_and_no_more)
{
	struct quoit_ring *q[QUOIT_MAX_RINGS];
	struct client c;

	client_open(&c, NULL, NULL);
	cr_expect_eq(quoit_open_rings(c.s, NULL, QUOIT_MAX_RINGS, q), -ENFILE);
	cr_expect_eq(quoit_open_rings(c.s, NULL, QUOIT_MAX_RINGS - 1, q), 0);
	cr_expect_eq(quoit_open_ring(c.s, NULL, &q[0]), -ENFILE);
	client_close(&c);
}

/* ---- closing ---- */

/* A ring is counted before its memory is; where that is refused, neither counts. */
Test(session_e2e, rings_that_are_refused_for_their_memory_are_not_counted)
{
	static const char *const options[] = {"--uid-memory=96M", "--uid-rings=8", NULL};
	const struct quoit_ring_params large = {.entries = QUOIT_MAX_ENTRIES,
						.flags = QUOIT_RING_RAW | QUOIT_RING_STAMPS};
	struct quoit_ring *q[7];
	struct client c;

	client_open(&c, options, NULL);
	for (unsigned i = 0; i < 10; i++) {
		cr_expect_eq(quoit_open_rings(c.s, &large, 7, q), -EDQUOT);
		cr_expect(strstr(quoit_open_text(), "the rings need"), "%s", quoit_open_text());
	}
	cr_expect_eq(quoit_open_rings(c.s, NULL, 7, q), 0, "%s", quoit_open_text());
	client_close(&c);
}

Test(session_e2e, a_ring_is_closed_when_its_jobs_have_ended)
{
	struct quoit_ring *other;
	struct client c;
	quoit_tensor t;
	float *values;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	values = malloc(4u << 20);
	cr_assert_eq(quoit_open_ring(c.s, NULL, &other), 0);
	client_busy(&c, t, 10);
	cr_assert_eq(quoit_push(c.q, quoit_fill(t, 3.0)), 0);
	cr_expect_eq(quoit_close_ring(c.q), 0);
	cr_expect_eq(quoit_read(other, t, values, 4u << 20), 0);
	cr_expect_eq(values[0], 3.0f);
	cr_expect_eq(values[(1 << 20) - 1], 3.0f);
	free(values);
	client_close(&c);
}

Test(session_e2e, a_close_waits_for_its_jobs)
{
	struct client c;

	client_open(&c, NULL, NULL);
	client_busy(&c, client_large(&c), 50);
	client_close(&c);
}

Test(session_e2e, a_close_can_cancel_what_has_not_started)
{
	struct client c;

	client_open(&c, NULL, NULL);
	for (unsigned i = 0; i < 4; i++)
		client_busy(&c, client_large(&c), 50);
	cr_expect_eq(quoit_close(c.s, QUOIT_CLOSE_CANCEL), 0);
	daemon_stop(&c.d);
}

static const char *const room_for_one[] = {"--memory=96M", "--hello-ms=60000", NULL};

/* It dies with jobs in flight, and so still has its lease when the next one asks. */
static void die_with_a_lease(struct client *c)
{
	if (fork() == 0) {
		c->s = client_session(c, 64 * MIB);
		if (quoit_open_ring(c->s, NULL, &c->q))
			_exit(1);
		client_busy(c, client_large(c), 100);
		_exit(0);
	}
	wait(NULL);
}

static void expect_a_lease(const struct client *c)
{
	const struct quoit_open_params p = {.socket = c->d.socket, .host_bytes = 64 * MIB};
	struct quoit_session *s;

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	cr_expect_eq(quoit_close(s, 0), 0);
}

Test(session_e2e, a_program_that_is_started_again_at_once_gets_the_lease_of_the_one_that_died)
{
	struct client c;

	cr_assert_eq(daemon_start(&c.d, room_for_one), 0);
	die_with_a_lease(&c);
	expect_a_lease(&c);
	daemon_stop(&c.d);
}

Test(session_e2e, a_program_that_dies_while_it_waits_for_a_lease_is_in_nobodys_way)
{
	const struct quoit_totals *t;
	struct client c;
	pid_t second;

	cr_assert_eq(daemon_start(&c.d, room_for_one), 0);
	t = daemon_totals(&c.d);
	die_with_a_lease(&c);
	second = fork();
	if (second == 0) {
		c.s = client_session(&c, 64 * MIB);
		pause();
	}
	while (__atomic_load_n(&t->value[QUOIT_DAEMON_CONNECTIONS], __ATOMIC_RELAXED) < 2)
		usleep(1000);
	usleep(10000); /* it says HELLO just after it has connected */
	kill(second, SIGKILL);
	waitpid(second, NULL, 0);
	expect_a_lease(&c);
	daemon_totals_unmap(t);
	daemon_stop(&c.d);
}

Test(session_e2e, the_child_of_a_fork_has_no_session)
{
	struct client c;
	quoit_job job;
	int status;

	client_open(&c, NULL, NULL);
	cr_assert_eq(quoit_start(c.q, quoit_nop(0), &job), 0);
	if (fork() == 0) {
		struct quoit_ring *q;
		int bad = 0;

		bad |= quoit_push(c.q, quoit_nop(0)) != -EOWNERDEAD;
		bad |= quoit_flush(c.q) != -EOWNERDEAD;
		bad |= quoit_wait(c.q, job, 0) != -EOWNERDEAD;
		bad |= quoit_wait_all(c.q, 0) != -EOWNERDEAD;
		bad |= quoit_get_result(c.q, job) != -EOWNERDEAD;
		bad |= quoit_cancel(c.q, job) != -EOWNERDEAD;
		bad |= quoit_open_ring(c.s, NULL, &q) != -EOWNERDEAD;
		bad |= quoit_create_vector(c.q, QUOIT_F32, 1) != QUOIT_NO_TENSOR;
		(void)quoit_close(c.s, 0);
		_exit(bad);
	}
	wait(&status);
	cr_expect_eq(status, 0);
	cr_expect_eq(quoit_wait(c.q, job, QUOIT_FOREVER), 0, "the parent's is as it was");
	client_close(&c);
}

/* ---- the end of quoitd ---- */

static void *kill_soon(void *arg)
{
	usleep(50000);
	daemon_kill(arg);
	return NULL;
}

Test(session_e2e, a_waiting_client_learns_that_quoitd_has_died)
{
	struct client c;
	pthread_t killer;
	quoit_tensor t;

	client_open(&c, NULL, NULL);
	t = client_large(&c);
	for (unsigned i = 0; i < 40; i++)
		client_busy(&c, t, 50);
	pthread_create(&killer, NULL, kill_soon, &c.d);
	cr_expect_eq(quoit_wait_all(c.q, 20000), -ECONNRESET);
	pthread_join(killer, NULL);
	cr_expect_eq(quoit_wait_tensor(c.q, t, QUOIT_FOREVER), -ECONNRESET);
	quoit_close(c.s, 0);
	daemon_stop(&c.d);
}

Test(session_e2e, what_was_posted_before_the_end_is_delivered)
{
	static const struct quoit_ring_params raw = {.flags = QUOIT_RING_RAW};
	const struct quoit_cqe *cqe;
	struct client c;
	int n;

	client_open(&c, NULL, &raw);
	for (uint64_t i = 0; i < 10; i++) {
		struct quoit_sqe sqe = quoit_nop(0);

		sqe.user_data = i;
		*quoit_get_sqe(c.q) = sqe;
	}
	cr_assert_eq(quoit_flush(c.q), 0);
	cr_assert_eq(quoit_wait_cqe(c.q, QUOIT_FOREVER), 0);
	cr_assert_gt(quoit_peek(c.q, &cqe), 0);
	while (__atomic_load_n(&quoit_get_cqe(c.q, 9)->user_data, __ATOMIC_ACQUIRE) != 9)
		usleep(100); /* the last one is being posted */
	usleep(10000);
	daemon_kill(&c.d);
	for (uint64_t next = 0; next < 10; next += (uint64_t)n) {
		cr_assert_eq(quoit_wait_cqe(c.q, 1000), 0);
		n = quoit_peek(c.q, &cqe);
		cr_assert_gt(n, 0);
		for (int i = 0; i < n; i++)
			cr_expect_eq(quoit_get_cqe(c.q, (unsigned)i)->user_data,
				     next + (uint64_t)i);
		quoit_release(c.q, (unsigned)n);
	}
	cr_expect_eq(quoit_wait_cqe(c.q, 1000), -ECONNRESET);
	cr_expect_eq(quoit_peek(c.q, &cqe), -ECONNRESET);
	quoit_close(c.s, 0);
	daemon_stop(&c.d);
}

Test(session_e2e, a_quoitd_that_is_asked_to_end_says_so_to_its_clients)
{
	struct client c;

	client_open(&c, NULL, NULL);
	client_busy(&c, client_large(&c), 20);
	daemon_stop(&c.d);
	cr_expect_eq(quoit_wait_all(c.q, 1000), -ECONNRESET);
	quoit_close(c.s, 0);
}
