/* SPDX-License-Identifier: MIT */
/* control.c - runs the control thread's epoll loop: connections, reactors, signals */
#include "control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "admission.h"
#include "base/ctl_io.h"
#include "base/dear.h"
#include "base/log.h"
#include "base/process_limits.h"
#include "connections.h"
#include "drain.h"
#include "listener.h"
#include "peer.h"
#include "recorder.h"
#include "rests.h"
#include "service_manager.h"
#include "services.h"

#define EVENTS  64
#define TICK_MS 100

/* What the end may take besides the drain: running jobs cannot be called back at once. */
#define END_MS 20000

/* At the end, blocking calls and transfers that take longer than this count as hanging. */
#define HANG_MS 1000

/* ---- connections ---- */

static void serve(struct connection *conn)
{
	bool open = conn->session && conn->state == CONNECTION_OPEN;
	char text[QUOIT_TEXT_BYTES];
	struct quoit_ctl m;
	struct ctl_fds fds;
	uint64_t begun = dear_cpu_now();
	int n = ctl_receive(conn->fd, &m, &fds);

	rests_count(conn, begun);
	if (n != 1)
		connection_drop_fds(conn, &fds);
	switch (n) {
	case 1:
		connection_request(conn, &m, &fds);
		break;
	case -EPROTO:
		connection_end(conn, QUOIT_DAEMON_KILL_PROTO,
			       "protocol error: a message has the wrong length");
		break;
	case -EAGAIN: /* everything that it has sent is read */
		if (!peer_has_ended(conn->pidfd))
			break;
		/* fallthrough */
	case 0:
	case -ECONNRESET:
		connection_end(conn, open ? QUOIT_DAEMON_CLIENTS_DIED : QUOIT_DAEMON_CLIENTS_LEFT,
			       NULL);
		break;
	default:
		snprintf(text, sizeof text, "quoitd cannot read the client's message: %s",
			 strerror(-n));
		connection_end(conn, QUOIT_DAEMON_KILL_SHORTAGE, text);
		break;
	}
}

/* ---- reactors ---- */

static const char *kill_text(uint32_t counter)
{
	switch (counter) {
	case QUOIT_DAEMON_KILL_RING_TAIL:
		return "the client set an SQ tail beyond the ring (ring_tail)";
	case QUOIT_DAEMON_KILL_CQ_HEAD:
		return "the client set a CQ head behind what it had read or beyond what was posted "
		       "(cq_head)";
	case QUOIT_DAEMON_KILL_RETURN:
		return "the client returned a call of a service that it did not have, or results "
		       "outside of its memory (return)";
	case QUOIT_DAEMON_KILL_PROTO:
		return "protocol error: the client sent descriptors to a ring's socket";
	default:
		return "the client took memory away while a job used it (mem_vanished)";
	}
}

/* From each reactor, before sockets are looked at again: clients decide how much mail there is. */
#define MAIL_AT_ONCE 64u

static void read_mail(struct control *c)
{
	uint64_t count;
	ssize_t got = read(c->eventfd, &count, sizeof count);
	struct mail m;

	(void)got;
	for (uint32_t i = 0; i < c->reactor_count; i++)
		for (unsigned n = 0; n < MAIL_AT_ONCE && mailbox_receive(c->outbox[i], &m); n++) {
			struct connection *conn;

			if (m.type == MAIL_TRACE_END) { /* its session may have gone */
				recorder_answer(c, m.a);
				continue;
			}
			if (services_mail(c, &m))
				continue;
			conn = connections_find_owner(c, m.session);
			if (!conn)
				continue;
			if (m.type == MAIL_KILL)
				connection_end(conn, m.a, kill_text(m.a));
			else
				connection_answer(conn, &m);
		}
}

static bool mail_may_sleep(struct control *c)
{
	bool idle = true;

	for (uint32_t i = 0; i < c->reactor_count; i++)
		idle &= mailbox_sleep(c->outbox[i]);
	return idle;
}

/* ---- the loop ---- */

/* A private quoitd without a file belongs to a terminal: SIGHUP ends it. */
static bool reloads(const struct control *c)
{
	return !c->config->is_private || c->config->files;
}

static void on_signal(struct control *c)
{
	struct signalfd_siginfo info;

	if (read(c->signals, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGHUP && reloads(c)) {
		reload_request(c);
	} else {
		log_info("%s: %s", strsignal((int)info.ssi_signo),
			 c->stop ? "ending at once" : "ending");
		c->drain.hurry = c->stop;
		c->stop = true;
	}
}

static int timeout_for_others(const struct control *c)
{
	if (c->accept_from_ns || c->stop || c->waiting || service_manager_has_news(c))
		return TICK_MS;
	for (const struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->state == CONNECTION_NEW)
			return TICK_MS;
	return -1;
}

/* The earlier of two; -1: never. */
static int earlier(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int timeout_ms(struct control *c)
{
	int first = earlier(recorder_timeout_ms(c), rests_timeout_ms(c));

	if (admission_is_due(c))
		return 0;
	first = earlier(first, services_timeout_ms(c));
	return earlier(earlier(first, names_timeout_ms(c)), timeout_for_others(c));
}

static void handle(struct control *c, const struct epoll_event *event)
{
	if (event->data.ptr == &c->signals) {
		on_signal(c);
	} else if (event->data.ptr != &c->eventfd) {
		struct connection *conn = event->data.ptr;

		if (conn->state == CONNECTION_DRAINING) /* epoll reports nothing but its hang-up */
			connection_end(conn, QUOIT_DAEMON_CLIENTS_DIED, NULL);
		else if (conn->state != CONNECTION_GONE && !rests_begin(conn))
			serve(conn);
	}
}

static void pass(struct control *c)
{
	struct epoll_event events[EVENTS];
	struct arrivals arrivals = {0};
	int n;

	__atomic_store_n(&c->passes, c->passes + 1, __ATOMIC_RELAXED);
	n = epoll_wait(c->epoll, events, EVENTS, mail_may_sleep(c) ? timeout_ms(c) : 0);
	quoit_ring_awake(&c->need_wake);
	read_mail(c);
	for (int i = 0; i < n; i++)
		if (events[i].data.ptr == &c->listener)
			listener_take(c, &arrivals);
		else
			handle(c, &events[i]);
	admission_go_on(c, n < EVENTS);
	for (unsigned i = 0; i < arrivals.count; i++)
		admission_decide(c, arrivals.fd[i]);
	listener_resume(c);
	recorder_advance(c);
	reload_advance(c);
	names_advance(c);
	services_advance(c);
	connections_end_silent(c);
	connections_sweep(c);
	rests_end(c); /* last: what it reads again, the next pass reports */
	service_manager_say_status(c);
	totals_set(c->totals, QUOIT_DAEMON_LOG_SUPPRESSED, log_suppressed());
}

/*
 * Run until all sessions are back, except those with hanging transfers: these would keep quoitd for
 * as long as their client likes.  Then give blocking calls a little more time.
 */
static void end_sessions(struct control *c)
{
	uint64_t until = totals_now_ns() + HANG_MS * UINT64_C(1000000);

	while (!drain_is_over(c) && !(totals_now_ns() >= until && drain_count_hanging(c))) {
		pass(c);
		drain_end_closed(c);
	}
	if (drain_count_hanging(c)) {
		drain_say_hanging(c);
		return;
	}
	until = totals_now_ns() + HANG_MS * UINT64_C(1000000);
	while (c->connections && totals_now_ns() < until)
		pass(c);
}

void control_run(struct control *c)
{
	while (!c->stop)
		pass(c);
	service_manager_say_stopping((c->config->drain_ms + END_MS) * 1000000);
	listener_close(c);
	drain_begin(c);
	while (drain_goes_on(c))
		pass(c);
	drain_cut(c);
	end_sessions(c);
	drain_tell(c);
	recorder_done(c);
}

/* ---- start ---- */

/* In epoll, each descriptor that is not a connection is known by its address. */
static int watch(struct control *c, int *fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = fd};

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, *fd, &event) < 0 ? -errno : 0;
}

static int watch_signals(struct control *c)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signals < 0 ? -errno : 0;
}

/* config_check.c has checked the list before. */
static int make_blocking_pool(struct control *c)
{
	struct file_systems writable;
	const char *bad;
	int err = file_systems_read(c->config->file_systems, &writable, &bad);

	return err ? err : blocking_pool_new(c->eventfd, &writable, &c->blocking);
}

static int refuse_to_start(int err)
{
	log_error("cannot start the control thread: %s", process_limits_words(err).text);
	return err;
}

int control_init(struct control *c)
{
	int err;

	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0)
		return refuse_to_start(-errno);
	err = listener_open(c);
	if (err < 0) {
		log_error("cannot listen on %s: %s", c->config->socket, strerror(-err));
		return err;
	}
	err = watch_signals(c);
	if (!err) /* after the signals are blocked: its threads must not take them */
		err = make_blocking_pool(c);
	if (!err)
		err = watch(c, &c->listener);
	if (!err)
		err = watch(c, &c->signals);
	if (!err)
		err = watch(c, &c->eventfd);
	return err < 0 ? refuse_to_start(err) : 0;
}

void control_done(struct control *c)
{
	listener_close(c);
	reload_done(c);
	names_done(c);
	services_done(c);
	blocking_pool_free(c->blocking);
	if (c->signals >= 0)
		close(c->signals);
	if (c->epoll >= 0)
		close(c->epoll);
}
