/* SPDX-License-Identifier: MIT */
/* daemon_state.c - find out whether a quoitd is there and moves, and say so if it does not */
#include "daemon_state.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quoit/abi.h>
#include <quoit/socket.h>

#include "runtime.h"

#define LISTENING 0x10000u /* __SO_ACCEPTCON */

const char *daemon_state_word(enum daemon_state state)
{
	static const char *const words[DAEMON_STATES] = {[DAEMON_UP] = "up",
							 [DAEMON_SILENT] = "silent",
							 [DAEMON_DEAD] = "dead",
							 [DAEMON_WAITING] = "waiting",
							 [DAEMON_ABSENT] = "absent"};

	return words[state];
}

/* ---- listeners ---- */

/*
 * A line of /proc/net/unix: "address: references protocol flags type state inode path".  Any user
 * may bind any path, so paths are compared as text and not looked up.
 */
static bool is_listener(const char *line, const char *const *paths)
{
	unsigned flags;
	int at = 0;

	if (sscanf(line, "%*s %*x %*x %x %*x %*x %*u %n", &flags, &at) != 1 || !at ||
	    !(flags & LISTENING))
		return false;
	for (; *paths; paths++)
		if (!strncmp(line + at, *paths, strlen(*paths)) &&
		    !strcmp(line + at + strlen(*paths), "\n"))
			return true;
	return false;
}

bool daemon_state_is_listened_to(const char *socket)
{
	char whole[PATH_MAX], line[PATH_MAX + 128];
	const char *const paths[] = {socket, realpath(socket, whole) ? whole : NULL, NULL};
	bool found = false;
	struct stat st;
	FILE *list;

	if (stat(socket, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	list = fopen("/proc/self/net/unix", "re");
	while (list && !found && fgets(line, sizeof line, list))
		found = is_listener(line, paths);
	if (list)
		fclose(list);
	return found;
}

/* ---- the state ---- */

enum daemon_state daemon_state_look(int directory, const char *socket,
				    const struct counters_totals *totals)
{
	unsigned reactor;

	if (!totals)
		return socket && daemon_state_is_listened_to(socket) ? DAEMON_WAITING
								     : DAEMON_ABSENT;
	if (!runtime_daemon_lives(directory, &totals->origin))
		return DAEMON_DEAD;
	return runtime_silence_s(totals, &reactor) >= RUNTIME_SILENT_S ? DAEMON_SILENT : DAEMON_UP;
}

/* ---- versions ---- */

bool daemon_state_version(const struct counters_totals *t, char *ret, size_t size)
{
	struct counter version = t->value[QUOIT_DAEMON_VERSION];
	struct counter abi = t->value[QUOIT_DAEMON_ABI];

	if (!version.known || !abi.known) {
		snprintf(ret, size, "an unknown version");
		return false;
	}
	snprintf(ret, size, "%" PRIu64 ".%" PRIu64 ".%" PRIu64, version.value / 1000000,
		 version.value / 1000 % 1000, version.value % 1000);
	return !strcmp(ret, QUOIT_VERSION) && abi.value == QUOIT_ABI_VERSION;
}

bool daemon_state_differs(const struct counters_totals *t, char *ret, size_t size)
{
	struct counter abi = t->value[QUOIT_DAEMON_ABI];
	char version[64], with[32] = "";

	if (daemon_state_version(t, version, sizeof version))
		return false;
	if (abi.known)
		snprintf(with, sizeof with, " (ABI %" PRIu64 ")", abi.value);
	snprintf(ret, size, "of version %s%s, this tool of " QUOIT_VERSION " (ABI %u)", version,
		 with, QUOIT_ABI_VERSION);
	return true;
}

void daemon_state_compare_versions(const char *command, const struct counters_totals *t)
{
	char words[128];

	if (!daemon_state_differs(t, words, sizeof words))
		return;
	fprintf(stderr,
		"quoit %s: quoitd (PID %" PRIu32 ") is %s: figures may be missing; install both "
		"from one version, and restart quoitd\n",
		command, t->origin.daemon_pid, words);
}

void daemon_state_check_version(const char *command, const char *socket)
{
	struct counters_totals *t = malloc(sizeof *t);
	int directory = runtime_open_directory(socket);

	if (t && directory >= 0 && counters_read_totals(directory, t) == 0)
		daemon_state_compare_versions(command, t);
	if (directory >= 0)
		close(directory);
	free(t);
}

/* ---- messages ---- */

bool daemon_state_warn(const char *command, enum daemon_state state,
		       const struct counters_totals *totals)
{
	unsigned reactor;
	double silent = runtime_silence_s(totals, &reactor);

	daemon_state_compare_versions(command, totals);
	if (state == DAEMON_SILENT)
		fprintf(stderr,
			"quoit %s: quoitd (PID %" PRIu32
			") does not move: reactor %u has reported nothing for %.0f s; these are "
			"its last figures\n",
			command, totals->origin.daemon_pid, reactor, silent);
	else if (state != DAEMON_UP)
		fprintf(stderr,
			"quoit %s: quoitd (PID %" PRIu32 ") is dead; these are its last figures\n",
			command, totals->origin.daemon_pid);
	return state != DAEMON_UP;
}

const char *daemon_state_reason(int err)
{
	switch (err) {
	case -EBADMSG:
		return "the totals file is damaged, or was not written by quoitd";
	case -EPROTONOSUPPORT:
		return "the totals file is of another version of Quoit than this tool, " QUOIT_VERSION
		       "; install both from one version";
	default:
		return strerror(-err);
	}
}

int daemon_state_refuse(const char *command, const char *socket, int err)
{
	const char *why = daemon_state_reason(err);

	if (err == -ENOENT && daemon_state_is_listened_to(socket))
		why = "quoitd has not started yet; the first program that connects to its socket "
		      "starts it";
	else if (err == -ENOENT)
		why = "no quoitd runs there; " QUOIT_SOCKET_START
		      ", or name its socket (--socket, $QUOIT_SOCKET)";
	fprintf(stderr, "quoit %s: no counters of quoitd beside %s: %s\n", command, socket, why);
	return 1;
}
