/* SPDX-License-Identifier: MIT */
/* server.c - the metrics by HTTP: libmicrohttpd in one thread, ours */
#include "exporter/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "exporter/answer.h"
#include "exporter/microhttpd.h"

/* It accepts a few at a time before it looks at those that were ended. */
#define SPARE  16
#define VISITS (SERVER_CONNECTIONS + SPARE)

/* A connection. */
struct visit {
	int fd; /* -1: nobody's place */
	uint64_t since_ms;
	bool ended;
};

struct server {
	struct collect *collect;
	struct MHD_Daemon *http;
	struct visit visits[VISITS];
	unsigned count; /* of them that are not ended */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- connections ---- */

/* libmicrohttpd sees that nothing can come or go any more, and closes it. */
static void end_visit(struct server *s, struct visit *v)
{
	(void)shutdown(v->fd, SHUT_RDWR);
	v->ended = true;
	s->count--;
}

static struct visit *find_place(struct server *s)
{
	for (unsigned i = 0; i < VISITS; i++)
		if (s->visits[i].fd < 0)
			return &s->visits[i];
	return NULL;
}

static struct visit *find_oldest(struct server *s)
{
	struct visit *oldest = NULL;

	for (unsigned i = 0; i < VISITS; i++) {
		struct visit *v = &s->visits[i];

		if (v->fd >= 0 && !v->ended && (!oldest || v->since_ms < oldest->since_ms))
			oldest = v;
	}
	return oldest;
}

static void come(struct server *s, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct visit *v = find_place(s);

	if (!v || !info)
		return; /* never: there are as many places as the library lets in */
	if (s->count == SERVER_CONNECTIONS)
		end_visit(s, find_oldest(s));
	*v = (struct visit){.fd = info->connect_fd, .since_ms = now_ms()};
	s->count++;
	*context = v;
}

static void come_or_go(void *arg, struct MHD_Connection *connection, void **context,
		       enum MHD_ConnectionNotificationCode what)
{
	struct server *s = arg;
	struct visit *v = *context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		come(s, connection, context);
	} else if (v) {
		s->count -= !v->ended;
		v->fd = -1;
	}
}

/* How long until the next one has been here too long; -1: nobody is here. */
static int end_old_visits(struct server *s)
{
	uint64_t now = now_ms();
	struct visit *v;

	while ((v = find_oldest(s)) && now - v->since_ms >= SERVER_SECONDS * 1000)
		end_visit(s, v);
	return v ? (int)(v->since_ms + SERVER_SECONDS * 1000 - now) : -1;
}

/* ---- the loop ---- */

static int start(struct server *s, int listener)
{
	/* The library closes what it is given. */
	int fd = fcntl(listener, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	s->http = mhd.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer_request, s->collect,
				   MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
				   (unsigned)VISITS, MHD_OPTION_CONNECTION_TIMEOUT,
				   (unsigned)SERVER_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				   (size_t)SERVER_REQUEST, MHD_OPTION_NOTIFY_CONNECTION, come_or_go,
				   s, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (s->http)
		return 0;
	close(fd);
	return -ENOMEM;
}

/* Until when the library wants to be asked, or we: the sooner; -1: not before something comes. */
static int time_left(struct server *s, int visits_ms)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (mhd.get_timeout(s->http, &ms) == MHD_YES && (visits_ms < 0 || ms < (unsigned)visits_ms))
		return (int)ms;
	return visits_ms;
}

static void serve(struct server *s, int stop)
{
	const union MHD_DaemonInfo *info = mhd.get_daemon_info(s->http, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd events[] = {{.fd = info->epoll_fd, .events = POLLIN},
				  {.fd = stop, .events = POLLIN}};

	while (!events[1].revents) {
		(void)poll(events, 2, time_left(s, end_old_visits(s)));
		(void)mhd.run(s->http);
	}
}

int server_run(struct collect *c, int listener, int stop)
{
	struct server s = {.collect = c};
	int err;

	for (unsigned i = 0; i < VISITS; i++)
		s.visits[i].fd = -1;
	err = start(&s, listener);
	if (err < 0)
		return err;
	serve(&s, stop);
	mhd.stop_daemon(s.http);
	return 0;
}
