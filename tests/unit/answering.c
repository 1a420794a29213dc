/* SPDX-License-Identifier: MIT */
/* answering.c - something that answers on a socket as quoitd does, in a thread of the test */
#include "answering.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <criterion/criterion.h>

char answering_path[64];

static char folder[] = "/tmp/quoit-answering-XXXXXX";
static int listener;
static pthread_t thread;
static answering_fn *reply_to;

static void *serve(void *arg)
{
	struct quoit_ctl m;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		while (recv(fd, &m, sizeof m, 0) == sizeof m)
			if (reply_to(&m))
				cr_assert_eq(send(fd, &m, sizeof m, MSG_NOSIGNAL), sizeof m);
		close(fd);
	}
	return arg;
}

void answering_start(answering_fn *answer)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	reply_to = answer;
	cr_assert(mkdtemp(folder));
	snprintf(answering_path, sizeof answering_path, "%s/quoitd.sock", folder);
	strcpy(addr.sun_path, answering_path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&addr, sizeof addr), 0);
	cr_assert_eq(listen(listener, 4), 0);
	cr_assert_eq(pthread_create(&thread, NULL, serve, NULL), 0);
}

void answering_stop(void)
{
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listener);
	unlink(answering_path);
	rmdir(folder);
}
