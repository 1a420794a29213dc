/* SPDX-License-Identifier: MIT */
/* users.c - run a quoitd for all users, and clients of other users */
#include "users.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <quoit.h>

#include "tool.h"

#define MOST_OPTIONS 8

static void log_to_file(const struct daemon *d)
{
	if (daemon_log_to_file(d) < 0)
		_exit(1);
}

void users_start(struct daemon *d, const char *const *options)
{
	const char *all[MOST_OPTIONS + 1] = {"--private=no", "--log=info"};

	if (geteuid() != 0)
		cr_skip("only root can be other users");
	for (unsigned i = 0; options && options[i] && i + 3 <= MOST_OPTIONS; i++)
		all[i + 2] = options[i];
	cr_assert_eq(daemon_start_prepared(d, all, log_to_file), 0);
	cr_assert_eq(chmod(d->folder, 0755), 0);
}

static bool become(uid_t uid, gid_t gid, const gid_t *groups, size_t count)
{
	return setgroups(count, groups) == 0 && setresgid(gid, gid, gid) == 0 &&
	       setresuid(uid, uid, uid) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

int users_run(uid_t uid, gid_t gid, char *ret_said, size_t size, const char *const *words)
{
	char path[256];
	size_t used = 0;
	int says[2], status, program;
	ssize_t n;
	pid_t pid;

	snprintf(path, sizeof path, "%s/quoit", tool_folder());
	/* opened now: another user may not reach it later */
	program = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(program >= 0 && pipe2(says, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		if (!become(uid, gid, NULL, 0) || dup2(says[1], STDOUT_FILENO) < 0 ||
		    dup2(says[1], STDERR_FILENO) < 0)
			_exit(126);
		fexecve(program, (char *const *)words, environ);
		_exit(127);
	}
	close(says[1]);
	while ((n = read(says[0], ret_said + used, size - 1 - used)) > 0)
		used += (size_t)n;
	ret_said[used] = '\0';
	close(says[0]);
	close(program);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool users_reads(const char *path, uid_t uid, gid_t gid)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!become(uid, gid, NULL, 0))
			_exit(126);
		_exit(open(path, O_RDONLY | O_CLOEXEC) < 0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
	return !WEXITSTATUS(status);
}

/* Open as many sessions as it gets; none is closed before it ends. */
static uint8_t open_sessions(const struct daemon *d, uint8_t most)
{
	struct quoit_open_params p = {.socket = d->socket, .host_bytes = UINT64_C(4) << 20};
	struct quoit_session *s;
	uint8_t n = 0;

	while (n < most && quoit_open(&p, &s) == 0)
		n++;
	return n;
}

pid_t users_open_many(const struct daemon *d, uid_t uid, gid_t group, uint8_t most,
		      uint8_t *ret_count)
{
	int ready[2];
	pid_t pid;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		uint8_t n = become(uid, uid, &group, 1) ? open_sessions(d, most) : 0;

		if (write(ready[1], &n, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], ret_count, 1), 1);
	close(ready[0]);
	return pid;
}

pid_t users_open(const struct daemon *d, uid_t uid, gid_t group)
{
	uint8_t count;
	pid_t pid = users_open_many(d, uid, group, 1, &count);

	cr_expect_eq(count, 1, "no session of uid %u", uid);
	return pid;
}

void users_close(pid_t pid)
{
	cr_expect_eq(kill(pid, SIGKILL), 0);
	cr_expect_eq(waitpid(pid, NULL, 0), pid);
}
