/* SPDX-License-Identifier: MIT */
/* listener.c - the socket that clients connect to */
#include "listener.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ctl_io.h"
#include "base/directory_lock.h"
#include "base/log.h"

#define BACKLOG 512

/* How long to wait after a connection could not be taken. */
#define PAUSE_MS 100

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
