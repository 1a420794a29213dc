/* SPDX-License-Identifier: MIT */
/*
 * hosts.h - the names under which the exporter is asked.
 *
 * A page of some web site can have a browser on this machine ask us: its name says that it is at
 * 127.0.0.1 (DNS rebinding), and the browser lets the page read the answer.  Such a request has
 * that name as its Host.  So only these are answered: an address in numbers, "localhost", this
 * machine's own name, and the names that --host gives.  A request without a Host comes from no
 * browser, and is answered.
 */
#ifndef QUOIT_TOOLS_EXPORTER_HOSTS_H
#define QUOIT_TOOLS_EXPORTER_HOSTS_H

#include <limits.h>
#include <stdbool.h>

#define HOSTS_MOST 16

struct hosts {
	char own[HOST_NAME_MAX + 1];
	const char *name[HOSTS_MOST]; /* the caller's */
	unsigned count;
};

/* No names but this machine's. */
void hosts_init(struct hosts *h);

/* One name more; false: it is none, or there are HOSTS_MOST. */
bool hosts_add(struct hosts *h, const char *name);

/* May a request with this Host (NULL: without one) be answered? */
bool hosts_has(const struct hosts *h, const char *host);

#endif
