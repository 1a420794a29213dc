/* SPDX-License-Identifier: MIT */
/* hostile_connections.c - connections that come in crowds, say nothing, listen to nothing */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl_client.h"

#ifdef QUOIT_SANITIZE
#define SLOWER_BY 10
#else
#define SLOWER_BY 1
#endif

#define CAP 40 /* connections of a user, as main says to quoitd */

/* Where the test may choose, quoitd is root's, and its clients are these. */
enum { CANARY = 61001, ALICE = 61002, BOB = 61003 };

static bool is_root(void)
{
	return getuid() == 0;
}

static bool connect_as(struct stage *s, struct raw_client *c, uid_t uid)
{
	return CHECK(s, !ctl_connect_as(c, s->daemon.socket, is_root() ? uid : 0));
}

static bool say_hello(struct stage *s, struct raw_client *c)
{
	struct quoit_ctl m = ctl_hello(), answer;
	bool good = CHECK(s, !ctl_ask(c->socket, &m, -1, &answer)) && CHECK(s, !answer.result);

	c->info = answer.hello_reply;
	return good;
}

static bool open_as(struct stage *s, struct raw_client *c, uid_t uid)
{
	return connect_as(s, c, uid) && say_hello(s, c);
}

static uint64_t risen(const struct stage *s, uint32_t counter)
{
	return stage_count(s, counter) - s->counted[counter];
}

/*
 * Until quoitd has seen all that was announced with stage_expect, and has no session of ours
 * left: a connection counts for its user until its session is unmade.
 */
static void await_departures(struct stage *s)
{
	static const uint32_t ways[] = {QUOIT_DAEMON_CLIENTS_LEFT, QUOIT_DAEMON_CLIENTS_DIED};

	for (unsigned i = 0; i < 2; i++)
		for (unsigned ms = 0; ms < 60000; ms++) {
			if (risen(s, ways[i]) >= s->expected[ways[i]] &&
			    risen(s, QUOIT_DAEMON_SESSIONS_CLOSED) ==
				    risen(s, QUOIT_DAEMON_SESSIONS_OPENED))
				break;
			usleep(1000);
		}
}

/* ---- coming and going ---- */

static void connections_that_come_and_go_leave_nothing(struct stage *s)
{
	struct raw_client c;

	for (unsigned i = 1; i <= (s->full ? 500000 : 2000) && !s->bad; i++) {
		if (!connect_as(s, &c, ALICE))
			return;
		if (i % 8 == 0 && say_hello(s, &c))
			stage_die(s, &c);
		else
			ctl_leave(s, &c);
		if (i % (CAP / 2) == 0)
			await_departures(s);
	}
}

static void session_can_be_opened_for_each_that_was_closed(struct stage *s)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_CLOSE), answer;
	struct raw_client c;

	for (unsigned i = 0; i < (s->full ? 10000 : 200) && !s->bad; i++) {
		if (!open_as(s, &c, ALICE))
			return;
		CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && !answer.result);
		ctl_leave(s, &c);
		if (i % (CAP / 2) == 0)
			await_departures(s);
	}
}

static void user_has_as_many_connections_as_it_may(struct stage *s)
{
	struct raw_client c[CAP], more;

	for (unsigned i = 0; i < CAP; i++)
		if (!connect_as(s, &c[i], ALICE))
			return;
	CHECK(s, say_hello(s, &c[CAP - 1])); /* so all are there */
	for (unsigned i = 0; i < 10; i++) {
		struct quoit_ctl m = ctl_hello();

		if (!connect_as(s, &more, ALICE))
			return;
		(void)ctl_put(more.socket, &m, sizeof m, NULL, 0); /* as clients do */
		ctl_expect_end(s, &more, QUOIT_DAEMON_REFUSED_CONNECTIONS,
			       "too many connections of this user");
	}
	if (is_root() && open_as(s, &more, BOB))
		stage_die(s, &more);
	for (unsigned i = 0; i < CAP - 1; i++)
		ctl_leave(s, &c[i]);
	stage_die(s, &c[CAP - 1]);
	await_departures(s);
	if (open_as(s, &more, ALICE))
		stage_die(s, &more);
}

/*
 * Whoever closes its connections and opens others at once is not told that it has too many,
 * although quoitd hears of all of that together, and of somebody new first.
 */
static void connections_that_were_closed_make_room_at_once(struct stage *s)
{
	enum { MOST = CAP - 1 }; /* where there is one user only, one is the canary's */
	struct quoit_ctl m = ctl_request(QUOIT_CTL_KILL), answer;
	struct raw_client old[MOST], new[MOST];

	m.end.session = UINT64_MAX;
	for (unsigned i = 0; i < MOST; i++)
		if (!connect_as(s, &old[i], ALICE))
			return;
	while (risen(s, QUOIT_DAEMON_CONNECTIONS) < MOST)
		usleep(1000);
	kill(s->daemon.pid, SIGSTOP);
	for (unsigned i = 0; i < MOST; i++) {
		CHECK(s, connect_as(s, &new[i], ALICE));
		CHECK(s, !ctl_put(new[i].socket, &m, sizeof m, NULL, 0));
		for (unsigned j = 0; i == 0 && j < MOST; j++)
			ctl_leave(s, &old[j]);
	}
	kill(s->daemon.pid, SIGCONT);
	for (unsigned i = 0; i < MOST; i++) {
		CHECK(s, !ctl_get(new[i].socket, &answer) && answer.result == -ESRCH);
		ctl_leave(s, &new[i]);
	}
}

/* ---- saying nothing, hearing nothing ---- */

static void silent_connections_are_ended(struct stage *s)
{
	struct raw_client c[10];

	for (unsigned i = 0; i < 10; i++)
		if (!connect_as(s, &c[i], ALICE))
			return;
	for (unsigned i = 0; i < 10; i++)
		ctl_expect_end(s, &c[i], QUOIT_DAEMON_KILL_HANDSHAKE, "say hello in time");
}

static void half_closed_connections_are_over(struct stage *s)
{
	struct quoit_ctl m;
	struct raw_client c;

	for (unsigned i = 0; i < 4; i++) {
		if (!connect_as(s, &c, ALICE) || (i & 1 && !say_hello(s, &c)))
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

	if (!open_as(s, &c, ALICE))
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

	if (!open_as(s, &c, ALICE))
		return;
	while (sent < 1000000 && !ctl_put(c.socket, &m, sizeof m, NULL, 0))
		sent++;
	CHECK(s, sent < 10000); /* the queue has an end, and so has our patience */
	stage_expect(s, QUOIT_DAEMON_KILL_SLOW_CTL, 1);
	raw_close(&c);
}

/* The reason is read although requests were under way when quoitd had enough. */
static void reason_reaches_a_client_that_was_talking(struct stage *s)
{
	struct quoit_ctl bad = ctl_request(QUOIT_CTL_NR), good = refused_request();
	struct raw_client c;

	for (unsigned i = 0; i < (s->full ? 10000 : 100) && !s->bad; i++) {
		if (!open_as(s, &c, ALICE))
			return;
		CHECK(s, !ctl_put(c.socket, &bad, sizeof bad, NULL, 0));
		for (unsigned j = 0; j < 5; j++)
			(void)ctl_put(c.socket, &good, sizeof good, NULL, 0);
		ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_PROTO, "state");
		if (i % (CAP / 2) == 0)
			await_departures(s);
	}
}

/* ---- crowds ---- */

static int connect_at_once(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* As Alice, until we are told to end: connect and go, all the time. */
struct crowd {
	_Atomic bool end;
	_Atomic uint64_t connected;
};

static void join_crowd(const char *path, struct crowd *crowd)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_root() && setresuid(ALICE, ALICE, ALICE))
		_exit(1);
	while (!crowd->end) {
		int fd = connect_at_once(path);

		crowd->connected += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* Each connection of the crowd was either taken, and has left, or refused. */
static void expect_crowd(struct stage *s, uint64_t connected)
{
	uint64_t left = s->counted[QUOIT_DAEMON_CLIENTS_LEFT],
		 refused = s->counted[QUOIT_DAEMON_REFUSED_CONNECTIONS], now = 0;

	for (unsigned ms = 0; ms < 60000 && now < connected; ms++) {
		now = stage_count(s, QUOIT_DAEMON_CLIENTS_LEFT) - left +
		      stage_count(s, QUOIT_DAEMON_REFUSED_CONNECTIONS) - refused;
		usleep(1000);
	}
	refused = stage_count(s, QUOIT_DAEMON_REFUSED_CONNECTIONS) - refused;
	stage_expect(s, QUOIT_DAEMON_REFUSED_CONNECTIONS, refused);
	stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, connected - refused);
}

/* Bob, who must be served within a second. */
static void expect_service(struct stage *s)
{
	struct quoit_ctl m = ctl_hello();
	struct pollfd p = {.events = POLLIN};
	struct raw_client c;

	(void)alarm(SLOWER_BY); /* connect may block; the default action ends the test */
	if (!connect_as(s, &c, BOB))
		return;
	CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
	p.fd = c.socket;
	CHECK(s, poll(&p, 1, 1000 * SLOWER_BY) == 1);
	(void)alarm(0);
	CHECK(s, !ctl_get(c.socket, &m) && !m.result);
	stage_die(s, &c);
}

static void crowd_does_not_keep_another_user_out(struct stage *s)
{
	struct crowd *all =
		mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[2];

	fflush(NULL);
	for (unsigned i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			join_crowd(s->daemon.socket, all);
	}
	for (unsigned i = 0; i < (s->full ? 200 : 10); i++) {
		usleep(50000);
		expect_service(s);
	}
	all->end = true;
	for (unsigned i = 0; i < 2; i++)
		CHECK(s, waitpid(pid[i], NULL, 0) == pid[i]);
	expect_crowd(s, all->connected);
	munmap(all, sizeof *all);
}

static void full_backlog_does_not_keep_another_user_out(struct stage *s)
{
	enum { MOST = 4096 };
	static int fds[MOST];
	unsigned count = 0;

	kill(s->daemon.pid, SIGSTOP);
	if (is_root())
		CHECK(s, !seteuid(ALICE));
	while (count < MOST && (fds[count] = connect_at_once(s->daemon.socket)) >= 0)
		count++;
	if (is_root())
		CHECK(s, !seteuid(0));
	CHECK(s, count > CAP && count < MOST);
	kill(s->daemon.pid, SIGCONT);
	expect_service(s);
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
	expect_crowd(s, count);
}

/* ---- when quoitd has no descriptors left ---- */

static unsigned long cpu_ticks(pid_t pid)
{
	unsigned long user = 0, system = 0;
	char path[40];
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
			&user, &system) != 2)
		user = system = 0;
	if (f)
		fclose(f);
	return user + system;
}

static void lack_of_descriptors_is_named_and_passes(struct stage *s)
{
	struct quoit_ctl hello = ctl_hello(), add = ctl_request(QUOIT_CTL_FILE_ADD), answer;
	struct quoit_ctl ring = ctl_request(QUOIT_CTL_RING_OPEN);
	struct rlimit before, none = {.rlim_cur = 0};
	struct raw_client c, next, late;
	int fd = memfd_create("torture", MFD_CLOEXEC);

	ring.ring_open = (struct quoit_ring_open){8, 0, 0, 2};
	if (!open_as(s, &c, ALICE) || !connect_as(s, &next, ALICE))
		return;
	while (stage_count(s, QUOIT_DAEMON_CONNECTIONS) < s->counted[QUOIT_DAEMON_CONNECTIONS] + 2)
		usleep(1000);
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, NULL, &before));
	none.rlim_max = before.rlim_max;
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &none, NULL));
	CHECK(s, !ctl_ask(next.socket, &hello, -1, &answer) && answer.result == -EMFILE);
	CHECK(s, !ctl_ask(c.socket, &ring, -1, &answer) && answer.result == -EMFILE);
	CHECK(s, !ctl_ask(c.socket, &add, fd, &answer) && answer.result == -EMFILE);
	CHECK(s, connect_as(s, &late, ALICE));
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &before, NULL));
	CHECK(s, !ctl_ask(c.socket, &ring, -1, &answer) && !answer.result);
	CHECK(s, say_hello(s, &next));
	CHECK(s, say_hello(s, &late)); /* it waited in the backlog */
	close(fd);
	stage_die(s, &c);
	stage_die(s, &next);
	stage_die(s, &late);
}

/* Nobody may connect: quoitd shall wait for better times, not try for all it is worth. */
static void lack_of_descriptors_costs_no_time(struct stage *s)
{
	struct rlimit before, none = {.rlim_cur = 0};
	unsigned long ticks;
	struct raw_client c;

	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, NULL, &before));
	none.rlim_max = before.rlim_max;
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &none, NULL));
	kill(s->canary.pid, SIGSTOP);
	CHECK(s, connect_as(s, &c, ALICE));
	usleep(100000);
	ticks = cpu_ticks(s->daemon.pid);
	sleep(1);
	ticks = cpu_ticks(s->daemon.pid) - ticks;
	kill(s->canary.pid, SIGCONT);
	if (!CHECK(s, (long)ticks < sysconf(_SC_CLK_TCK) / 4))
		printf("  %lu ticks of a second's %ld\n", ticks, sysconf(_SC_CLK_TCK));
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &before, NULL));
	CHECK(s, say_hello(s, &c));
	stage_die(s, &c);
}

/* ---- who it is ---- */

/* In another process: open a session, and put its number and the connection into a socket. */
static bool open_elsewhere(struct stage *s, struct raw_client *c, uid_t uid, int to, pid_t *ret)
{
	int status;

	fflush(NULL);
	*ret = fork();
	if (*ret == 0) {
		if (is_root() && setresuid(uid, uid, uid))
			_exit(1);
		_exit(!say_hello(s, c) || ctl_put(to, &c->info.session, 8, &c->socket, 1));
	}
	return CHECK(s, waitpid(*ret, &status, 0) == *ret && !status);
}

static void connection_in_other_hands_stays_its_openers(struct stage *s)
{
	const struct quoit_session_stats *stats;
	struct raw_client c;
	int pair[2];
	pid_t other;

	CHECK(s, !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	if (!connect_as(s, &c, ALICE) || !open_elsewhere(s, &c, BOB, pair[0], &other))
		return;
	CHECK(s, recv(pair[1], &c.info.session, 8, MSG_PEEK) == 8);
	stats = stage_stats(s, &c);
	if (CHECK(s, stats)) {
		CHECK(s, stats->uid == ALICE);
		munmap((void *)(uintptr_t)stats, sizeof *stats);
	}
	close(pair[0]);
	close(pair[1]);
	stage_die(s, &c);
}

static void kill_session(struct stage *s, uint64_t session, uid_t uid, int result)
{
	struct quoit_ctl m = ctl_request(QUOIT_CTL_KILL), answer;
	struct raw_client c;

	m.end.session = session;
	if (!connect_as(s, &c, uid))
		return;
	CHECK(s, !ctl_ask(c.socket, &m, -1, &answer) && answer.result == result);
	ctl_leave(s, &c);
}

static void session_is_ended_by_its_user_and_no_other(struct stage *s)
{
	struct raw_client c;

	if (!open_as(s, &c, ALICE))
		return;
	kill_session(s, c.info.session + 1, ALICE, -ESRCH);
	kill_session(s, UINT64_MAX, ALICE, -ESRCH);
	if (is_root())
		kill_session(s, c.info.session, BOB, -ESRCH);
	kill_session(s, c.info.session, ALICE, 0);
	kill_session(s, c.info.session, ALICE, -ESRCH);
	ctl_expect_end(s, &c, QUOIT_DAEMON_KILL_ASKED, "ended by request");
}

/* Sleep in a new process; with luck it has this pid (0: any). */
static pid_t start_sleeper(pid_t wanted)
{
	pid_t pid;

	if (wanted) {
		FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "we");

		if (!f)
			return -1;
		fprintf(f, "%d", (int)wanted - 1);
		fclose(f);
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* The client has died, its connection lives on, and its pid is somebody else's by now. */
static void process_with_a_dead_clients_pid_is_left_alone(struct stage *s)
{
	pid_t client, stranger = -1;
	struct raw_client c;
	uint64_t session;
	int pair[2], status;

	CHECK(s, !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	if (!connect_as(s, &c, ALICE) || !open_elsewhere(s, &c, ALICE, pair[0], &client))
		return;
	raw_close(&c);
	CHECK(s, recv(pair[1], &session, sizeof session, MSG_PEEK) == sizeof session);
	for (unsigned i = 0; i < 100 && stranger != client; i++) {
		if (stranger > 0 && !kill(stranger, SIGKILL))
			(void)waitpid(stranger, NULL, 0);
		stranger = start_sleeper(client);
	}
	if (stranger == client) {
		kill_session(s, session, ALICE, 0);
		stage_expect(s, QUOIT_DAEMON_KILL_ASKED, 1);
	} else {
		s->skip = "no process gets a pid of our choice here";
		stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	}
	close(pair[0]); /* and with the pair the connection that lies in it */
	close(pair[1]);
	if (stranger > 0) {
		CHECK(s, waitpid(stranger, NULL, WNOHANG) == 0);
		kill(stranger, SIGKILL);
		CHECK(s, waitpid(stranger, &status, 0) == stranger && WTERMSIG(status) == SIGKILL);
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

/* It would wipe the counters and then find that it cannot listen. */
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
	CHECK(s, !raw_connect(&c, first.socket) && say_hello(s, &c));
	CHECK(s, daemon_start(&second, same) == -ECHILD);
	snprintf(path, sizeof path, "%s/%s", first.folder, QUOIT_STATS_TOTALS);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(s, read(fd, &totals, sizeof totals) == sizeof totals);
	CHECK(s, totals.value[QUOIT_DAEMON_SESSIONS_OPENED] == 1);
	close(fd);
	raw_close(&c);
	CHECK(s, !raw_connect(&c, first.socket) && say_hello(s, &c));
	raw_close(&c);
	daemon_stop(&first);
}

static void let_others_in(const struct daemon *d)
{
	(void)chmod(d->folder, 0755);
}

int main(int argc, char **argv)
{
#define CASE(f)                                                                                    \
	{                                                                                          \
#f, f                                                                              \
	}
	static const struct stage_case always[] = {
		CASE(connections_that_come_and_go_leave_nothing),
		CASE(session_can_be_opened_for_each_that_was_closed),
		CASE(user_has_as_many_connections_as_it_may),
		CASE(connections_that_were_closed_make_room_at_once),
		CASE(silent_connections_are_ended),
		CASE(half_closed_connections_are_over),
		CASE(client_that_hears_nothing_harms_itself),
		CASE(client_that_reads_no_reply_is_ended),
		CASE(reason_reaches_a_client_that_was_talking),
		CASE(session_is_ended_by_its_user_and_no_other),
		CASE(lack_of_descriptors_is_named_and_passes),
		CASE(lack_of_descriptors_costs_no_time),
		CASE(process_with_a_dead_clients_pid_is_left_alone),
	};
	static const struct stage_case with_users[] = {
		CASE(connection_in_other_hands_stays_its_openers),
		CASE(full_backlog_does_not_keep_another_user_out),
		CASE(crowd_does_not_keep_another_user_out),
	};
	static const struct stage_case alone[] = {
		CASE(silent_connection_does_not_hold_up_the_end),
		CASE(second_quoitd_leaves_the_first_alone),
	};
#undef CASE
#define COUNT(a) (sizeof a / sizeof a[0])
	static const char *const options[] = {"--hello-ms=1000", "--uid-connections=40",
					      "--private=no", NULL};
	static const char *const ours[] = {"--hello-ms=1000", "--uid-connections=40", NULL};
	const struct stage_scene scene = {.options = is_root() ? options : ours,
					  .prepare = is_root() ? let_others_in : NULL,
					  .canary = is_root() ? CANARY : 0};
	struct stage s;

	if (!stage_init(&s, argc, argv))
		return 1;
	stage_play(&s, &scene, always, COUNT(always));
	if (is_root())
		stage_play(&s, &scene, with_users, COUNT(with_users));
	else
		stage_skip(&s, with_users, COUNT(with_users), "needs several users");
	stage_play_alone(&s, alone, COUNT(alone));
	return stage_end(&s);
}
