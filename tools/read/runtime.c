/* SPDX-License-Identifier: MIT */
/* runtime.c - find quoitd's directory beside its socket, and find out whether quoitd lives */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "daemon_state.h"
#include "process.h"

bool runtime_find_socket(const char *command, const char *given, char ret[QUOIT_SOCKET_BYTES])
{
	const char *named = given ? given : secure_getenv("QUOIT_SOCKET");

	if (quoit_socket_path(given, false, ret) == 0)
		return true;
	fprintf(stderr, "quoit %s: the socket's path '%s' is %s; allowed are 1 to %d characters\n",
		command, named ? named : "", named && *named ? "too long" : "empty",
		QUOIT_SOCKET_BYTES - 1);
	return false;
}

int runtime_open_directory(const char *socket)
{
	char copy[QUOIT_SOCKET_BYTES];
	int fd;

	snprintf(copy, sizeof copy, "%s", socket);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int runtime_show(const char *command, const char *given, runtime_show_fn *show, void *arg)
{
	char socket[QUOIT_SOCKET_BYTES];
	int status = quoit_socket_path(given, false, socket), directory = -1;

	if (!status)
		status = directory = runtime_open_directory(socket);
	if (status >= 0) {
		status = show(directory, socket, arg);
		close(directory);
	}
	return status >= 0 ? status : daemon_state_refuse(command, socket, status);
}

int runtime_connect(const char *path, unsigned timeout_ms)
{
	struct timeval timeout = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* quoitd holds a lock on its totals until its process ends; later another process may hold it. */
static bool totals_are_locked(int directory)
{
	int fd = openat(directory, QUOIT_STATS_TOTALS,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return locked;
}

bool runtime_daemon_lives(int directory, const struct counters_origin *origin)
{
	if (!process_is_here(origin->pid_namespace))
		return totals_are_locked(directory);
	return process_lives(origin->daemon_pid, origin->started_ns);
}

double runtime_silence_s(const struct counters_totals *t, unsigned *ret_reactor)
{
	uint64_t now = runtime_now_ns();
	double most = 0;

	*ret_reactor = 0;
	for (unsigned i = 0; i < t->reactors; i++) {
		const struct counter *alive = &t->reactor[i].value[QUOIT_REACTOR_ALIVE];
		/* quoitd may have been stopped before it wrote any counters. */
		uint64_t told = alive->value ? alive->value : t->origin.started_ns;
		double silent = alive->known && told < now ? (double)(now - told) / 1e9 : 0;

		if (silent > most) {
			most = silent;
			*ret_reactor = i;
		}
	}
	return most;
}

uint64_t runtime_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double runtime_tick_s(const char *socket)
{
	struct counters_totals *t = malloc(sizeof *t);
	int directory = runtime_open_directory(socket);
	uint64_t hz = 0;

	if (t && directory >= 0 && counters_read_totals(directory, t) == 0)
		hz = t->origin.tsc_hz;
	if (directory >= 0)
		close(directory);
	free(t);
	return hz ? 1.0 / (double)hz : 0;
}
