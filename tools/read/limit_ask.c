/* SPDX-License-Identifier: MIT */
/* limit_ask.c - ask quoitd about something with a name for which a session waits */
#include <unistd.h>

#include "control.h"
#include "limit.h"
#include "runtime.h"

/* A stopped quoitd must not hold up each look of a tool that looks again and again. */
#define ASK_MS 300

void limits_ask(struct limits *limits, const char *socket)
{
	struct quoit_ctl m = {
		.type = QUOIT_CTL_SERVICES, .seq = 1, .services.service = limits->named.number};
	int fd;

	limits->asked = (struct limits_asked){0};
	if (limits->by < LIMIT_THREADS)
		return;
	fd = runtime_connect(socket, ASK_MS);
	if (fd < 0)
		return;
	if (control_exchange(fd, &m, NULL) == 0 && !m.result &&
	    m.service_reply.service == limits->named.number && m.service_reply.known)
		limits->asked = (struct limits_asked){.known = true,
						      .holder = m.service_reply.holder,
						      .waiting = m.service_reply.waiting,
						      .running = m.service_reply.running};
	close(fd);
}
