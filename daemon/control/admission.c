/* SPDX-License-Identifier: MIT */
/* admission.c - serves connections, lets them wait for room, or refuses them */
#include "admission.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ctl_io.h"
#include "base/log.h"
#include "connections.h"
#include "peer.h"
#include "rests.h"

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
				    .arena.fd = -1};
	blocking_init(&conn->blocking, c->blocking, peer->uid, &c->dear);
	c->connections = conn;
	return conn;
}

/* ---- refuse ---- */

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
	connection_set_gone(conn);
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

/* ---- serve ---- */

/* From now on hello-ms count. */
static void begin_patience(struct connection *conn)
{
	conn->patience_ns = totals_now_ns() + conn->control->config->hello_ms * 1000000;
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
static int count_in(struct connection *conn)
{
	struct budget *budget = conn->control->budget;
	gid_t *gids = NULL;
	size_t count = 0;
	int err = 0;

	if (!budget_has_connection(budget, conn->uid)) {
		names_may_be_known(conn->control);
		err = peer_groups(conn->fd, &gids, &count);
	}
	if (!err)
		err = budget_connect(budget, conn->uid, gids, count);
	free(gids);
	return err;
}

static void serve(struct connection *conn)
{
	struct control *c = conn->control;
	int err;

	conn->counted = true;
	conn->only_asks = conn->uid == geteuid() && !c->config->is_private;
	conn->state = CONNECTION_NEW;
	begin_patience(conn);
	conn->pidfd = peer_open(conn->fd, conn->pid);
	err = rests_watch(conn);
	if (err < 0)
		refuse(conn, QUOIT_DAEMON_REFUSED_CONNECTIONS, err, strerror(-err));
	else
		totals_count(c->totals, QUOIT_DAEMON_CONNECTIONS);
}

static void serve_or_refuse(struct connection *conn, int err)
{
	if (err < 0)
		refuse_count(conn, err);
	else
		serve(conn);
}

void admission_decide(struct control *c, int fd)
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
	err = count_in(conn);
	if (err == -EDQUOT && connection_wait(conn)) {
		conn->state = CONNECTION_WAITS;
		begin_patience(conn);
		return;
	}
	serve_or_refuse(conn, err);
}

/* ---- wait ---- */

static void go_on(struct connection *conn, bool all_heard)
{
	struct control *c = conn->control;
	int err = count_in(conn);

	if (err == -EDQUOT && (!all_heard || budget_one_may_leave(c->budget, conn->uid)) &&
	    totals_now_ns() < conn->patience_ns)
		return;
	connection_wait_over(conn);
	serve_or_refuse(conn, err);
}

void admission_go_on(struct control *c, bool all_heard)
{
	if (!c->waiting)
		return;
	connections_sweep(c);
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->state == CONNECTION_WAITS)
			go_on(conn, all_heard);
}

bool admission_is_due(const struct control *c)
{
	if (!c->waiting)
		return false;
	for (const struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->state == CONNECTION_WAITS && !budget_one_may_leave(c->budget, conn->uid))
			return true;
	return false;
}
