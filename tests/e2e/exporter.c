/* SPDX-License-Identifier: MIT */
/* exporter.c - run `quoit exporter` for a test */
#include "exporter.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tool.h"

#define MOST_OPTIONS 8
#define PATIENCE_MS  60000 /* an exporter under a sanitizer needs less, even on a busy machine */

static void become_exporter(const char *socket, const char *const *options, const char *errors,
			    int out)
{
	char path[256], option[128];
	char *argv[MOST_OPTIONS + 5] = {path, "exporter", "--listen=127.0.0.1:0", option};
	int fd = errors ? open(errors, O_WRONLY | O_CREAT | O_APPEND, 0600) : STDERR_FILENO;

	snprintf(path, sizeof path, "%s/quoit", tool_folder());
	snprintf(option, sizeof option, "--socket=%s", socket);
	for (unsigned i = 0; options && options[i] && i < MOST_OPTIONS; i++)
		argv[i + 4] = (char *)(size_t)options[i];
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0)
		execv(path, argv);
	_exit(127);
}

void exporter_start(struct exporter *e, const char *socket, const char *const *options,
		    const char *errors)
{
	char line[128] = "";
	int out[2];
	struct pollfd says;
	FILE *from;

	cr_assert_eq(pipe2(out, O_CLOEXEC), 0);
	fflush(NULL);
	e->pid = fork();
	cr_assert_geq(e->pid, 0);
	if (e->pid == 0)
		become_exporter(socket, options, errors, out[1]);
	close(out[1]);
	says = (struct pollfd){.fd = out[0], .events = POLLIN};
	cr_assert_eq(poll(&says, 1, PATIENCE_MS), 1, "it says nothing");
	from = fdopen(out[0], "r");
	cr_assert(from && fgets(line, sizeof line, from), "it says where it listens");
	cr_assert_eq(sscanf(line, "listening on http://127.0.0.1:%u/metrics", &e->port), 1, "%s",
		     line);
	fclose(from);
}

void exporter_stop(struct exporter *e)
{
	int status = -1;

	kill(e->pid, SIGTERM);
	cr_assert_eq(waitpid(e->pid, &status, 0), e->pid);
	cr_expect_eq(status, 0, "wait status %#x", (unsigned)status);
}

void exporter_metrics(const struct exporter *e, const char *accept, struct http_answer *ret)
{
	http_get(e->port, "/metrics", accept, ret);
	cr_assert_eq(ret->status, 200, "%d: %s", ret->status, ret->body);
}

double exporter_value(const char *text, const char *sample)
{
	size_t n = strlen(sample);

	for (const char *at = text; (at = strstr(at, sample)); at++)
		if ((at == text || at[-1] == '\n') && at[n] == ' ')
			return strtod(at + n, NULL);
	return -1;
}
