/* SPDX-License-Identifier: MIT */
/* alone.c - decide whether a mark in a ring is another thread's */
#include "alone.h"
#include "refusal.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static bool has_ended(uint32_t thread)
{
	return tgkill(getpid(), (pid_t)thread, 0) < 0 && errno == ESRCH;
}

int libquoit_alone_look(struct quoit_ring *q)
{
	uint32_t mark = __atomic_load_n(&q->mark, __ATOMIC_RELAXED);

	/* A signal handler may push while the thread that it interrupts sleeps in a wait. */
	if (!mark || mark == (uint32_t)gettid() || (mark != MARK_PUSHES && has_ended(mark)))
		return 0;
	return libquoit_refuse(q, -EBUSY,
			       "another thread is using this ring: a ring serves one thread at a "
			       "time, open one for each (quoit_open_rings)");
}
