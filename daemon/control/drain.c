/* SPDX-License-Identifier: MIT */
/* drain.c - ends sessions with their jobs, or at the deadline */
#include "drain.h"

#include <sys/epoll.h>

#include "base/log.h"

static const char ending[] = "quoitd is ending";

static void send_mail(struct connection *conn, uint8_t type)
{
	struct mail m = {.type = type, .session = conn->session};

	mailbox_send(&conn->control->reactors[conn->reactor].inbox, &m);
}

/* Its reactor has the session. */
static bool is_open(const struct connection *conn)
{
	return conn->session &&
	       (conn->state == CONNECTION_DRAINING || conn->state == CONNECTION_CLOSING);
}

/* Requests stay unread: it is too late for them.  epoll still reports that the client hangs up. */
static void stop_reading(struct connection *conn)
{
	struct epoll_event event = {.data.ptr = conn};

	(void)epoll_ctl(conn->control->epoll, EPOLL_CTL_MOD, conn->fd, &event);
	conn->state = CONNECTION_DRAINING;
}

void drain_begin(struct control *c)
{
	c->drain.until_ns = totals_now_ns() + c->config->drain_ms * 1000000;
	for (struct connection *conn = c->connections; conn; conn = conn->next) {
		if (conn->state == CONNECTION_OPEN)
			stop_reading(conn);
		if (is_open(conn)) {
			c->drain.sessions++;
			send_mail(conn, MAIL_DRAIN);
		} else {
			connection_end(conn, QUOIT_DAEMON_SESSIONS_STOPPED, ending);
		}
	}
}

bool drain_goes_on(const struct control *c)
{
	if (c->drain.hurry || totals_now_ns() >= c->drain.until_ns)
		return false;
	for (const struct connection *conn = c->connections; conn; conn = conn->next)
		if (is_open(conn))
			return true;
	return false;
}

void drain_cut(struct control *c)
{
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (is_open(conn))
			send_mail(conn, MAIL_CUT);
}

void drain_end_closed(struct control *c)
{
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->state == CONNECTION_CLOSING && !conn->session)
			connection_end(conn, QUOIT_DAEMON_SESSIONS_STOPPED, ending);
}

bool drain_is_over(const struct control *c)
{
	for (const struct connection *conn = c->connections; conn; conn = conn->next)
		if (!connection_is_gone(conn))
			return false;
	return true;
}

/* Its session waits for transfers that only the kernel can end, perhaps after a client. */
static bool has_transfers(const struct connection *conn)
{
	return conn->session && __atomic_load_n(&conn->session->transfers, __ATOMIC_RELAXED);
}

unsigned drain_count_hanging(const struct control *c)
{
	unsigned count = 0;

	for (const struct connection *conn = c->connections; conn; conn = conn->next) {
		if (!connection_is_gone(conn) && !has_transfers(conn))
			return 0;
		count += !connection_is_gone(conn);
	}
	return count;
}

void drain_say_hanging(const struct control *c)
{
	for (const struct connection *conn = c->connections; conn; conn = conn->next)
		if (!connection_is_gone(conn))
			log_session(
				conn->session,
				"session %llu of uid %u has file transfers that do not end: they "
				"are left to the kernel",
				(unsigned long long)conn->session->id, conn->uid);
}

void drain_answer(struct connection *c, const struct mail *m)
{
	struct control *control = c->control;

	control->drain.finished += m->a;
	control->drain.cancelled += m->b;
	c->is_back = m->type == MAIL_DRAIN;
	connection_end(c, QUOIT_DAEMON_SESSIONS_STOPPED, ending);
}

void drain_tell(const struct control *c)
{
	if (c->drain.sessions)
		log_info("%u sessions were open when quoitd ended: %llu of their jobs finished, "
			 "%llu were cancelled",
			 c->drain.sessions, (unsigned long long)c->drain.finished,
			 (unsigned long long)c->drain.cancelled);
}
