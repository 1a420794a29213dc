/* SPDX-License-Identifier: MIT */
/* backend_exec_sleep.c - how long a reactor sleeps, and how executors wake it */
#include <errno.h>
#include <sys/socket.h>

#include "backend_direct.h"
#include "backend_exec.h"
#include "exec_port.h"

/* How soon to look again whether an executor has taken requests and so made room. */
#define ROOM_NS 1000000u

/* Bells read at once: an executor may ring faster than the reactor reads. */
#define BELLS 64u

/*
 * An executor rings for answers only.  It does not ring when it takes a request and so makes room,
 * and the consumer on a device does not ring at all.
 */
uint64_t exec_sleep_ns(struct reactor *r)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < r->executors; i++) {
		struct exec_port *p = r->executor[i];
		uint64_t ns = p->open && p->device ? direct_sleep_ns(p, r->now) : UINT64_MAX;

		if (p->open && p->pending < QUOIT_EXEC_ENTRIES && !exec_port_has_room(p) &&
		    ns > ROOM_NS)
			ns = ROOM_NS;
		least = ns < least ? ns : least;
	}
	return least;
}

bool exec_may_sleep(struct reactor *r)
{
	bool idle = true;

	for (uint32_t i = 0; i < r->executors; i++) {
		struct exec_port *p = r->executor[i];

		if (p->open)
			idle &= quoit_ring_sleep(&p->answers, &p->daemon->need_wake);
	}
	return idle;
}

void exec_awake(struct reactor *r)
{
	for (uint32_t i = 0; i < r->executors; i++)
		if (r->executor[i]->open)
			quoit_ring_awake(&r->executor[i]->daemon->need_wake);
}

void exec_drain(struct reactor *r)
{
	for (uint32_t i = 0; i < r->executors; i++) {
		struct exec_port *p = r->executor[i];
		char bytes[64];
		ssize_t n = 1;

		if (!p->open || p->hung_up)
			continue;
		for (unsigned bells = 0; bells < BELLS && n > 0; bells++)
			n = recv(p->socket, bytes, sizeof bytes, MSG_DONTWAIT);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			exec_port_unwatch(p, r->epoll);
			exec_port_kill(p, KILL_HUNG_UP);
		}
	}
}
