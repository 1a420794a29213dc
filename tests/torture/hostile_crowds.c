/* SPDX-License-Identifier: MIT */
/* hostile_crowds.c - more connections than there is room for, and one other user among them */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "callers.h"
#include "ctl_client.h"

#ifdef QUOIT_SANITIZE
#define SLOWER_BY 10
#else
#define SLOWER_BY 1
#endif

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

/* Alice connects and goes again and again, until told to end. */
struct crowd {
	_Atomic bool end;
	_Atomic uint64_t connected;
};

static void join_crowd(const char *path, struct crowd *crowd)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (stage_has_users() && setresuid(CALLER_ALICE, CALLER_ALICE, CALLER_ALICE))
		_exit(1);
	while (!crowd->end) {
		int fd = connect_at_once(path);

		crowd->connected += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	_exit(0);
}

/* Each connection of the crowd was either accepted, and has left, or refused. */
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

/* Bob must be served within a second. */
static void expect_service(struct stage *s)
{
	struct quoit_ctl m = ctl_hello();
	struct pollfd p = {.events = POLLIN};
	struct raw_client c;

	(void)alarm(SLOWER_BY); /* connect may block; the signal's default action ends the test */
	if (!caller_connect(s, &c, CALLER_BOB))
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
	for (unsigned i = 0; i < stage_times(s, 10, 200); i++) {
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
	if (stage_has_users())
		CHECK(s, !seteuid(CALLER_ALICE));
	while (count < MOST && (fds[count] = connect_at_once(s->daemon.socket)) >= 0)
		count++;
	if (stage_has_users())
		CHECK(s, !seteuid(0));
	CHECK(s, count > CALLERS_CAP && count < MOST);
	kill(s->daemon.pid, SIGCONT);
	expect_service(s);
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
	expect_crowd(s, count);
}

/* ---- quoitd without descriptors ---- */

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
	struct rlimit before, none = {.rlim_cur = 0};
	struct raw_client c, next, late;
	int fd = memfd_create("torture", MFD_CLOEXEC);

	if (!caller_open(s, &c, CALLER_ALICE) || !caller_connect(s, &next, CALLER_ALICE))
		return;
	CHECK(s, !raw_give_arena(&c) && !raw_begin_arena(&c));
	while (stage_count(s, QUOIT_DAEMON_CONNECTIONS) < s->counted[QUOIT_DAEMON_CONNECTIONS] + 2)
		usleep(1000);
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, NULL, &before));
	none.rlim_max = before.rlim_max;
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &none, NULL));
	CHECK(s, !ctl_ask(next.socket, &hello, -1, &answer) && answer.result == -EMFILE);
	CHECK(s, raw_ring_open(&c, 8, 0, 0) == -EMFILE && strstr(c.text, "descriptor"));
	CHECK(s, !ctl_ask(c.socket, &add, fd, &answer) && answer.result == -EMFILE);
	CHECK(s, caller_connect(s, &late, CALLER_ALICE));
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &before, NULL));
	CHECK(s, !raw_ring_open(&c, 8, 0, 0));
	CHECK(s, caller_hello(s, &next));
	CHECK(s, caller_hello(s, &late)); /* it waited in the backlog */
	close(fd);
	stage_die(s, &c);
	stage_die(s, &next);
	stage_die(s, &late);
}

/* No client can connect; quoitd must wait for better times, and not try all the time. */
static void lack_of_descriptors_costs_no_time(struct stage *s)
{
	struct rlimit before, none = {.rlim_cur = 0};
	unsigned long ticks;
	struct raw_client c;

	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, NULL, &before));
	none.rlim_max = before.rlim_max;
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &none, NULL));
	kill(s->canary.pid, SIGSTOP);
	CHECK(s, caller_connect(s, &c, CALLER_ALICE));
	usleep(100000);
	ticks = cpu_ticks(s->daemon.pid);
	sleep(1);
	ticks = cpu_ticks(s->daemon.pid) - ticks;
	kill(s->canary.pid, SIGCONT);
	if (!CHECK(s, (long)ticks < sysconf(_SC_CLK_TCK) / 4))
		printf("  %lu ticks of a second's %ld\n", ticks, sysconf(_SC_CLK_TCK));
	CHECK(s, !prlimit(s->daemon.pid, RLIMIT_NOFILE, &before, NULL));
	CHECK(s, caller_hello(s, &c));
	stage_die(s, &c);
}

int main(int argc, char **argv)
{
	static const struct stage_case always[] = {
		STAGE_CASE(lack_of_descriptors_is_named_and_passes),
		STAGE_CASE(lack_of_descriptors_costs_no_time),
	};
	static const struct stage_case with_users[] = {
		STAGE_CASE(full_backlog_does_not_keep_another_user_out),
		STAGE_CASE(crowd_does_not_keep_another_user_out),
	};

	return callers_main(argc, argv, always, sizeof always / sizeof always[0], with_users,
			    sizeof with_users / sizeof with_users[0]);
}
