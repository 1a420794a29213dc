/* SPDX-License-Identifier: MIT */
/* daemon.c - start and stop a private quoitd */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/stats.h>

#define MAX_OPTIONS 24

/* A clean end under a sanitizer takes less. */
#define STOP_SECONDS 20

/*
 * To load and time the others takes more than the rest of a start; tests of products ask for them
 * (--blas=auto).
 */
#define NO_BLAS "--blas=built-in"

/* Time for a logged line to reach the file. */
#define LOG_SECONDS 5

static void run_daemon(const struct daemon *d, int ready, const char *const *options,
		       daemon_prepare_fn *prepare)
{
	const char *build = getenv("QUOIT_BUILD");
	char path[256], socket[128], ready_fd[32];
	char *argv[MAX_OPTIONS + 7] = {path,   "--private", "--log=warning",
				       socket, ready_fd,    NO_BLAS};
	unsigned n = 6;
	int program;

	snprintf(path, sizeof path, "%s/quoitd", build ? build : "build");
	snprintf(socket, sizeof socket, "--socket=%s", d->socket);
	snprintf(ready_fd, sizeof ready_fd, "--ready-fd=%d", ready);
	for (unsigned i = 0; options && options[i] && i < MAX_OPTIONS; i++)
		argv[n++] = (char *)options[i];
	/* opened now: another user may not open it later */
	program = open(path, O_RDONLY | O_CLOEXEC);
	if (prepare)
		prepare(d);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	fexecve(program, argv, environ);
	fprintf(stderr, "cannot run %s: %s\n", path, strerror(errno));
	_exit(127);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_folder(const struct daemon *d)
{
	(void)nftw(d->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

int daemon_start(struct daemon *d, const char *const *options)
{
	return daemon_start_prepared(d, options, NULL);
}

/* Start quoitd in the folder of d. */
static int start(struct daemon *d, const char *const *options, daemon_prepare_fn *prepare)
{
	int ready[2];
	ssize_t n;
	char byte;

	d->pid = -1;
	if (pipe2(ready, O_CLOEXEC) < 0)
		return -errno;
	fflush(NULL);
	d->pid = fork();
	if (d->pid == 0) {
		(void)fcntl(ready[1], F_SETFD, 0);
		run_daemon(d, ready[1], options, prepare);
	}
	close(ready[1]);
	n = d->pid < 0 ? -1 : read(ready[0], &byte, 1);
	close(ready[0]);
	if (n == 1)
		return 0;
	if (d->pid > 0)
		daemon_kill(d);
	return -ECHILD;
}

int daemon_start_again(struct daemon *d, const char *const *options)
{
	return start(d, options, NULL);
}

int daemon_start_prepared(struct daemon *d, const char *const *options, daemon_prepare_fn *prepare)
{
	int err;

	*d = (struct daemon){.pid = -1, .folder = "/tmp/quoit-e2e-XXXXXX"};
	if (!mkdtemp(d->folder))
		return -errno;
	snprintf(d->socket, sizeof d->socket, "%s/quoitd.sock", d->folder);
	err = start(d, options, prepare);
	if (err)
		remove_folder(d);
	return err;
}

static void log_path(const struct daemon *d, char *path, size_t size)
{
	snprintf(path, size, "%s/log", d->folder);
}

int daemon_log_to_file(const struct daemon *d)
{
	char path[128];
	int log;

	log_path(d, path, sizeof path);
	log = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	return log < 0 || dup2(log, STDERR_FILENO) < 0 ? -errno : 0;
}

static unsigned count_lines(const char *path, const char *words)
{
	char line[512];
	unsigned n = 0;
	FILE *log = fopen(path, "re");

	while (log && fgets(line, sizeof line, log))
		n += strstr(line, words) != NULL;
	if (log)
		fclose(log);
	return n;
}

unsigned daemon_log_count(const struct daemon *d, const char *words, unsigned expected)
{
	char path[128];
	unsigned n;

	log_path(d, path, sizeof path);
	n = count_lines(path, words);
	for (int i = 0; n != expected && i < LOG_SECONDS * 100; i++) {
		usleep(10000);
		n = count_lines(path, words);
	}
	return n;
}

/* Map a counter file; the caller unmaps it; NULL: that failed. */
static const void *map(const struct daemon *d, const char *name, size_t bytes)
{
	char path[sizeof d->folder + 64];
	void *file;
	int fd;

	snprintf(path, sizeof path, "%s/%s", d->folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	file = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return file == MAP_FAILED ? NULL : file;
}

void daemon_topology(const struct daemon *d, char *text, size_t size)
{
	char path[PATH_MAX];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", d->folder, QUOIT_STATS_TOPOLOGY);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, size - 1, f);
		fclose(f);
	}
	text[n] = '\0';
}

const struct quoit_totals *daemon_totals(const struct daemon *d)
{
	return map(d, QUOIT_STATS_TOTALS, sizeof(struct quoit_totals));
}

void daemon_totals_unmap(const struct quoit_totals *t)
{
	munmap((void *)(uintptr_t)t, sizeof *t);
}

uint64_t daemon_session_counter(const struct daemon *d, uint64_t session, unsigned counter)
{
	const struct quoit_session_stats *stats;
	uint64_t value;
	char name[48];

	snprintf(name, sizeof name, QUOIT_STATS_SESSION, (unsigned long long)session);
	stats = map(d, name, sizeof *stats);
	if (!stats)
		return UINT64_MAX;
	value = __atomic_load_n(&stats->value[counter], __ATOMIC_RELAXED);
	munmap((void *)(uintptr_t)stats, sizeof *stats);
	return value;
}

void daemon_kill(struct daemon *d)
{
	if (d->pid <= 0)
		return;
	kill(d->pid, SIGKILL);
	(void)waitpid(d->pid, NULL, 0);
	d->pid = -1;
}

/* The exit status; -1: it does not end. */
static int wait_for_end(pid_t pid)
{
	int status;

	for (int i = 0; i < STOP_SECONDS * 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	return -1;
}

void daemon_stop(struct daemon *d)
{
	int status = 0;

	if (d->pid > 0) {
		kill(d->pid, SIGTERM);
		status = wait_for_end(d->pid);
		if (status == -1)
			daemon_kill(d);
	}
	d->pid = -1;
	remove_folder(d);
	if (status) {
		fprintf(stderr, "quoitd did not end well: wait status %#x\n", (unsigned)status);
		abort();
	}
}
