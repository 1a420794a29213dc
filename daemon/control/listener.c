/* SPDX-License-Identifier: MIT */
/* listener.c - takes connections, and admits or refuses them */
#include "listener.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ctl_io.h"
#include "base/directory_lock.h"
#include "base/log.h"
#include "connection.h"
#include "peer.h"
#include "rests.h"

#define BACKLOG 512

/* How long to wait after a connection could not be taken. */
#define PAUSE_MS 100

/* ---- one connection ---- */

/* The connection is not in epoll yet.  NULL: no memory. */
static struct connection *new_connection(struct control *c, int fd, const struct ucred *peer)
{
	struct connection *conn = calloc(1, sizeof *conn);

	if (!conn)
		return NULL;
	*conn = (struct connection){.next = c->connections,
				    .control = c,
				    .fd = fd,
				    .uid = peer->uid,
				    .pid = peer->pid,
				    .pidfd = -1,
				    .arena.fd = -1,
				    .hello_by_ns = totals_now_ns() + c->config->hello_ms * 1000000};
	blocking_init(&conn->blocking, c->blocking, peer->uid, &c->dear);
	c->connections = conn;
	return conn;
}

static void say_refused(struct control *c, int fd, uid_t uid, uint32_t counter, int err,
			const char *why)
{
	struct quoit_ctl m = {.magic = QUOIT_CTL_MAGIC, .type = QUOIT_CTL_END, .result = err};

	snprintf(m.text, sizeof m.text, "%s", why);
	(void)ctl_send(fd, &m, NULL, 0);
	totals_count(c->totals, counter);
	log_about(&(struct log_about){.uid = uid, .reason = totals_label(counter)},
		  "refused a connection of uid %u: %s", uid, why);
}

static void refuse(struct connection *conn, uint32_t counter, int err, const char *why)
{
	say_refused(conn->control, conn->fd, conn->uid, counter, err, why);
	blocking_hang_up(&conn->blocking, conn->fd);
	if (conn->pidfd >= 0)
		close(conn->pidfd);
	conn->fd = conn->pidfd = -1;
	conn->state = CONNECTION_GONE;
}

/*
 * A system daemon cannot keep processes of its own uid out of its memory, so it gives them no
 * session: they may only ask.  A private daemon takes no other uid.
 */
static bool is_welcome(const struct control *c, uid_t uid)
{
	return uid == geteuid() || !c->config->is_private;
}

/* Count the connection as its user's.  Groups are looked up for a user's first one only. */
static int count_in(struct connection *conn, gid_t primary)
{
	struct budget *budget = conn->control->budget;
	gid_t *gids = NULL;
	size_t count = 0;
	int err = 0;

	if (!budget_has_connection(budget, conn->uid)) {
		names_may_be_known(conn->control);
		err = peer_groups(conn->fd, primary, &gids, &count);
	}
	if (!err)
		err = budget_connect(budget, conn->uid, gids, count);
	free(gids);
	return err;
}

static void refuse_count(struct connection *conn, int err)
{
	const struct budget_user *user = budget_of(conn->control->budget, conn->uid);
	char text[QUOIT_TEXT_BYTES];

	if (err == -EDQUOT && user)
		snprintf(text, sizeof text,
			 "this user has too many connections: allowed are %llu; close some (option "
			 "uid-connections)",
			 (unsigned long long)user->may.value[RULE_CONNECTIONS]);
	else
		snprintf(text, sizeof text, "%s", strerror(-err));
	refuse(conn, QUOIT_DAEMON_REFUSED_CONNECTIONS, err, text);
}

void listener_admit(struct control *c, int fd)
{
	struct connection *conn;
	struct ucred peer;
	socklen_t length = sizeof peer;
	int err;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) {
		close(fd);
		return;
	}
	conn = new_connection(c, fd, &peer);
	if (!conn) {
		say_refused(c, fd, peer.uid, QUOIT_DAEMON_REFUSED_CONNECTIONS, -ENOMEM,
			    strerror(ENOMEM));
		if (!ctl_hang_up(fd)) /* here: a blocking call would need memory, too */
			ctl_hang_up_full(fd);
		return;
	}
	if (!is_welcome(c, peer.uid)) {
		refuse(conn, QUOIT_DAEMON_REFUSED_UID, -EACCES,
		       "this quoitd is private: it serves only the user that started it");
		return;
	}
	err = count_in(conn, peer.gid);
	if (err < 0) {
		refuse_count(conn, err);
		return;
	}
	conn->counted = true;
	conn->only_asks = peer.uid == geteuid() && !c->config->is_private;
	conn->pidfd = peer_open(fd, peer.pid);
	err = rests_watch(conn);
	if (err < 0) {
		refuse(conn, QUOIT_DAEMON_REFUSED_CONNECTIONS, err, strerror(-err));
		return;
	}
	totals_count(c->totals, QUOIT_DAEMON_CONNECTIONS);
}

/* ---- the socket ---- */

/* Connections accepted from now on inherit both; see ctl_receive. */
static int prepare(int fd)
{
	int on = 1;

	ctl_let_descriptors_pass(fd, false); /* they have no use before a session is open */
	return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ? -errno : 0;
}

/* Listen, or let connections wait in the socket's queue. */
static void set_accepting(struct control *c, bool on)
{
	struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = &c->listener};

	(void)epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->listener, &event);
	c->accept_from_ns = on ? 0 : totals_now_ns() + PAUSE_MS * UINT64_C(1000000);
}

void listener_take(struct control *c, struct arrivals *ret)
{
	for (unsigned i = 0; i < LISTENER_BURST; i++) {
		int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			/* It may have connected before quoitd prepared a passed socket. */
			if (c->from_service_manager)
				(void)prepare(fd);
			ret->fd[ret->count++] = fd;
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			/* It stays readable: without a pause the loop would only fail again. */
			log_client(geteuid(), "cannot accept a connection: %s", strerror(errno));
			set_accepting(c, false);
			return;
		}
	}
}

void listener_resume(struct control *c)
{
	if (c->accept_from_ns && totals_now_ns() >= c->accept_from_ns)
		set_accepting(c, true);
}

/*
 * The process that listened there is dead, but one of its threads waits in the kernel and keeps its
 * descriptors (directory_lock.h).
 */
static bool is_of_the_dead(int probe)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return getsockopt(probe, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid > 0 &&
	       peer.uid == geteuid() && process_is_dead(peer.pid);
}

/* Remove a socket file on which no live process listens; a live one stays: -EADDRINUSE. */
static int clear_path(const struct sockaddr_un *addr)
{
	int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
	bool listens;

	if (probe < 0)
		return -errno;
	listens =
		connect(probe, (const struct sockaddr *)addr, sizeof *addr) == 0 || errno == EAGAIN;
	if (listens && !is_of_the_dead(probe))
		err = -EADDRINUSE;
	else if ((listens || errno == ECONNREFUSED) && unlink(addr->sun_path) < 0)
		err = -errno;
	close(probe);
	return err;
}

static int make_socket(const struct config *config, int *ret)
{
	const char *path = config->socket;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, err;
	mode_t old;

	memcpy(addr.sun_path, path, strlen(path) + 1);
	err = clear_path(&addr);
	if (err < 0)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	old = umask(config->is_private ? 0077 : 0007);
	err = bind(fd, (struct sockaddr *)&addr, sizeof addr) < 0 ? -errno : 0;
	umask(old);
	if (err < 0) {
		close(fd);
		return err;
	}
	*ret = fd;
	return 0;
}

int listener_open(struct control *c)
{
	const struct config *config = c->config;
	int err;

	if (c->from_service_manager) /* the service manager listens, so clients see its credentials */
		return prepare(c->listener);
	err = make_socket(config, &c->listener);
	if (!err)
		err = prepare(c->listener);
	if (!err && ((!config->is_private && chmod(config->socket, 0666) < 0) ||
		     listen(c->listener, BACKLOG) < 0))
		err = -errno;
	return err;
}

void listener_close(struct control *c)
{
	if (c->listener < 0)
		return;
	/*
	 * Remove it from epoll by name: the service manager keeps the socket open, so closing it
	 * here does not end the watch.
	 */
	(void)epoll_ctl(c->epoll, EPOLL_CTL_DEL, c->listener, NULL);
	close(c->listener);
	if (!c->from_service_manager)
		(void)unlink(c->config->socket);
	c->listener = -1;
	c->accept_from_ns = 0;
}
