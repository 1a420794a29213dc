/* SPDX-License-Identifier: MIT */
/* tool.c - run the quoit command as a user does */
#include "tool.h"

#include <stdarg.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define PATIENCE_MS 60000

const char *tool_folder(void)
{
	const char *folder = getenv("QUOIT_BUILD");

	return folder ? folder : "build";
}

int tool_run(char *ret_said, size_t size, const char *format, ...)
{
	char arguments[512], line[1024];
	va_list args;
	size_t n;
	FILE *from;
	int status;

	va_start(args, format);
	vsnprintf(arguments, sizeof arguments, format, args);
	va_end(args);
	snprintf(line, sizeof line, "exec %s/quoit %s 2>&1", tool_folder(), arguments);
	from = popen(line, "r");
	cr_assert(from);
	n = fread(ret_said, 1, size - 1, from);
	ret_said[n] = '\0';
	status = pclose(from);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Read its output until all writers have closed it; false: that takes too long. */
static bool read_all(int from, char *ret_said, size_t size)
{
	struct pollfd fd = {.fd = from, .events = POLLIN};
	size_t used = 0;
	ssize_t n = 1;
	time_t end = time(NULL) + PATIENCE_MS / 1000;

	while (n > 0 && time(NULL) < end) {
		if (poll(&fd, 1, 100) != 1)
			continue;
		n = read(from, ret_said + used, size - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	ret_said[used] = '\0';
	return n <= 0;
}

int tool_run_prepared(char *ret_said, size_t size, tool_prepare_fn *prepare,
		      const char *const *words)
{
	int says[2], status = -1;
	char path[512];
	pid_t pid;

	snprintf(path, sizeof path, "%s/quoit", tool_folder());
	cr_assert_eq(pipe(says), 0);
	pid = fork();
	if (pid == 0) {
		(void)setpgid(0, 0);
		dup2(says[1], STDOUT_FILENO);
		dup2(says[1], STDERR_FILENO);
		close(says[0]);
		close(says[1]);
		prepare();
		execv(path, (char *const *)(uintptr_t)words);
		_exit(127);
	}
	close(says[1]);
	if (!read_all(says[0], ret_said, size))
		kill(-pid, SIGKILL);
	close(says[0]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
