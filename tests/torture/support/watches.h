/* SPDX-License-Identifier: MIT */
/*
 * watches.h - many epoll watches of one descriptor.
 *
 * The thread that wakes its readers goes through all of them, in the kernel.
 */
#ifndef TORTURE_WATCHES_H
#define TORTURE_WATCHES_H

#include "stage.h"

/* Each of so many epolls watches each of so many copies: 4096 watches by 128 descriptors. */
#define WATCHES_EPOLLS 64u
#define WATCHES_COPIES 64u

struct watches {
	int epoll[WATCHES_EPOLLS], copy[WATCHES_COPIES];
};

void watches_hang(struct stage *s, struct watches *w, int fd);
void watches_take_down(const struct watches *w);

#endif
