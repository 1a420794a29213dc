/* SPDX-License-Identifier: MIT */
/* server.c - serve the metrics by HTTP: libmicrohttpd in one thread, ours */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"
#include "microhttpd.h"

/* The library accepts some connections before it notices those that we ended. */
#define SPARE  16
#define VISITS (SERVER_CONNECTIONS + SPARE)

/* A connection. */
struct visit {
	int fd; /* -1: the place is free */
	uint64_t since_ms;
	bool asked; /* its request has come, and the answer is under way */
	bool ended;
};

struct server {
	struct answers answers;
	struct MHD_Daemon *http;
	struct visit visits[VISITS];
	unsigned count; /* visits that are not ended */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- connections ---- */

/* libmicrohttpd notices that the socket is shut down, and closes it. */
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

/* Find the oldest visit that has asked, or has not; returns the number of such visits. */
static unsigned find_oldest(struct server *s, bool asked, struct visit **ret)
{
	unsigned count = 0;

	*ret = NULL;
	for (unsigned i = 0; i < VISITS; i++) {
		struct visit *v = &s->visits[i];

		if (v->fd < 0 || v->ended || v->asked != asked)
			continue;
		if (!*ret || v->since_ms < (*ret)->since_ms)
			*ret = v;
		count++;
	}
	return count;
}

/*
 * Make room for a new connection.  Connections without a request never end an answer that is under
 * way.  But clients that do not read their answers get at most half of the places, so that others
 * can ask.
 */
static void make_room(struct server *s)
{
	struct visit *asked, *silent;
	unsigned answers = find_oldest(s, true, &asked);

	(void)find_oldest(s, false, &silent);
	end_visit(s, answers > SERVER_CONNECTIONS / 2 || !silent ? asked : silent);
}

static void come(struct server *s, struct MHD_Connection *connection, void **context)
{
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct visit *v = find_place(s);

	if (!v || !info)
		return; /* never happens: there are as many places as the library lets in */
	if (s->count == SERVER_CONNECTIONS)
		make_room(s);
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

/*
 * End visits that are too old; returns the milliseconds until the next one is; -1: there are none.
 */
static int end_old_visits(struct server *s)
{
	uint64_t now = now_ms();
	int left = -1;

	for (unsigned i = 0; i < VISITS; i++) {
		struct visit *v = &s->visits[i];
		uint64_t end = v->since_ms + SERVER_SECONDS * 1000;

		if (v->fd < 0 || v->ended)
			continue;
		if (now >= end)
			end_visit(s, v);
		else if (left < 0 || end - now < (unsigned)left)
			left = (int)(end - now);
	}
	return left;
}

/* libmicrohttpd's handler, called when a request's head has come. */
static enum MHD_Result handle(void *arg, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *body_size, void **state)
{
	struct server *s = arg;
	const union MHD_ConnectionInfo *info =
		mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct visit *v = info ? info->socket_context : NULL;

	(void)version;
	(void)body;
	(void)body_size;
	(void)state;
	if (v)
		v->asked = true;
	return answer_request(&s->answers, connection, url, method);
}

/* ---- the loop ---- */

static int start(struct server *s, int listener)
{
	/* The library closes the descriptor that it gets. */
	int fd = fcntl(listener, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	s->http = mhd.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, s,
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

/* The milliseconds until the library or we must act, whichever comes first; -1: no limit. */
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

int server_run(struct collect *c, const struct hosts *hosts, int listener, int stop)
{
	struct server s = {.answers = {.collect = c, .hosts = hosts}};
	int err;

	for (unsigned i = 0; i < VISITS; i++)
		s.visits[i].fd = -1;
	err = start(&s, listener);
	if (err < 0)
		return err;
	serve(&s, stop);
	mhd.stop_daemon(s.http);
	answers_free(&s.answers);
	return 0;
}
