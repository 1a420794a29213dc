/* SPDX-License-Identifier: MIT */
/*
 * test_idle.c - a reactor's work between two passes takes no time of the next client, and does not
 * put it to sleep.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/tsc.h"
#include "reactor/reactor.h"
#include "reactor/reactor_idle.h"
#include "memory/memory_thread.h"
#include "backend/cpu/worker.h"

#define MANY_RINGS 1000 /* too many to poll: epoll is asked for their bells */

Test(idle, no_pass_begins_before_the_chores_have_ended)
{
	struct worker_port *port = aligned_alloc(64, (sizeof *port + 63) / 64 * 64);
	struct memory_link *memory = aligned_alloc(64, sizeof *memory);
	struct reactor *r = aligned_alloc(64, sizeof *r);
	struct memory_thread *thread;

	tsc_init();
	memset(port, 0, sizeof *port);
	memset(r, 0, sizeof *r);
	memory_link_init(memory, &r->need_wake, -1);
	cr_assert_eq(memory_thread_start(memory, 1, false, &thread), 0);
	r->port = port;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->ring_count = MANY_RINGS;
	for (unsigned i = 0; i < 10; i++) {
		r->now = r->last_pass_end = r->last_stats = r->last_trim = r->noted = tsc_now();
		r->next_chores = 0;
		reactor_idle(r, true);
		cr_expect_gt(r->next_chores, 0, "they were done");
		cr_expect_geq(r->last_pass_end, r->last_work, "or it would seem to idle for ever");
		cr_expect_geq(r->last_pass_end, r->now);
	}
	memory_thread_stop(thread);
	free(memory);
	close(r->epoll);
	close(r->eventfd);
	free(r);
	free(port);
}
