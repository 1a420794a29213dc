/* SPDX-License-Identifier: MIT */
/* watches.c - hang many epoll watches on one descriptor */
#include "watches.h"

#include <sys/epoll.h>
#include <unistd.h>

void watches_hang(struct stage *s, struct watches *w, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	for (unsigned i = 0; i < WATCHES_COPIES; i++)
		CHECK(s, (w->copy[i] = dup(fd)) >= 0);
	for (unsigned i = 0; i < WATCHES_EPOLLS; i++) {
		CHECK(s, (w->epoll[i] = epoll_create1(EPOLL_CLOEXEC)) >= 0);
		for (unsigned k = 0; k < WATCHES_COPIES; k++)
			CHECK(s, !epoll_ctl(w->epoll[i], EPOLL_CTL_ADD, w->copy[k], &event));
	}
}

void watches_take_down(const struct watches *w)
{
	for (unsigned i = 0; i < WATCHES_EPOLLS; i++)
		close(w->epoll[i]);
	for (unsigned i = 0; i < WATCHES_COPIES; i++)
		close(w->copy[i]);
}
