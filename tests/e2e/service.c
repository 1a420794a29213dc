/* SPDX-License-Identifier: MIT */
/* service.c - act as systemd does for a service, as far as a test can */
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clock.h"

#define FIRST_FD 3
#define PATIENCE 60000 /* ms */

/* An abstract socket name that the kernel chooses. */
static void open_notify(struct service *s)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	s->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	cr_assert_eq(bind(s->notify, (struct sockaddr *)&addr, sizeof(sa_family_t)), 0);
}

void service_init(struct service *s)
{
	*s = (struct service){.listener = {-1, -1}};
	open_notify(s);
}

void service_listen(struct service *s, int type)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	strcpy(s->folder, "/tmp/quoit-service-XXXXXX");
	cr_assert(mkdtemp(s->folder));
	snprintf(s->d.socket, sizeof s->d.socket, "%s/quoitd.sock", s->folder);
	strcpy(addr.sun_path, s->d.socket);
	s->listener[0] = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(s->listener[0], (struct sockaddr *)&addr, sizeof addr), 0);
	if (type != SOCK_DGRAM)
		cr_assert_eq(listen(s->listener[0], 16), 0);
}

/* ---- in the new process ---- */

static const struct service *being_started;

static void set_number(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	setenv(name, text, 1);
}

static void pass(const int *listener)
{
	int n = 0;

	while (n < 2 && listener[n] >= 0) {
		cr_assert_eq(dup2(listener[n], FIRST_FD + n), FIRST_FD + n);
		n++;
	}
	if (!n)
		return;
	set_number("LISTEN_FDS", (uint64_t)n);
	set_number("LISTEN_PID", (uint64_t)getpid());
	setenv("LISTEN_FDNAMES", n == 1 ? "first.socket" : "first.socket:second.socket", 1);
}

static void prepare(const struct daemon *d)
{
	const struct service *s = being_started;
	struct sockaddr_un addr;
	socklen_t length = sizeof addr;
	char path[sizeof addr.sun_path + 1];
	size_t bytes;

	cr_assert_eq(getsockname(s->notify, (struct sockaddr *)&addr, &length), 0);
	bytes = length - offsetof(struct sockaddr_un, sun_path);
	snprintf(path, sizeof path, "@%.*s", (int)bytes - 1, addr.sun_path + 1);
	setenv("NOTIFY_SOCKET", path, 1);
	if (s->watchdog_ms) {
		set_number("WATCHDOG_USEC", (uint64_t)s->watchdog_ms * 1000);
		set_number("WATCHDOG_PID", (uint64_t)getpid());
	}
	cr_assert_eq(daemon_log_to_file(d), 0);
	pass(s->listener);
}

/* ---- start and end ---- */

/* Occupy the descriptors that quoitd is to get, so that the test's own files have other numbers. */
static void take_first(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && fd < FIRST_FD + 2)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
	if (fd >= 0)
		close(fd);
}

int service_start(struct service *s, const char *const *options)
{
	char socket[sizeof s->d.socket], option[sizeof socket + 16];
	const char *all[16] = {"--log=info"};
	unsigned n = 1;
	int err;

	strcpy(socket, s->d.socket);
	snprintf(option, sizeof option, "--socket=%s", socket);
	if (*s->folder)
		all[n++] = option;
	for (unsigned i = 0; options && options[i] && n < 15; i++)
		all[n++] = options[i];
	take_first();
	being_started = s;
	err = daemon_start_prepared(&s->d, all, prepare);
	if (*s->folder)
		strcpy(s->d.socket, socket);
	return err;
}

static void read_file(const char *path, char *ret, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(ret, 1, size - 1, f) : 0;

	ret[n] = '\0';
	if (f)
		fclose(f);
}

static void exec_quoitd(const struct service *s, const char *const *options, const char *log)
{
	const char *build = getenv("QUOIT_BUILD");
	char path[256], socket[sizeof s->d.socket + 16];
	const char *argv[16] = {path, "--private", socket};
	unsigned n = 3;

	snprintf(path, sizeof path, "%s/quoitd", build ? build : "build");
	snprintf(socket, sizeof socket, "--socket=%s", s->d.socket);
	for (unsigned i = 0; options && options[i] && n < 15; i++)
		argv[n++] = options[i];
	(void)dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
	pass(s->listener);
	execv(path, (char **)(uintptr_t)argv);
	_exit(127);
}

int service_fail(struct service *s, const char *const *options, char *ret_log, size_t size)
{
	char log[] = "/tmp/quoit-service-log-XXXXXX";
	int fd = mkstemp(log), status = -1;
	pid_t pid;

	cr_assert_geq(fd, 0);
	close(fd);
	fflush(NULL);
	pid = fork();
	if (!pid)
		exec_quoitd(s, options, log);
	for (int i = 0; i < PATIENCE / 10 && waitpid(pid, &status, WNOHANG) != pid; i++)
		usleep(10000);
	read_file(log, ret_log, size);
	(void)unlink(log);
	if (status == -1) {
		kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void close_notify(struct service *s)
{
	if (s->notify >= 0)
		close(s->notify);
	s->notify = -1;
}

void service_done(struct service *s)
{
	for (int i = 0; i < 2; i++)
		if (s->listener[i] >= 0)
			close(s->listener[i]);
	close_notify(s);
	if (!*s->folder)
		return;
	(void)unlink(s->d.socket);
	(void)strcpy(strrchr(s->d.socket, '/'), "/lock");
	(void)unlink(s->d.socket);
	cr_expect_eq(rmdir(s->folder), 0, "%s: %s", s->folder, strerror(errno));
}

void service_stop(struct service *s)
{
	/* Nobody reads these messages any more; quoitd would wait for a reader while it is open. */
	close_notify(s);
	daemon_stop(&s->d);
	service_done(s);
}

/* ---- its messages ---- */

/* Read its last message; false: there is none until then. */
static bool hear(struct service *s, double until_ms)
{
	double now = clock_ms();
	struct pollfd fd = {.fd = s->notify, .events = POLLIN};
	ssize_t n;

	if (poll(&fd, 1, now < until_ms ? (int)(until_ms - now) : 0) <= 0)
		return false;
	n = recv(s->notify, s->said, sizeof s->said - 1, MSG_DONTWAIT);
	if (n < 0)
		return false;
	s->said[n] = '\0';
	return true;
}

bool service_hears_in(struct service *s, const char *words, unsigned ms)
{
	double until = clock_ms() + ms;
	bool any = false;

	while (hear(s, until))
		any |= strstr(s->said, words) != NULL;
	return any;
}

bool service_hears(struct service *s, const char *words)
{
	double until = clock_ms() + PATIENCE;

	while (hear(s, until))
		if (strstr(s->said, words))
			return true;
	return false;
}
