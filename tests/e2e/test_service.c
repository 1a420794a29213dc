/* SPDX-License-Identifier: MIT */
/* test_service.c - quoitd with a service manager: the passed socket, and the messages */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>

#include "base/exit_status.h"
#include "service.h"

static struct quoit_session *open_session(const char *socket)
{
	struct quoit_open_params p = {.socket = socket, .host_bytes = UINT64_C(16) << 20};
	struct quoit_session *s = NULL;

	cr_assert_eq(quoit_open(&p, &s), 0, "%s", quoit_open_text());
	return s;
}

/* ---- the socket ---- */

static void *open_early(void *arg)
{
	return open_session(arg);
}

/* Wait until a connection is in its queue; a listening socket does not say whose. */
static void wait_until_one_waits(int listener)
{
	int fd;

	for (int i = 0; i < 6000; i++) {
		fd_set set;
		struct timeval none = {0};

		FD_ZERO(&set);
		FD_SET(listener, &set);
		if (select(listener + 1, &set, NULL, NULL, &none) == 1)
			return;
		usleep(10000);
	}
	fd = -1;
	cr_assert_geq(fd, 0, "nobody connects");
}

Test(service, who_connected_before_it_was_started_is_served)
{
	struct quoit_session *early;
	struct service s;
	pthread_t thread;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	cr_assert_eq(pthread_create(&thread, NULL, open_early, s.d.socket), 0);
	wait_until_one_waits(s.listener[0]);
	cr_assert_eq(service_start(&s, NULL), 0);
	cr_assert_eq(pthread_join(thread, (void **)&early), 0);
	cr_expect_eq(quoit_close(early, 0), 0);
	service_stop(&s);
}

Test(service, the_path_of_a_passed_socket_stays_and_its_files_lie_beside_it)
{
	char totals[128];
	struct service s;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	snprintf(totals, sizeof totals, "%s/totals", s.folder);
	cr_assert_eq(service_start(&s, NULL), 0);
	cr_expect_eq(access(totals, F_OK), 0);
	cr_expect_eq(quoit_close(open_session(s.d.socket), 0), 0);
	cr_expect_eq(kill(s.d.pid, SIGTERM), 0);
	cr_expect(service_hears(&s, "STOPPING=1"));
	daemon_stop(&s.d);
	cr_expect_eq(access(totals, F_OK), -1);
	cr_expect_eq(access(s.d.socket, F_OK), 0);
	service_done(&s);
}

/* The next quoitd continues with the same socket. */
Test(service, a_passed_socket_is_passed_to_the_next_one_too)
{
	struct service s;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(service_start(&s, NULL), 0);
		cr_expect_eq(quoit_close(open_session(s.d.socket), 0), 0);
		daemon_stop(&s.d);
	}
	service_done(&s);
}

static void expect_refusal(struct service *s, const char *option, const char *words)
{
	const char *const options[] = {option, NULL};
	char log[4096];

	cr_expect_eq(service_fail(s, options, log, sizeof log), STATUS_OPTIONS, "%s", log);
	cr_expect(strstr(log, words), "%s", log);
	service_done(s);
}

Test(service, a_socket_of_another_type_is_refused)
{
	struct service s;

	service_init(&s);
	service_listen(&s, SOCK_STREAM);
	expect_refusal(&s, NULL, "'first.socket': expected a listening socket of ");
	service_init(&s);
	service_listen(&s, SOCK_DGRAM);
	expect_refusal(&s, NULL, "'first.socket': expected a listening socket of ");
}

Test(service, a_socket_without_a_path_is_refused)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct service s;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	close(s.listener[0]);
	s.listener[0] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	cr_assert_eq(bind(s.listener[0], (struct sockaddr *)&addr, sizeof(sa_family_t)), 0);
	cr_assert_eq(listen(s.listener[0], 1), 0);
	expect_refusal(&s, NULL, "a socket without a path");
}

Test(service, what_is_passed_is_one_socket_and_the_one_that_options_name)
{
	struct service s;

	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	expect_refusal(&s, "--socket=/tmp/another", "but command line says socket: /tmp/another");
	service_init(&s);
	service_listen(&s, SOCK_SEQPACKET);
	s.listener[1] = dup(s.listener[0]);
	expect_refusal(&s, NULL, "passed 2 sockets, 'second.socket' the second");
}

/* ---- messages ---- */

Test(service, it_says_when_it_is_ready_what_it_does_and_that_it_ends)
{
	struct quoit_session *one, *two;
	struct service s;

	service_init(&s);
	cr_assert_eq(service_start(&s, (const char *[]){"--reactors=1", NULL}), 0);
	cr_assert(service_hears(&s, "READY=1\nSTATUS=1 reactor on CPU "));
	cr_expect(strstr(s.said, "; 0 sessions"), "%s", s.said);
	one = open_session(s.d.socket);
	cr_expect(service_hears(&s, "; 1 session"));
	two = open_session(s.d.socket);
	cr_expect(service_hears(&s, "; 2 sessions"));
	cr_expect_eq(quoit_close(one, 0), 0);
	cr_expect_eq(quoit_close(two, 0), 0);
	cr_expect(service_hears(&s, "; 0 sessions"));
	cr_expect_eq(kill(s.d.pid, SIGTERM), 0);
	cr_expect(service_hears(&s, "STOPPING=1\n"));
	service_stop(&s);
}
