/* SPDX-License-Identifier: MIT */
/* alone.c - decide whether a mark in a ring is another thread's */
#include "alone.h"
#include "refusal.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

/*
 * The kernel is asked once for each session that the thread uses in turn.  A child of fork() has
 * other threads, and only sessions that are newer.
 */
uint32_t libquoit_alone_me(const struct quoit_ring *q)
{
	static _Thread_local struct {
		uint64_t session;
		uint32_t id;
	} me;

	if (UNLIKELY(me.session != q->session->serial)) {
		me.id = (uint32_t)gettid();
		me.session = q->session->serial;
	}
	return me.id;
}

static bool has_ended(uint32_t thread)
{
	return tgkill(getpid(), (pid_t)thread, 0) < 0 && errno == ESRCH;
}

int libquoit_alone_look(struct quoit_ring *q)
{
	uint32_t mark = __atomic_load_n(&q->mark, __ATOMIC_RELAXED);

	/* A signal handler may push while the thread that it interrupts sleeps in a wait. */
	if (!mark || mark == libquoit_alone_me(q) || (mark != MARK_PUSHES && has_ended(mark)))
		return 0;
	return libquoit_refuse(q, -EBUSY,
			       "another thread is using this ring: a ring serves one thread at a "
			       "time, open one for each (quoit_open_rings)");
}
