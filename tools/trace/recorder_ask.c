/* SPDX-License-Identifier: MIT */
/* recorder_ask.c - ask quoitd to record, and notice when it ends */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <quoit/ctl.h>

#include "read/control.h"
#include "read/sessions.h"
#include "recorder_private.h"

/* Returns a connection that records, and how many sessions it records; -errno after a message. */
static int ask(const struct recorder *r, uint64_t session, uint32_t *ret_sessions)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_TRACE,
			      .seq = 1,
			      .trace = {.session = session, .records = r->what.records}};
	char text[CONTROL_TEXT_BYTES];
	int fd = control_connect(r->what.socket, text), err;

	if (fd < 0) {
		fprintf(stderr, "quoit trace: %s\n", text);
		return fd;
	}
	err = control_ask(fd, r->what.socket, &m, text);
	if (!err) {
		*ret_sessions = m.trace.sessions;
		return fd;
	}
	if (session)
		fprintf(stderr, "quoit trace: session %" PRIu64 ": %s\n", session, text);
	else
		fprintf(stderr, "quoit trace: %s\n", text);
	close(fd);
	return err;
}

static bool is_of_pid(const struct session_row *row, void *arg)
{
	const struct recorder *r = arg;

	return row->s.pid == r->what.pid && !row->s.ended && row->daemon_lives;
}

int recorder_ask_for_pid(struct recorder *r)
{
	struct sessions s;
	int err = sessions_read(r->directory, &s), fd = 0;
	uint32_t sessions;

	if (!err)
		sessions_filter(&s, is_of_pid, r);
	if (err || !s.count)
		fprintf(stderr, "quoit trace: no session of PID %" PRIu32 " (see quoit ps)\n",
			r->what.pid);
	for (size_t i = 0; i < s.count && r->connections < RECORDER_MOST_CONNECTIONS; i++) {
		fd = ask(r, s.list[i].s.session, &sessions);
		if (fd >= 0)
			r->connection[r->connections++] = fd;
	}
	if (s.count > RECORDER_MOST_CONNECTIONS)
		fprintf(stderr,
			"quoit trace: %zu of the %zu sessions of PID %" PRIu32
			" are not asked for: %u at most (-a takes all)\n",
			s.count - RECORDER_MOST_CONNECTIONS, s.count, r->what.pid,
			RECORDER_MOST_CONNECTIONS);
	sessions_free(&s);
	return r->connections ? 0 : -1;
}

static bool is_live(const struct session_row *row, void *arg)
{
	(void)arg;
	return !row->s.ended && row->daemon_lives;
}

/* Name sessions that another recorder has, or for which quoitd has no memory left. */
static void say_left_out(const struct recorder *r, uint32_t recorded)
{
	struct sessions s;

	if (sessions_read(r->directory, &s) == 0)
		sessions_filter(&s, is_live, NULL);
	if (s.count > recorded)
		fprintf(stderr,
			"quoit trace: %zu of %zu sessions are not recorded: another recorder "
			"records them, or no memory is left for that\n",
			s.count - recorded, s.count);
	sessions_free(&s);
}

int recorder_ask_for_all(struct recorder *r)
{
	uint32_t sessions;
	int fd = ask(r, 0, &sessions);

	if (fd < 0)
		return -1;
	r->connection[r->connections++] = fd;
	say_left_out(r, sessions);
	return 0;
}

/* On these connections quoitd reports nothing but its end. */
void recorder_look_at_connections(struct recorder *r)
{
	char byte;

	for (unsigned i = 0; i < r->connections; i++) {
		ssize_t n = recv(r->connection[i], &byte, 1, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			r->daemon_died = true;
	}
}

void recorder_hang_up(struct recorder *r)
{
	while (r->connections)
		close(r->connection[--r->connections]);
}
