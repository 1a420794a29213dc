/* SPDX-License-Identifier: MIT */
/* watch.c - notice new files in a folder, by inotify */
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

int watch_open(int directory)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), err;
	char path[40];

	if (watch < 0)
		return -errno;
	snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
	if (inotify_add_watch(watch, path, IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR) >= 0)
		return watch;
	err = -errno;
	close(watch);
	return err;
}

/* The events do not say which file it was: if there are too many, the kernel drops some. */
bool watch_news(int watch)
{
	char events[4096];
	bool any = false;

	while (watch >= 0 && read(watch, events, sizeof events) > 0)
		any = true;
	return any;
}

void watch_close(int watch)
{
	if (watch >= 0)
		close(watch);
}
