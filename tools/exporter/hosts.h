/* SPDX-License-Identifier: MIT */
/*
 * hosts.h - check the host name by which the exporter is asked.
 *
 * A web page can make a browser on this machine send us a request: the page's own host name
 * resolves to 127.0.0.1 (DNS rebinding), and so the browser lets the page read the answer.  Such a
 * request has that name as its Host.  So we answer only these: an address in numbers, "localhost",
 * this machine's own name, and the names that --host gives.  A request without a Host does not come
 * from a browser, and is answered.
 */
#ifndef QUOIT_TOOLS_EXPORTER_HOSTS_H
#define QUOIT_TOOLS_EXPORTER_HOSTS_H

#include <limits.h>
#include <stdbool.h>

#define HOSTS_MOST 16

struct hosts {
	char own[HOST_NAME_MAX + 1];
	const char *name[HOSTS_MOST]; /* owned by the caller */
	unsigned count;
};

/* Allow this machine's own names only. */
void hosts_init(struct hosts *h);

/* Allow one more name; false: it is not valid, or there are HOSTS_MOST already. */
bool hosts_add(struct hosts *h, const char *name);

/* May a request with this Host (NULL: without one) be answered? */
bool hosts_has(const struct hosts *h, const char *host);

#endif
