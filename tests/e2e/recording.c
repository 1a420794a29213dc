/* SPDX-License-Identifier: MIT */
/* recording.c - record this process, and read what the tools make of it */
#include "recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "recorder.h"
#include "tool.h"

#define PATIENCE_MS 60000
#define MOST_TEXT   (4u << 20)

static pid_t run_recorder(const struct daemon *d, const char *path)
{
	char program[256], socket[128], pid[16];
	pid_t recorder;

	snprintf(program, sizeof program, "%s/quoit", tool_folder());
	snprintf(socket, sizeof socket, "--socket=%s", d->socket);
	snprintf(pid, sizeof pid, "%d", getpid());
	recorder = fork();
	cr_assert_geq(recorder, 0);
	if (recorder > 0)
		return recorder;
	(void)dup2(open("/dev/null", O_WRONLY), 2);
	execl(program, "quoit", "trace", "record", "-p", pid, socket, "-o", path, NULL);
	_exit(127);
}

/* Has the process opened a file whose name ends with `end`? */
static bool has_open(pid_t pid, const char *end)
{
	char folder[64], path[64 + sizeof((struct dirent *)NULL)->d_name], target[256];
	const struct dirent *entry;
	bool found = false;
	DIR *all;

	snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
	all = opendir(folder);
	while (all && !found && (entry = readdir(all)) != NULL) {
		ssize_t n;

		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		n = readlink(path, target, sizeof target - 1);
		target[n > 0 ? n : 0] = '\0';
		found = n > (ssize_t)strlen(end) && !strcmp(target + n - strlen(end), end);
	}
	if (all)
		closedir(all);
	return found;
}

struct recording recording_begin(const struct daemon *d, struct quoit_session *s)
{
	struct recording r = {.path = "/tmp/quoit-recording.XXXXXX"};
	char file[48];
	int fd = mkstemp(r.path);

	cr_assert_geq(fd, 0);
	close(fd);
	r.recorder = run_recorder(d, r.path);
	snprintf(file, sizeof file, "/" QUOIT_STATS_TRACE, (unsigned long long)recorder_number(s));
	for (unsigned ms = 0; !has_open(r.recorder, file); ms += 10, usleep(10000))
		cr_assert_lt(ms, PATIENCE_MS, "the recorder has not opened %s", file);
	cr_assert(recorder_has_begun(d, recorder_number(s)));
	return r;
}

void recording_end(struct recording *r)
{
	cr_assert_eq(waitpid(r->recorder, NULL, 0), r->recorder);
}

char *recording_read(const struct recording *r, const char *command, const char *options)
{
	char *text = malloc(MOST_TEXT);

	cr_assert(text);
	cr_expect_eq(tool_run(text, MOST_TEXT, "%s %s %s", command, r->path, options), 0);
	return text;
}

void recording_remove(const struct recording *r)
{
	unlink(r->path);
}

unsigned recording_times(const char *text, const char *words)
{
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}
