/* SPDX-License-Identifier: MIT */
/* service_manager.c - takes systemd's socket, and sends it notifications */
#include "service_manager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "base/log.h"

#define STATUS_NS    UINT64_C(1000000000)
#define STATUS_BYTES 512

/* ---- the socket ---- */

/* Check that clients can connect to it, and get its path.  -errno after a log line. */
static int look_at_socket(int fd, const char *name, char ret_path[QUOIT_SOCKET_BYTES])
{
	struct sockaddr_un addr;
	socklen_t length = sizeof addr;
	size_t bytes;
	int is = sd_is_socket_unix(fd, SOCK_SEQPACKET, 1, NULL, 0);

	if (is <= 0 || getsockname(fd, (struct sockaddr *)&addr, &length) < 0) {
		log_error("systemd passed '%s': expected a listening socket of "
			  "ListenSequentialPacket=",
			  name);
		return -EINVAL;
	}
	bytes = length - offsetof(struct sockaddr_un, sun_path);
	if (!bytes || !addr.sun_path[0]) {
		log_error("systemd passed '%s', a socket without a path: quoitd needs one, to put "
			  "its counter files beside it",
			  name);
		return -EINVAL;
	}
	snprintf(ret_path, QUOIT_SOCKET_BYTES, "%.*s", (int)bytes, addr.sun_path);
	return 0;
}

bool service_manager_pass_socket(struct config *config, const char *path)
{
	char where[CONFIG_WHERE_BYTES];

	if (config_pass_socket(config, path))
		return true;
	log_error("systemd listens on %s, but %s says socket: %s", path,
		  config_where(config, "socket", 0, where), config->socket);
	return false;
}

static int take(struct config *config, int fd, const char *name)
{
	char path[QUOIT_SOCKET_BYTES];
	int err = look_at_socket(fd, name, path);

	if (err < 0)
		return err;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	return service_manager_pass_socket(config, path) ? fd : -EINVAL;
}

static void free_names(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}

int service_manager_take_socket(struct config *config)
{
	char **names = NULL;
	int n = sd_listen_fds_with_names(1, &names), err = -ENOENT;

	if (n < 0) {
		err = n;
		log_error("cannot take the socket that systemd passed: %s", strerror(-n));
	} else if (n > 1) {
		err = -EINVAL;
		log_error("systemd passed %d sockets, '%s' the second: quoitd listens on one only",
			  n, names[1]);
	} else if (n == 1) {
		err = take(config, SD_LISTEN_FDS_START, names[0]);
	}
	free_names(names);
	return err;
}

/* ---- notifications ---- */

static void notify(const char *text)
{
	int err = sd_notify(0, text);

	if (err < 0)
		log_warning("cannot notify systemd: %s", strerror(-err));
}

static uint32_t count_sessions(const struct control *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->reactor_count; i++)
		n += c->sessions_of[i];
	return n;
}

/* "2 reactors on CPUs 0, 4; 3 sessions": as many CPUs as fit. */
static void describe(const struct control *c, uint32_t sessions, char ret[STATUS_BYTES])
{
	uint32_t n = c->reactor_count;
	int at = snprintf(ret, STATUS_BYTES, "%u reactor%s on CPU%s", n, n == 1 ? "" : "s",
			  n == 1 ? "" : "s");

	for (uint32_t i = 0; i < n && at < STATUS_BYTES - 64; i++)
		at += snprintf(ret + at, STATUS_BYTES - (size_t)at, "%s %u", i ? "," : "",
			       c->reactors[i].cpu);
	snprintf(ret + at, STATUS_BYTES - (size_t)at, "; %u session%s", sessions,
		 sessions == 1 ? "" : "s");
}

static void say(struct control *c, const char *state)
{
	char text[STATUS_BYTES], message[STATUS_BYTES + 64];

	c->status_sessions = count_sessions(c);
	c->status_from_ns = totals_now_ns() + STATUS_NS;
	describe(c, c->status_sessions, text);
	snprintf(message, sizeof message, "%sSTATUS=%s", state, text);
	notify(message);
}

void service_manager_say_ready(struct control *c)
{
	say(c, "READY=1\n");
}

bool service_manager_has_news(const struct control *c)
{
	return count_sessions(c) != c->status_sessions;
}

void service_manager_say_status(struct control *c)
{
	if (service_manager_has_news(c) && totals_now_ns() >= c->status_from_ns)
		say(c, "");
}

void service_manager_say_stopping(uint64_t most_ns)
{
	char text[128];

	snprintf(text, sizeof text,
		 "STOPPING=1\nSTATUS=Ending: no new jobs\nEXTEND_TIMEOUT_USEC=%llu",
		 (unsigned long long)(most_ns / 1000));
	notify(text);
}

uint64_t service_manager_watchdog_ns(void)
{
	uint64_t usec;

	return sd_watchdog_enabled(0, &usec) > 0 ? usec * 1000 : 0;
}

void service_manager_feed_watchdog(void)
{
	(void)sd_notify(0, "WATCHDOG=1");
}

void service_manager_say_reloading(void)
{
	char text[96];
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%llu",
		 (unsigned long long)now.tv_sec * 1000000u +
			 (unsigned long long)now.tv_nsec / 1000u);
	notify(text);
}

void service_manager_say_reloaded(struct control *c)
{
	say(c, "READY=1\n");
}
