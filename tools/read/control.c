/* SPDX-License-Identifier: MIT */
/* control.c - send requests on quoitd's control socket that need no session */
#include "control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <quoit/socket.h>

#include "format.h"
#include "runtime.h"

#define REPLY_MS 5000

static void say_silent(int error, char text[CONTROL_TEXT_BYTES])
{
	if (error == EAGAIN) /* the time limit of a receive or a connection */
		snprintf(text, CONTROL_TEXT_BYTES,
			 "quoitd does not answer: nothing for %d s, it may be stopped or stuck",
			 REPLY_MS / 1000);
	else
		snprintf(text, CONTROL_TEXT_BYTES, "quoitd does not answer: %s", strerror(error));
}

int control_connect(const char *socket, char text[CONTROL_TEXT_BYTES])
{
	int fd = runtime_connect(socket, REPLY_MS);

	*text = '\0';
	if (fd == -EAGAIN)
		say_silent(EAGAIN, text);
	else if (fd < 0)
		quoit_socket_explain(socket, -fd, text, CONTROL_TEXT_BYTES);
	return fd;
}

int control_ask(int fd, const char *socket, struct quoit_ctl *m, char text[CONTROL_TEXT_BYTES])
{
	ssize_t n = -1;
	int err;

	*text = '\0';
	m->magic = QUOIT_CTL_MAGIC;
	if (send(fd, m, sizeof *m, MSG_NOSIGNAL) == sizeof *m)
		n = recv(fd, m, sizeof *m, 0);
	err = n < 0 ? -errno : 0;
	if (err) {
		say_silent(-err, text);
		return err;
	}
	if (n != sizeof *m || m->magic != QUOIT_CTL_MAGIC || m->result > 0) {
		snprintf(text, CONTROL_TEXT_BYTES, "the program that answers at %s is not quoitd",
			 socket);
		return -EPROTO;
	}
	m->text[sizeof m->text - 1] = '\0';
	format_escape(m->text, text, CONTROL_TEXT_BYTES);
	return m->result;
}

int control_end_session(const char *socket, uint64_t session, char text[CONTROL_TEXT_BYTES])
{
	struct quoit_ctl m = {.type = QUOIT_CTL_KILL, .seq = 1, .end.session = session};
	int fd = control_connect(socket, text), err;

	if (fd < 0)
		return fd;
	err = control_ask(fd, socket, &m, text);
	close(fd);
	return err;
}
