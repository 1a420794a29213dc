/* SPDX-License-Identifier: MIT */
/* hostile_connections.c - connections that come and go, send nothing, or read nothing */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "callers.h"
#include "ctl_client.h"
#include "watches.h"

/* ---- connections that come and go ---- */

static void connections_that_come_and_go_leave_nothing(struct stage *s)
{
	struct raw_client c;

	for (unsigned i = 1; i <= stage_times(s, 2000, 500000) && !s->bad; i++) {
		if (!caller_connect(s, &c, CALLER_ALICE))
			return;
		if (i % 8 == 0 && caller_hello(s, &c))
			stage_die(s, &c);
		else
			ctl_leave(s, &c);
		if (i % (CALLERS_CAP / 2) == 0)
			callers_await_departures(s);
	}
}

static void session_can_be_opened_for_each_that_was_closed(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_CLOSE), answer;
	struct raw_client c;

	for (unsigned i = 0; i < stage_times(s, 200, 10000) && !s->bad; i++) {
		if (!caller_open(s, &c, CALLER_ALICE))
			return;
		CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && !answer.result);
		ctl_leave(s, &c);
		if (i % (CALLERS_CAP / 2) == 0)
			callers_await_departures(s);
	}
}

static void user_has_as_many_connections_as_it_may(struct stage *s)
{
	struct raw_client c[CALLERS_CAP], more;
	unsigned most = callers_most();

	for (unsigned i = 0; i < most; i++)
		if (!caller_connect(s, &c[i], CALLER_ALICE))
			return;
	CHECK(s, caller_hello(s, &c[most - 1])); /* so all are accepted */
	for (unsigned i = 0; i < 10; i++) {
		struct quoit_ctl m = ctl_hello();

		if (!caller_connect(s, &more, CALLER_ALICE))
			return;
		(void)ctl_put(more.socket, &m, sizeof m, NULL, 0); /* as clients do */
		ctl_expect_end(s, &more, QUOIT_DAEMON_REFUSED_CONNECTIONS,
			       "this user has too many connections");
	}
	if (stage_has_users() && caller_open(s, &more, CALLER_BOB))
		stage_die(s, &more);
	for (unsigned i = 0; i < most - 1; i++)
		ctl_leave(s, &c[i]);
	stage_die(s, &c[most - 1]);
	callers_await_departures(s);
	if (caller_open(s, &more, CALLER_ALICE))
		stage_die(s, &more);
}

/*
 * Close as many connections as there may be beside `others`, and open as many at once.  quoitd hears
 * of all of that together, and of a new client first.
 */
static void close_and_open(struct stage *s, unsigned others)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_KILL), answer;
	struct raw_client old[CALLERS_CAP], new[CALLERS_CAP];
	unsigned most = callers_most() - others - 1; /* it may accept the first before it stops */
	uint64_t before = callers_risen(s, QUOIT_DAEMON_CONNECTIONS);

	m.end.session = UINT64_MAX;
	for (unsigned i = 0; i < most; i++)
		if (!caller_connect(s, &old[i], CALLER_ALICE))
			return;
	while (callers_risen(s, QUOIT_DAEMON_CONNECTIONS) < before + most)
		usleep(1000);
	kill(s->daemon.pid, SIGSTOP);
	for (unsigned i = 0; i < most; i++) {
		CHECK(s, caller_connect(s, &new[i], CALLER_ALICE));
		CHECK(s, !ctl_put(new[i].socket, &m, sizeof m, NULL, 0));
		for (unsigned j = 0; i == 0 && j < most; j++)
			ctl_leave(s, &old[j]);
	}
	kill(s->daemon.pid, SIGCONT);
	for (unsigned i = 0; i < most; i++) {
		CHECK(s, !ctl_get(new[i].socket, &answer) && answer.result == -ESRCH);
		ctl_leave(s, &new[i]);
	}
}

static void connections_that_were_closed_make_room_at_once(struct stage *s)
{
	close_and_open(s, 0);
}

/* quoitd hangs up on this user aside, and looks at its connections later (base/dear.h). */
static void connections_of_a_dear_user_make_room_too(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_OP), answer;
	struct watches w;
	struct raw_client c;

	if (!caller_open(s, &c, CALLER_ALICE))
		return;
	strcpy(m.op.name, "nop");
	watches_hang(s, &w, c.socket);
	for (unsigned i = 0; i < stage_times(s, 3, 100) && !s->bad; i++) {
		for (unsigned j = 0; j < 4; j++)
			CHECK(s, !ctl_ask(c.socket, &m, -1, &answer));
		close_and_open(s, 1);
	}
	watches_take_down(&w);
	stage_die(s, &c);
}

/* ---- connections that send or read nothing ---- */

static void silent_connections_are_ended(struct stage *s)
{
	struct raw_client c[10];

	for (unsigned i = 0; i < 10; i++)
		if (!caller_connect(s, &c[i], CALLER_ALICE))
			return;
	for (unsigned i = 0; i < 10; i++)
		ctl_expect_end(s, &c[i], QUOIT_DAEMON_KILL_HANDSHAKE, "did not send HELLO in time");
}

static void half_closed_connections_are_over(struct stage *s)
{
	struct quoit_ctl m;
	struct raw_client c;

	for (unsigned i = 0; i < 4; i++) {
		if (!caller_connect(s, &c, CALLER_ALICE) || (i & 1 && !caller_hello(s, &c)))
			return;
		CHECK(s, !shutdown(c.socket, i & 2 ? SHUT_RDWR : SHUT_WR));
		CHECK(s, ctl_get(c.socket, &m) == -ECONNRESET);
		if (i & 1)
			stage_die(s, &c);
		else
			ctl_leave(s, &c);
	}
}

/* A request that is refused at once, so that the next one may follow at once. */
static struct quoit_ctl refused_request(void)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_RING_OPEN);

	m.ring_open.sq_entries = 7;
	return m;
}

static void client_that_hears_nothing_harms_itself(struct stage *s)
{
	struct quoit_ctl m = refused_request();
	struct raw_client c;

	if (!caller_open(s, &c, CALLER_ALICE))
		return;
	CHECK(s, !shutdown(c.socket, SHUT_RD));
	for (unsigned i = 0; i < 1000; i++)
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
	stage_die(s, &c);
}

static void client_that_reads_no_reply_is_ended(struct stage *s)
{
	struct quoit_ctl m = refused_request();
	struct raw_client c;
	unsigned sent = 0;

	if (!caller_open(s, &c, CALLER_ALICE))
		return;
	while (sent < 1000000 && !ctl_put(c.socket, &m, sizeof m, NULL, 0))
		sent++;
	CHECK(s, sent < 10000); /* the queue is limited, and so is our patience */
	stage_expect(s, QUOIT_DAEMON_KILL_SLOW_CTL, 1);
	raw_close(&c);
}

/* The client gets the reason although requests were under way when quoitd ended it. */
static void reason_reaches_a_client_that_was_talking(struct stage *s)
{
	struct quoit_ctl bad = ctl_request(QUOIT_CTL_NR), good = refused_request();
	struct raw_client c;

	for (unsigned i = 0; i < stage_times(s, 100, 10000) && !s->bad; i++) {
		if (!caller_open(s, &c, CALLER_ALICE))
			return;
		CHECK(s, !ctl_put(c.socket, &bad, sizeof bad, NULL, 0));
		for (unsigned j = 0; j < 5; j++)
			(void)ctl_put(c.socket, &good, sizeof good, NULL, 0);
		ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "state");
		if (i % (CALLERS_CAP / 2) == 0)
			callers_await_departures(s);
	}
}

/* ---- the end of quoitd ---- */

/* daemon_stop gives up on a quoitd that does not end. */
static void silent_connection_does_not_hold_up_the_end(struct stage *s)
{
	static const char *const patient[] = {"--hello-ms=600000", NULL};
	struct raw_client c;
	struct daemon d;
	struct quoit_ctl m;

	if (!CHECK(s, !daemon_start(&d, patient)))
		return;
	CHECK(s, !raw_connect(&c, d.socket));
	usleep(100000);
	daemon_stop(&d);
	CHECK(s, !ctl_get(c.socket, &m) && m.type == QUOIT_CTL_END &&
			 !strcmp(m.text, "quoitd is ending"));
	raw_close(&c);
}

/* Otherwise it would wipe the counters and then find that it cannot listen. */
static void second_quoitd_leaves_the_first_alone(struct stage *s)
{
	char socket[140], path[100];
	const char *const same[] = {socket, NULL};
	struct daemon first, second;
	struct quoit_totals totals;
	struct raw_client c;
	int fd;

	if (!CHECK(s, !daemon_start(&first, NULL)))
		return;
	snprintf(socket, sizeof socket, "--socket=%s", first.socket);
	CHECK(s, !raw_connect(&c, first.socket) && caller_hello(s, &c));
	CHECK(s, daemon_start(&second, same) == -ECHILD);
	snprintf(path, sizeof path, "%s/%s", first.folder, QUOIT_STATS_TOTALS);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(s, read(fd, &totals, sizeof totals) == sizeof totals);
	CHECK(s, totals.value[QUOIT_DAEMON_SESSIONS_OPENED] == 1);
	close(fd);
	raw_close(&c);
	CHECK(s, !raw_connect(&c, first.socket) && caller_hello(s, &c));
	raw_close(&c);
	daemon_stop(&first);
}

int main(int argc, char **argv)
{
	static const struct stage_case always[] = {
		STAGE_CASE(connections_that_come_and_go_leave_nothing),
		STAGE_CASE(session_can_be_opened_for_each_that_was_closed),
		STAGE_CASE(user_has_as_many_connections_as_it_may),
		STAGE_CASE(connections_that_were_closed_make_room_at_once),
		STAGE_CASE(connections_of_a_dear_user_make_room_too),
		STAGE_CASE(silent_connections_are_ended),
		STAGE_CASE(half_closed_connections_are_over),
		STAGE_CASE(client_that_hears_nothing_harms_itself),
		STAGE_CASE(client_that_reads_no_reply_is_ended),
		STAGE_CASE(reason_reaches_a_client_that_was_talking),
	};
	static const struct stage_case alone[] = {
		STAGE_CASE(silent_connection_does_not_hold_up_the_end),
		STAGE_CASE(second_quoitd_leaves_the_first_alone),
	};
#define COUNT(a) (sizeof a / sizeof a[0])
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 1;
	callers_play(&s, always, COUNT(always), NULL, 0);
	stage_play_alone(&s, alone, COUNT(alone));
	return stage_end(&s);
}
