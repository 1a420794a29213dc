/* SPDX-License-Identifier: MIT */
/* control.c - the control thread's epoll: listener, connections, reactors, signals */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "connection.h"
#include "ctl_io.h"
#include "log.h"
#include "peer.h"

#define EVENTS  64
#define BACKLOG 512
#define TICK_MS 100

/* At the end, errands that take longer are taken to hang. */
#define ERRANDS_MS 1000

/* Connections taken before those that are there have their turn. */
#define ACCEPT_BURST 64

/* Tags of epoll entries that are no connection. */
static char tag_listener, tag_mail, tag_signal;

/* ---- connections ---- */

/* A connection that is not known to epoll yet; NULL: no memory. */
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
				    .hello_by_ns = totals_now_ns() + c->config->hello_ms * 1000000};
	errands_init(&conn->errands, c->errands, peer->uid);
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
	log_client(uid, "refused a connection of uid %u: %s", uid, why);
}

static void refuse(struct connection *conn, uint32_t counter, int err, const char *why)
{
	say_refused(conn->control, conn->fd, conn->uid, counter, err, why);
	errands_hang_up(&conn->errands, conn->fd);
	conn->fd = -1;
	conn->state = CONNECTION_GONE;
}

/*
 * A system daemon cannot keep its own uid's processes out of its memory, so it does not
 * take them for clients; a private one takes nobody else.
 */
static bool is_welcome(const struct control *c, uid_t uid)
{
	return (uid == geteuid()) == c->config->is_private;
}

static void accept_one(struct control *c, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
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
		if (!ctl_hang_up(fd)) { /* here: an errand would need the memory, too */
			ctl_drain(fd);
			close(fd);
		}
		return;
	}
	if (!is_welcome(c, peer.uid)) {
		refuse(conn, QUOIT_DAEMON_REFUSED_UID, -EACCES,
		       c->config->is_private ? "this quoitd is another user's own"
					     : "quoitd does not serve its own user");
		return;
	}
	err = budget_connect(c->budget, peer.uid);
	if (err < 0) {
		refuse(conn, QUOIT_DAEMON_REFUSED_CONNECTIONS, err,
		       err == -EDQUOT ? "too many connections of this user" : strerror(-err));
		return;
	}
	conn->counted = true;
	event.data.ptr = conn;
	if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		err = -errno;
		refuse(conn, QUOIT_DAEMON_REFUSED_CONNECTIONS, err, strerror(-err));
		return;
	}
	conn->pidfd = peer_open(fd, peer.pid);
	if (conn->pidfd >= 0)
		(void)epoll_ctl(c->epoll, EPOLL_CTL_ADD, conn->pidfd, &event);
	totals_count(c->totals, QUOIT_DAEMON_CONNECTIONS);
}

/* Listen, or let connections wait in the socket's queue. */
static void set_accepting(struct control *c, bool on)
{
	struct epoll_event event = {.events = on ? EPOLLIN : 0, .data.ptr = &tag_listener};

	(void)epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->listener, &event);
	c->accept_from_ns = on ? 0 : totals_now_ns() + TICK_MS * UINT64_C(1000000);
}

static void accept_some(struct control *c)
{
	for (unsigned i = 0; i < ACCEPT_BURST; i++) {
		int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			accept_one(c, fd);
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			/* It stays readable: without a pause we would do nothing but fail. */
			log_client(geteuid(), "cannot accept a connection: %s", strerror(errno));
			set_accepting(c, false);
			return;
		}
	}
}

static bool is_gone(struct connection *conn)
{
	return conn->state == CONNECTION_GONE && !conn->session && !conn->rings_expected;
}

/* Free what is gone for good: no session on its way back, no answer to come, no errand left. */
static void sweep(struct control *c)
{
	for (struct connection **link = &c->connections; *link;) {
		struct connection *conn = *link;

		connection_look_at_errands(conn);
		if (!is_gone(conn) || !errands_idle(&conn->errands)) {
			link = &conn->next;
			continue;
		}
		*link = conn->next;
		if (conn->counted)
			budget_disconnect(c->budget, conn->uid);
		free(conn);
	}
}

static void drop_silent(struct control *c)
{
	uint64_t now = totals_now_ns();

	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->state == CONNECTION_NEW && now > conn->hello_by_ns)
			connection_end(conn, QUOIT_DAEMON_KILL_HANDSHAKE,
				       "did not say hello in time");
}

static void serve(struct connection *conn)
{
	bool open = conn->session && conn->state == CONNECTION_OPEN;
	char text[QUOIT_TEXT_BYTES];
	struct quoit_ctl m;
	struct ctl_fds fds;
	int n = ctl_receive(conn->fd, &m, &fds);

	if (n != 1)
		connection_drop_fds(conn, &fds);
	switch (n) {
	case 1:
		connection_request(conn, &m, &fds);
		break;
	case -EPROTO:
		connection_end(conn, QUOIT_DAEMON_KILL_PROTO, "a message of another length");
		break;
	case -EAGAIN: /* all that it has sent is read */
		if (!peer_has_ended(conn->pidfd))
			break;
		/* fallthrough */
	case 0:
	case -ECONNRESET:
		connection_end(conn, open ? QUOIT_DAEMON_CLIENTS_DIED : QUOIT_DAEMON_CLIENTS_LEFT,
			       NULL);
		break;
	default:
		snprintf(text, sizeof text, "its message cannot be read: %s", strerror(-n));
		connection_end(conn, QUOIT_DAEMON_KILL_SHORTAGE, text);
		break;
	}
}

struct connection *control_find_session(struct control *c, uint64_t id)
{
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->session && conn->session->id == id && conn->state != CONNECTION_GONE)
			return conn;
	return NULL;
}

struct connection *control_find_owner(struct control *c, const struct session *s)
{
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->session == s)
			return conn;
	return NULL;
}

/* ---- reactors ---- */

static const char *kill_text(uint32_t counter)
{
	switch (counter) {
	case QUOIT_DAEMON_KILL_RING_TAIL:
		return "its SQ tail is beyond the ring (ring_tail)";
	case QUOIT_DAEMON_KILL_CQ_HEAD:
		return "its CQ head is not between what it read and what was posted (cq_head)";
	case QUOIT_DAEMON_KILL_PROTO:
		return "descriptors by a message to a ring's socket";
	default:
		return "its memory went away while a job used it (mem_vanished)";
	}
}

static void read_mail(struct control *c)
{
	uint64_t count;
	ssize_t n = read(c->eventfd, &count, sizeof count);
	struct mail m;

	(void)n;
	for (uint32_t i = 0; i < c->reactor_count; i++)
		while (mailbox_receive(c->outbox[i], &m)) {
			struct connection *conn = control_find_owner(c, m.session);

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

static void on_signal(struct control *c)
{
	struct signalfd_siginfo info;

	if (read(c->signals, &info, sizeof info) == sizeof info) {
		log_info("%s: ending", strsignal((int)info.ssi_signo));
		c->stop = true;
	}
}

static int timeout_ms(const struct control *c)
{
	if (c->accept_from_ns || c->stop)
		return TICK_MS;
	for (const struct connection *conn = c->connections; conn; conn = conn->next)
		if (conn->state == CONNECTION_NEW)
			return TICK_MS;
	return -1;
}

static void handle(struct control *c, const struct epoll_event *event)
{
	if (event->data.ptr == &tag_listener)
		accept_some(c);
	else if (event->data.ptr == &tag_signal)
		on_signal(c);
	else if (event->data.ptr != &tag_mail) {
		struct connection *conn = event->data.ptr;

		if (conn->state != CONNECTION_GONE)
			serve(conn);
	}
}

static void pass(struct control *c)
{
	struct epoll_event events[EVENTS];
	int n = 0;

	if (mail_may_sleep(c))
		n = epoll_wait(c->epoll, events, EVENTS, timeout_ms(c));
	quoit_ring_awake(&c->need_wake);
	read_mail(c);
	for (int i = 0; i < n; i++)
		handle(c, &events[i]);
	if (c->accept_from_ns && totals_now_ns() >= c->accept_from_ns)
		set_accepting(c, true);
	drop_silent(c);
	sweep(c);
	totals_set(c->totals, QUOIT_DAEMON_LOG_SUPPRESSED, log_suppressed());
}

static void stop_listening(struct control *c)
{
	if (c->listener < 0)
		return;
	close(c->listener);
	(void)unlink(c->config->socket);
	c->listener = -1;
	c->accept_from_ns = 0;
}

/* Some session is not back yet, or errands are left that only need a little time. */
static bool is_ending(struct control *c, uint64_t errands_until_ns)
{
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		if (!is_gone(conn))
			return true;
	return c->connections && totals_now_ns() < errands_until_ns;
}

void control_run(struct control *c)
{
	uint64_t until;

	while (!c->stop)
		pass(c);
	stop_listening(c);
	for (struct connection *conn = c->connections; conn; conn = conn->next)
		connection_end(conn, QUOIT_DAEMON_SESSIONS_STOPPED, "quoitd is ending");
	until = totals_now_ns() + ERRANDS_MS * UINT64_C(1000000);
	while (is_ending(c, until))
		pass(c);
}

/* ---- start ---- */

static int watch(struct control *c, int fd, void *tag)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* A socket file that nobody listens on is left over and may go; a live one may not. */
static int clear_path(const struct sockaddr_un *addr)
{
	int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err = 0;

	if (probe < 0)
		return -errno;
	if (connect(probe, (const struct sockaddr *)addr, sizeof *addr) == 0)
		err = -EADDRINUSE;
	else if (errno == ECONNREFUSED && unlink(addr->sun_path) < 0)
		err = -errno;
	close(probe);
	return err;
}

static int listen_on(struct control *c, const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, err, on = 1;
	mode_t old;

	memcpy(addr.sun_path, path, strlen(path) + 1);
	err = clear_path(&addr);
	if (err < 0)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	old = umask(c->config->is_private ? 0077 : 0007);
	err = bind(fd, (struct sockaddr *)&addr, sizeof addr) < 0 ? -errno : 0;
	umask(old);
	if (err < 0) {
		close(fd);
		return err;
	}
	c->listener = fd;
	ctl_let_descriptors_pass(fd, false); /* before a session is open they have no use */
	/* Accepted sockets have both too; see ctl_receive. */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
	    (!c->config->is_private && chmod(path, 0666) < 0) || listen(fd, BACKLOG) < 0)
		return -errno;
	return 0;
}

static int watch_signals(struct control *c)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signals < 0 ? -errno : 0;
}

int control_init(struct control *c)
{
	int err;

	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0) {
		err = -errno;
		log_error("cannot start the control thread: %s", strerror(-err));
		return err;
	}
	err = listen_on(c, c->config->socket);
	if (err < 0) {
		log_error("cannot listen on %s: %s", c->config->socket, strerror(-err));
		return err;
	}
	err = watch_signals(c);
	if (!err) /* its threads shall not take our signals */
		err = errand_pool_new(c->eventfd, &c->errands);
	if (!err)
		err = watch(c, c->listener, &tag_listener);
	if (!err)
		err = watch(c, c->signals, &tag_signal);
	if (!err)
		err = watch(c, c->eventfd, &tag_mail);
	if (err < 0)
		log_error("cannot start the control thread: %s", strerror(-err));
	return err;
}

void control_done(struct control *c)
{
	stop_listening(c);
	errand_pool_free(c->errands);
	if (c->signals >= 0)
		close(c->signals);
	if (c->epoll >= 0)
		close(c->epoll);
}
