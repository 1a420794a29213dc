/* SPDX-License-Identifier: MIT */
/*
 * test_watchdog.c - quoitd tells the service manager that all is well only while all threads make
 * progress
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "service.h"

/*
 * The watchdog looks four times in this period; on a loaded machine a thread may wait long for its
 * core.
 */
#define PERIOD_MS 3000

static void start(struct service *s, const char *const *options)
{
	service_init(s);
	s->watchdog_ms = PERIOD_MS;
	cr_assert_eq(service_start(s, options), 0);
}

static void hear_often(struct service *s)
{
	for (int i = 0; i < 4; i++)
		cr_expect(service_hears(s, "WATCHDOG=1"));
}

/* Open a session with a ring; NULL: quoitd does not answer. */
static struct quoit_ring *open_ring(const struct service *s)
{
	struct quoit_open_params p = {.socket = s->d.socket, .host_bytes = UINT64_C(64) << 20};
	struct quoit_session *session;
	struct quoit_ring *q;

	if (quoit_open(&p, &session) < 0 || quoit_open_ring(session, NULL, &q) < 0)
		return NULL;
	return q;
}

/* Push dependent products, each of several tiles. */
static void push_products(struct quoit_ring *q, unsigned count)
{
	const unsigned n = 1024;
	quoit_tensor a = quoit_create_matrix(q, QUOIT_F64, n, n),
		     b = quoit_create_matrix(q, QUOIT_F64, n, n);
	quoit_tensor c = quoit_create_matrix(q, QUOIT_F64, n, n);

	for (unsigned i = 0; i < count; i++)
		(void)quoit_push(q, quoit_gemm(c, a, b, 0, 1.0, 0.0));
	(void)quoit_flush(q);
}

Test(watchdog, all_is_well_while_nothing_is_done)
{
	struct service s;

	start(&s, NULL);
	hear_often(&s);
	cr_expect_eq(daemon_log_count(&s.d, "stuck: ", 0), 0);
	service_stop(&s);
}

Test(watchdog, all_is_well_with_long_jobs_on_all_cores)
{
	struct quoit_ring *q;
	struct service s;

	start(&s, NULL);
	q = open_ring(&s);
	cr_assert(q, "%s", quoit_open_text());
	push_products(q, 2000);
	hear_often(&s);
	cr_expect_eq(daemon_log_count(&s.d, "stuck: ", 0), 0);
	cr_expect_eq(quoit_close(quoit_get_session(q), QUOIT_CLOSE_CANCEL), 0);
	service_stop(&s);
}

Test(watchdog, a_module_and_a_device_are_watched_over_as_well)
{
	static const char *const options[] = {"--gpu=soft:1", NULL};
	struct service s;

	start(&s, options);
	hear_often(&s);
	cr_expect_eq(daemon_log_count(&s.d, "stuck: ", 0), 0);
	service_stop(&s);
}

/* Workers give way to programs that take all cores. */
Test(watchdog, a_worker_that_gets_no_core_is_not_stuck)
{
	static const char *const options[] = {"--worker-nice=19", NULL};
	struct quoit_ring *q;
	struct service s;
	pid_t hogs[8];

	start(&s, options);
	q = open_ring(&s);
	cr_assert(q, "%s", quoit_open_text());
	for (unsigned i = 0; i < sizeof hogs / sizeof hogs[0]; i++)
		if (!(hogs[i] = fork()))
			for (;;)
				;
	push_products(q, 200);
	hear_often(&s);
	hear_often(&s);
	cr_expect_eq(daemon_log_count(&s.d, "stuck: ", 0), 0);
	for (unsigned i = 0; i < sizeof hogs / sizeof hogs[0]; i++) {
		(void)kill(hogs[i], SIGKILL);
		(void)waitpid(hogs[i], NULL, 0);
	}
	cr_expect_eq(quoit_close(quoit_get_session(q), QUOIT_CLOSE_CANCEL), 0);
	service_stop(&s);
}

/* A thread is stuck: from then on there are no more messages. */
static void expect_silence(struct service *s, const char *who)
{
	for (int i = 0; i < 12 && !daemon_log_count(&s->d, who, 1); i++)
		;
	cr_expect_geq(daemon_log_count(&s->d, who, 1), 1, "%s", who);
	(void)service_hears_in(s, "WATCHDOG=1", 0);
	cr_expect_not(service_hears_in(s, "WATCHDOG=1", PERIOD_MS), "%s", who);
	daemon_kill(&s->d); /* as systemd would */
	service_stop(s);
}

/* A process of its own, since it gets no answer. */
static pid_t start_client(const struct service *s)
{
	pid_t pid = fork();

	if (!pid) {
		struct quoit_ring *q = open_ring(s);

		if (q)
			push_products(q, 4);
		pause();
		_exit(0);
	}
	return pid;
}

static void expect_stuck(const char *where, const char *who)
{
	char option[32];
	const char *const options[] = {option, "--gpu=soft:1", "--tile-ms=100", NULL};
	struct service s;
	pid_t client;

	snprintf(option, sizeof option, "--inject-hang=%s", where);
	start(&s, options);
	client = start_client(&s);
	expect_silence(&s, who);
	kill(client, SIGKILL);
	(void)waitpid(client, NULL, 0);
}

Test(watchdog, a_reactor_that_is_stuck_ends_it)
{
	expect_stuck("reactor", "stuck: reactor 0 on CPU ");
}

Test(watchdog, the_control_thread_stuck_ends_it)
{
	expect_stuck("control", "stuck: the control thread");
}

Test(watchdog, the_memory_thread_stuck_ends_it)
{
	expect_stuck("memory", "stuck: the memory thread");
}

Test(watchdog, the_thread_of_executors_stuck_ends_it)
{
	expect_stuck("executors", "stuck: the thread of executors");
}

/* One worker, or several that each had a tile. */
Test(watchdog, a_worker_that_sleeps_in_a_tile_ends_it)
{
	expect_stuck("worker", "stuck: worker ");
}

Test(watchdog, a_worker_that_is_at_one_tile_for_too_long_ends_it)
{
	expect_stuck("worker-spins", "stuck: worker ");
}

Test(watchdog, a_worker_that_is_gone_ends_it)
{
	expect_stuck("worker-exits", "stuck: worker ");
}

Test(watchdog, a_place_that_is_none_is_no_option)
{
	const char *const options[] = {"--inject-hang=nowhere", NULL};
	char log[4096];
	struct service s;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	cr_expect_eq(service_fail(&s, options, log, sizeof log), 2);
	cr_expect(strstr(log, "inject-hang: no thread 'nowhere'"), "%s", log);
	service_done(&s);
}
