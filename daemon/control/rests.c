/* SPDX-License-Identifier: MIT */
/* rests.c - decides which connections are not read, and until when */
#include "rests.h"

#include <errno.h>
#include <sys/epoll.h>

#include "base/dear.h"

/*
 * While a user's recorders do not look, at most so much time is saved up for later looks: a look
 * takes less than the shortest wait of epoll.
 */
#define RECORDS_SAVED_NS 20000000u

/* So much is owed at most: traces are also removed while their user rests. */
#define RECORDS_OWED_NS 1000000000u

void rests_count(struct connection *conn, uint64_t begun)
{
	struct dear_user *user = dear_note(&conn->control->dear, conn->uid);
	uint64_t took = dear_cpu_now() - begun, now = tsc_now();

	uint64_t rest = dear_rest(took, &conn->took);

	dear_count(&user->dear, took, now);
	if (dear_is(&user->dear, now) && user->rests_until < now + rest)
		user->rests_until = now + rest;
}

void rests_record(struct control *c, uid_t uid, uint64_t begun)
{
	struct dear_user *user = dear_note(&c->dear, uid);
	uint64_t took = dear_cpu_now() - begun, now = tsc_now();
	uint64_t saved = now - tsc_from_ns(RECORDS_SAVED_NS);
	uint64_t most = now + tsc_from_ns(RECORDS_OWED_NS);

	if (user->records_from < saved)
		user->records_from = saved;
	user->records_from += (1 + RESTS_RECORDS) * took;
	if (user->records_from > most)
		user->records_from = most;
}

static int ms_until(uint64_t then)
{
	uint64_t now = tsc_now();

	return then <= now ? 0 : (int)(tsc_to_ns(then - now) / 1000000) + 1;
}

int rests_records_ms(struct control *c, uid_t uid)
{
	const struct dear_user *user = dear_find(&c->dear, uid);

	return user ? ms_until(user->records_from) : 0;
}

static uint64_t rests_until(struct control *c, uid_t uid)
{
	const struct dear_user *user = dear_find(&c->dear, uid);

	return user ? user->rests_until : 0;
}

int rests_watch(struct connection *conn)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = conn};
	int epoll = conn->control->epoll;

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, conn->fd, &event) < 0)
		return -errno;
	if (conn->pidfd >= 0)
		(void)epoll_ctl(epoll, EPOLL_CTL_ADD, conn->pidfd, &event);
	return 0;
}

void rests_unwatch(const struct connection *conn)
{
	int epoll = conn->control->epoll;

	(void)epoll_ctl(epoll, EPOLL_CTL_DEL, conn->fd, NULL);
	/* Remove it by name: a process being started may have a copy, which keeps the watch. */
	if (conn->pidfd >= 0)
		(void)epoll_ctl(epoll, EPOLL_CTL_DEL, conn->pidfd, NULL);
}

bool rests_begin(struct connection *conn)
{
	if (rests_until(conn->control, conn->uid) <= tsc_now())
		return false;
	rests_unwatch(conn);
	conn->rests = ++conn->control->rests;
	if (conn->counted)
		budget_may_leave(conn->control->budget, conn->uid);
	return true;
}

/* It rests, and will be read again.  At quoitd's end no connection is. */
static bool rests(const struct connection *conn)
{
	return conn->rests && conn->state != CONNECTION_GONE && conn->state != CONNECTION_DRAINING;
}

/* Of the connections past their rest, the one that began first; NULL: none. */
static struct connection *who_is_rested(struct control *c)
{
	struct connection *first = NULL;
	uint64_t now = tsc_now();

	for (struct connection *i = c->connections; i; i = i->next)
		if (rests(i) && (!first || i->rests < first->rests) &&
		    rests_until(c, i->uid) <= now)
			first = i;
	return first;
}

void rests_end(struct control *c)
{
	struct connection *conn = c->rests ? who_is_rested(c) : NULL;

	if (!conn)
		return;
	conn->rests = 0;
	if (conn->counted)
		budget_stays(c->budget, conn->uid);
	if (rests_watch(conn) < 0)
		connection_end(
			conn, QUOIT_DAEMON_KILL_SHORTAGE,
			"quoitd cannot watch the client's socket: no memory or epoll watch is "
			"left");
}

int rests_timeout_ms(struct control *c)
{
	uint64_t first = UINT64_MAX;

	for (struct connection *i = c->rests ? c->connections : NULL; i; i = i->next)
		if (rests(i) && rests_until(c, i->uid) < first)
			first = rests_until(c, i->uid);
	return first == UINT64_MAX ? -1 : ms_until(first);
}
