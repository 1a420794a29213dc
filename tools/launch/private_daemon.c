/* SPDX-License-Identifier: MIT */
/* private_daemon.c - run a quoitd of our own that ends when we do */
#include "private_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/descriptors.h>
#include <quoit/service_manager.h>
#include <quoit/stats.h>

#define MOST_OPTIONS 64
#define SOCKET_NAME  "/quoitd.sock"
#define CANNOT_EXEC  127

/*
 * Far longer than quoitd needs to start, even with a device whose driver is used for the first time
 * (up to its --start-ms), or to end, even with a sanitizer.  After this time it hangs.
 */
#define START_PATIENCE_MS 90000
#define END_PATIENCE_MS   30000

/* If the kernel cannot signal a process's end (no pidfd), the keeper checks this often. */
#define LOOK_MS 50

bool private_daemon_beside(const char *name, char ret[static PATH_MAX])
{
	static const char *const places[] = {"", "../libexec/quoit/"};
	const char *started_as = (const char *)getauxval(AT_EXECFN); /* if there is no /proc */
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *folder;

	if (n > 0)
		self[n] = '\0';
	else if (!started_as || !realpath(started_as, self))
		return false;
	folder = dirname(self);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		int length = snprintf(ret, PATH_MAX, "%s/%s%s", folder, places[i], name);

		if (length < PATH_MAX && access(ret, R_OK) == 0)
			return true;
	}
	return false;
}

/* ---- the directory ---- */

/* A place for the directory: the value of a variable, or a folder that always exists. */
struct place {
	const char *variable, *folder;
	int err;
};

static int make_below(const char *below, char ret[QUOIT_SOCKET_BYTES])
{
	size_t room = QUOIT_SOCKET_BYTES - strlen(SOCKET_NAME);
	int n = snprintf(ret, room, "%s/quoit-run.XXXXXX", below);

	if (n < 0 || (size_t)n >= room)
		return -ENAMETOOLONG;
	return mkdtemp(ret) ? 0 : -errno;
}

static void say_no_place(const struct place *places, size_t count)
{
	fprintf(stderr, "quoit: cannot make a folder for a private quoitd:");
	for (size_t i = 0; i < count; i++)
		if (places[i].folder)
			fprintf(stderr, " %s%s%s: %s;", places[i].variable,
				*places[i].variable ? "=" : "", places[i].folder,
				places[i].err == -ENAMETOOLONG ? "too long for a socket's path"
							       : strerror(-places[i].err));
	fprintf(stderr, " set TMPDIR to a folder where files can be made\n");
}

/*
 * In a batch job the first variable may be the value of another machine, or of the user that
 * submitted it.  Cleaners leave the folder alone, wherever it is: quoitd keeps it locked.
 */
static int make_directory(char ret[QUOIT_SOCKET_BYTES])
{
	struct place places[] = {{"XDG_RUNTIME_DIR", getenv("XDG_RUNTIME_DIR"), 0},
				 {"TMPDIR", getenv("TMPDIR"), 0},
				 {"", "/tmp", 0}};
	size_t count = sizeof places / sizeof places[0];

	for (size_t i = 0; i < count; i++) {
		if (!places[i].folder || !*places[i].folder) {
			places[i].folder = NULL;
			continue;
		}
		places[i].err = make_below(places[i].folder, ret);
		if (!places[i].err)
			return 0;
	}
	say_no_place(places, count);
	return -ENOENT;
}

static void remove_files(int directory)
{
	DIR *dir = directory < 0 ? NULL : fdopendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			(void)unlinkat(directory, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (directory >= 0)
		close(directory);
}

/* quoitd removes its files at its end; files are left only if it was killed. */
static void remove_directory(const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int directory = open(path, flags);

	if (directory >= 0) {
		remove_files(openat(directory, QUOIT_STATS_SESSIONS, flags));
		(void)unlinkat(directory, QUOIT_STATS_SESSIONS, AT_REMOVEDIR);
		(void)unlinkat(directory, QUOIT_STATS_PRIVATE, AT_REMOVEDIR);
	}
	remove_files(directory);
	(void)rmdir(path);
}

/* ---- quoitd ---- */

/* `more` are our own options, which override the others. */
static void exec_daemon(const char *const *options, const char *const *more)
{
	const char *argv[MOST_OPTIONS + 6] = {"quoitd", "--log=warning"};
	char path[PATH_MAX];
	unsigned n = 2;

	for (; *options && n < MOST_OPTIONS; options++)
		argv[n++] = *options;
	while (*more)
		argv[n++] = *more++;
	argv[n] = NULL;
	if (private_daemon_beside("quoitd", path))
		execv(path, (char *const *)argv);
	else
		execvp("quoitd", (char *const *)argv);
	fprintf(stderr, "quoit: cannot run quoitd: %s\n", strerror(errno));
}

void private_daemon_check(const char *const *options)
{
	static const char *const more[] = {"--private", NULL};

	exec_daemon(options, more);
}

static void become_daemon(const char *socket, const char *const *options, int ready_fd,
			  pid_t keeper)
{
	char socket_option[QUOIT_SOCKET_BYTES + 16], ready_option[32];
	const char *const more[] = {"--private", socket_option, ready_option, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	snprintf(socket_option, sizeof socket_option, "--socket=%s", socket);
	snprintf(ready_option, sizeof ready_option, "--ready-fd=%d", ready_fd);

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != keeper || null < 0)
		_exit(CANNOT_EXEC);
	quoit_service_manager_leave(environ); /* the program's service manager is not quoitd's */
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	(void)fcntl(ready_fd, F_SETFD, 0);
	exec_daemon(options, more);
	_exit(CANNOT_EXEC);
}

/* ---- the keeper ---- */

/*
 * If we kept the other end of a lifeline open, another keeper's or our own, that lifeline would
 * never end.
 */
static void close_all_but(int a, int b)
{
	unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

	quoit_descriptors_close(STDERR_FILENO + 1, low - 1);
	quoit_descriptors_close(low + 1, high - 1);
	quoit_descriptors_close(high + 1, ~0u);
}

static bool has_ended(pid_t daemon)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)daemon, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid;
}

/*
 * Wait until quoitd has ended, the lifeline has (negative: none), or the time is over (negative: no
 * limit).
 */
static void await(pid_t daemon, int pidfd, int lifeline, int most_ms)
{
	/* poll() ignores negative descriptors. */
	struct pollfd fds[] = {{.fd = lifeline, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
	uint64_t end = runtime_now_ns() + (uint64_t)(most_ms < 0 ? 0 : most_ms) * 1000000;

	while (!has_ended(daemon) && !fds[0].revents && (most_ms < 0 || runtime_now_ns() < end))
		(void)poll(fds, 2, most_ms < 0 && pidfd >= 0 ? -1 : LOOK_MS);
}

/*
 * Wait until quoitd has ended, or our parent wants it to end; then ask it to end, and at last kill
 * it.
 */
static void await_end(pid_t daemon, int lifeline)
{
	int pidfd = (int)syscall(SYS_pidfd_open, daemon, 0);

	await(daemon, pidfd, lifeline, -1);
	(void)kill(daemon, SIGTERM);
	await(daemon, pidfd, -1, END_PATIENCE_MS);
	(void)kill(daemon, SIGKILL); /* its PID cannot have been reused: it is not reaped yet */
}

static void keep(const char *directory, const char *socket, const char *const *options,
		 int lifeline, int ready_fd)
{
	pid_t self, daemon;
	sigset_t all;
	int status = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_all_but(lifeline, ready_fd);
	/*
	 * A session of its own: Ctrl-C is for the program, not for its daemon.  And the scheduler
	 * makes a group for it where there are no control groups, which gets as much CPU time as
	 * ours.
	 */
	(void)setsid();
	(void)prctl(PR_SET_NAME, "quoit-keeper");
	self = getpid();
	daemon = fork();
	if (daemon == 0)
		become_daemon(socket, options, ready_fd, self);
	close(ready_fd);
	if (daemon > 0) {
		await_end(daemon, lifeline);
		while (waitpid(daemon, &status, 0) < 0 && errno == EINTR)
			;
	}
	remove_directory(directory);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ---- start and stop ---- */

static int fork_keeper(struct private_daemon *d, const char *directory, const char *const *options,
		       int *ret_ready)
{
	int lifeline[2], ready[2];

	if (pipe2(lifeline, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(ready, O_CLOEXEC) < 0) {
		close(lifeline[0]);
		close(lifeline[1]);
		return -ENFILE;
	}
	d->keeper = fork();
	if (d->keeper == 0)
		keep(directory, d->socket, options, lifeline[0], ready[1]);
	close(lifeline[0]);
	close(ready[1]);
	d->lifeline = lifeline[1];
	*ret_ready = ready[0];
	return d->keeper < 0 ? -EAGAIN : 0;
}

static int await_ready(int ready)
{
	struct pollfd fd = {.fd = ready, .events = POLLIN};
	uint64_t end = runtime_now_ns() / 1000000 + START_PATIENCE_MS, now;
	char byte;
	ssize_t n = -1;
	int came = 0;

	do {
		now = runtime_now_ns() / 1000000;
		came = poll(&fd, 1, now < end ? (int)(end - now) : 0);
	} while (came < 0 && errno == EINTR);
	if (came > 0)
		n = read(ready, &byte, 1);
	close(ready);
	return n == 1 ? 0 : came == 0 ? -ETIMEDOUT : -ECHILD;
}

int private_daemon_start(struct private_daemon *ret, const char *const *options)
{
	char directory[QUOIT_SOCKET_BYTES];
	int ready = -1, err = make_directory(directory);

	if (err < 0)
		return err;
	snprintf(ret->socket, sizeof ret->socket, "%.*s" SOCKET_NAME,
		 (int)(sizeof ret->socket - sizeof SOCKET_NAME), directory);
	err = fork_keeper(ret, directory, options, &ready);
	if (err < 0) {
		fprintf(stderr, "quoit: cannot start a private quoitd: %s\n", strerror(-err));
		remove_directory(directory);
		return err;
	}
	err = await_ready(ready);
	if (err < 0) {
		if (err == -ETIMEDOUT)
			fprintf(stderr, "quoit: the private quoitd was not ready within %d s\n",
				START_PATIENCE_MS / 1000);
		private_daemon_stop(ret);
		if (err != -ETIMEDOUT)
			fprintf(stderr, "quoit: the private quoitd did not start\n");
	}
	return err;
}

void private_daemon_stop(struct private_daemon *d)
{
	close(d->lifeline);
	while (d->keeper > 0 && waitpid(d->keeper, NULL, 0) < 0 && errno == EINTR)
		;
}
