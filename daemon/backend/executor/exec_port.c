/* SPDX-License-Identifier: MIT */
/* exec_port.c - requests through a port, and what is known of the process behind it */
#include "exec_port.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ctl_io.h"
#include "base/log.h"

#define MASK (QUOIT_EXEC_ENTRIES - 1)

void exec_port_open(struct exec_port *p, int epoll)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	quoit_producer_init(&p->requests, &p->daemon->request_tail, &p->exec->request_head,
			    QUOIT_EXEC_ENTRIES);
	quoit_consumer_init(&p->answers, &p->daemon->answer_head, &p->exec->answer_tail,
			    QUOIT_EXEC_ENTRIES);
	p->pending = 0;
	p->culprit = 0;
	p->asking = (struct exec_asking){0};
	p->idle_since = 0;
	memset(p->watch, 0, sizeof p->watch);
	p->open = true;
	p->queried = 0;
	p->unsent = 0;
	p->lied = false;
	p->hung_up = epoll_ctl(epoll, EPOLL_CTL_ADD, p->socket, &event) < 0;
	if (p->hung_up)
		exec_port_kill(p, KILL_UNHEARD);
}

void exec_port_unwatch(struct exec_port *p, int epoll)
{
	if (!p->hung_up)
		(void)epoll_ctl(epoll, EPOLL_CTL_DEL, p->socket, NULL);
	p->hung_up = true;
}

void exec_port_tell_starter(const struct exec_port *p)
{
	uint64_t one = 1;
	ssize_t n = write(p->starter, &one, sizeof one);

	(void)n;
}

void exec_port_kill(struct exec_port *p, enum exec_kill why)
{
	uint32_t none = KILL_NOT;

	/* Several reactors may want to kill it; the first one's reason stands. */
	if (!atomic_compare_exchange_strong(&p->killed, &none, why))
		return;
	exec_port_kill_process(p->pid);
	exec_port_tell_starter(p); /* the starter waits for the end, but not for ever */
}

void exec_port_kill_process(pid_t pid)
{
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL); /* it may have left its group */
}

uint64_t exec_port_running(const struct exec_port *p, uint32_t i)
{
	return p->open ? __atomic_load_n(&p->words->running[i], __ATOMIC_RELAXED) : 0;
}

bool exec_port_works(const struct exec_port *p)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < QUOIT_EXEC_STREAMS; i++)
		any |= exec_port_running(p, i);
	return any;
}

void exec_port_count_queries(struct exec_port *p)
{
	uint64_t now;

	/* A user's own process may claim any count. */
	if (!p->open || p->channel || atomic_load_explicit(&p->owner, memory_order_relaxed))
		return;
	now = __atomic_load_n(&p->words->queries, __ATOMIC_RELAXED);
	p->count.queries += now - p->queried;
	p->queried = now;
}

bool exec_port_can_name(const struct exec_port *p, uint64_t name)
{
	return name >> 32 < p->channels && (uint32_t)name - 1 < EXEC_FLIGHTS;
}

const struct exec_flight *exec_port_flight(const struct exec_port *p, uint32_t i)
{
	uint64_t hint = exec_port_running(p, i);
	uint32_t id = (uint32_t)hint - 1;

	if (!exec_port_can_name(p, hint) || hint >> 32 != p->channel || !p->flight[id].session)
		return NULL;
	return &p->flight[id];
}

bool exec_port_names_unsent(const struct exec_port *p, uint32_t i)
{
	uint64_t hint = exec_port_running(p, i);

	return hint && (!exec_port_can_name(p, hint) ||
			(hint >> 32 == p->channel && !exec_port_flight(p, i)));
}

bool exec_port_runs(const struct exec_port *p, const struct exec_flight *f)
{
	bool runs = false;

	for (uint32_t i = 0; i < QUOIT_EXEC_STREAMS; i++)
		runs |= exec_port_flight(p, i) == f;
	return runs;
}

uint64_t exec_port_name(const struct exec_port *p, const struct exec_flight *f)
{
	return (uint64_t)p->channel << 32 | ((uint64_t)(f - p->flight) + 1);
}

/* ---- requests ---- */

bool exec_port_has_room(struct exec_port *p)
{
	if (quoit_ring_space(&p->requests))
		return p->pending < QUOIT_EXEC_ENTRIES;
	if (!quoit_ring_refresh(&p->requests)) /* it claims requests that were never sent */
		exec_port_kill(p, KILL_RINGS);
	return p->pending < QUOIT_EXEC_ENTRIES && quoit_ring_space(&p->requests);
}

bool exec_port_owes(struct exec_port *p)
{
	return p->pending || !exec_port_has_room(p);
}

/* Sending is tried again and again; each new reason is logged once. */
static void say_unsent(struct exec_port *p, int err)
{
	if (err != p->unsent && err != -EAGAIN && err != -EPIPE && err != -ECONNRESET)
		log_warning("cannot send to quoit-exec, pid %d, so its jobs wait: %s", (int)p->pid,
			    strerror(-err));
	p->unsent = err;
}

bool exec_port_send(struct exec_port *p, const void *message, size_t size, const int *fds,
		    unsigned count)
{
	int err = ctl_send_bytes(p->socket, message, size, fds, count);

	say_unsent(p, err);
	return !err;
}

static bool is_answered(uint8_t type)
{
	return type != QUOIT_EXEC_DROP && type != QUOIT_EXEC_UNLOAD && type != QUOIT_EXEC_CANCEL;
}

void exec_port_request(struct exec_port *p, const struct quoit_exec_request *q)
{
	uint32_t i = 0;

	(void)quoit_ring_reserve(&p->requests, &i);
	p->daemon->request[i & MASK] = *q;
	p->pending += is_answered(q->type);
	p->count.requests++;
}

void exec_port_ring(struct exec_port *p)
{
	/* A full socket is success: bells wait there already. */
	(void)send(p->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	p->count.bells++;
}

void exec_port_flush(struct exec_port *p)
{
	if (p->requests.next != p->requests.published &&
	    quoit_ring_submit_wake(&p->requests, &p->words->need_wake))
		exec_port_ring(p);
}
