/* SPDX-License-Identifier: MIT */
/* watches.h - many epoll watches of one descriptor: whoever wakes its readers goes through all */
#ifndef TORTURE_WATCHES_H
#define TORTURE_WATCHES_H

#include "stage.h"

/* EPOLLS times COPIES watches; more descriptors are not needed for that. */
#define WATCHES_EPOLLS 64u
#define WATCHES_COPIES 64u

struct watches {
	int epoll[WATCHES_EPOLLS], copy[WATCHES_COPIES];
};

void watches_hang(struct stage *s, struct watches *w, int fd);
void watches_take_down(const struct watches *w);

#endif
