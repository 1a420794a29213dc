/* SPDX-License-Identifier: MIT */
/*
 * test_idle.c - a reactor's work between two passes takes no time of the next client, and does not
 * put it to sleep.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "backend/backend.h"
#include "backend/cpu/worker_private.h"
#include "backend/executor/exec_port.h"
#include "backend/file/backend_io.h"
#include "base/tsc.h"
#include "core_case.h"
#include "machine/features.h"
#include "memory/memory.h"
#include "memory/memory_thread.h"
#include "reactor/bells.h"
#include "reactor/reactor.h"
#include "reactor/reactor_idle.h"
#include "session/tables.h"

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

/* ---- the last look before a sleep ---- */

/* A reactor without sessions, and all ways in which work may come to it. */
struct ways {
	struct reactor *r;
	struct memory_link *memory;
	struct bell_link *bells;
	struct worker_port *port;
	struct workers workers;
	uint32_t cores;
	struct exec_port *exec;
	struct quoit_exec_daemon_channel *daemon_side;
	struct quoit_exec_channel *exec_side;
	struct quoit_producer from_exec;
};

static struct ways w;

static void *zeroed(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	cr_assert(p);
	return memset(p, 0, bytes);
}

static void open_executor(void)
{
	w.exec = zeroed(sizeof *w.exec);
	w.daemon_side = zeroed(sizeof *w.daemon_side);
	w.exec_side = zeroed(sizeof *w.exec_side);
	w.exec->open = true;
	w.exec->socket = w.exec->starter = -1;
	w.exec->daemon = w.daemon_side;
	w.exec->exec = w.exec_side;
	quoit_consumer_init(&w.exec->answers, &w.daemon_side->answer_head,
			    &w.exec_side->answer_tail, QUOIT_EXEC_ENTRIES);
	quoit_producer_init(&w.exec->requests, &w.daemon_side->request_tail,
			    &w.exec_side->request_head, QUOIT_EXEC_ENTRIES);
	quoit_producer_init(&w.from_exec, &w.exec_side->answer_tail, &w.daemon_side->answer_head,
			    QUOIT_EXEC_ENTRIES);
	w.r->executor[0] = w.exec;
	w.r->executors = 1;
}

static void open_ways(void)
{
	struct features features = {0};

	tsc_init();
	w.r = zeroed(sizeof *w.r);
	w.memory = zeroed(sizeof *w.memory);
	w.bells = zeroed(sizeof *w.bells);
	w.port = zeroed(sizeof *w.port);
	w.r->epoll = epoll_create1(EPOLL_CLOEXEC);
	w.r->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	mailbox_init(&w.r->inbox, &w.r->need_wake, w.r->eventfd);
	memory_link_init(w.memory, &w.r->need_wake, w.r->eventfd);
	bell_link_init(w.bells, &w.r->need_wake, w.r->eventfd);
	w.workers = (struct workers){
		.config = {.workers = 1, .reactors = 1}, .port = w.port, .cores = &w.cores};
	cr_assert_eq(worker_port_open(w.port, &w.workers), 0);
	w.r->memory = w.memory;
	w.r->bells = w.bells;
	w.r->port = w.port;
	cr_assert_eq(io_new(false, &w.r->need_wake, w.r->eventfd, &features, &w.r->io), 0);
	open_executor();
}

TestSuite(last_look, .init = open_ways, .timeout = 60);

/* Idle for long; a deadline has passed, so that no sleep lasts.  Has it gone to sleep? */
static bool sleeps(void)
{
	uint64_t before = w.r->count[QUOIT_REACTOR_SLEEPS];

	w.r->now = w.r->last_pass = w.r->last_stats = w.r->last_trim = w.r->noted = tsc_now();
	w.r->next_chores = UINT64_MAX;
	w.r->next_deadline = 0;
	reactor_idle(w.r, false);
	return w.r->count[QUOIT_REACTOR_SLEEPS] != before;
}

static void come(struct quoit_producer *p)
{
	uint32_t index;

	cr_assert(quoit_ring_reserve(p, &index));
	quoit_ring_submit(p);
}

Test(last_look, finds_nothing)
{
	cr_expect(sleeps());
	cr_expect(sleeps());
}

Test(last_look, finds_mail)
{
	mailbox_send(&w.r->inbox, &(struct mail){.type = MAIL_CLOSE});
	cr_expect_not(sleeps());
}

Test(last_look, finds_a_worker_that_is_done)
{
	come(&w.port->done[0].producer);
	cr_expect_not(sleeps());
}

Test(last_look, finds_an_answer_of_the_memory_thread)
{
	come(&w.memory->answers);
	cr_expect_not(sleeps());
}

Test(last_look, finds_an_answer_of_the_thread_for_slow_wake_ups)
{
	come(&w.bells->answers);
	cr_expect_not(sleeps());
}

Test(last_look, finds_an_answer_of_an_executor)
{
	come(&w.from_exec);
	cr_expect_not(sleeps());
}

Test(last_look, finds_sessions_to_be_looked_at)
{
	w.r->leaves = (struct session *)w.r;
	cr_expect_not(sleeps());
	w.r->leaves = NULL;
	cr_expect(sleeps());
}

/* The transfer ends at some time, and is not looked at: from then on there is no sleep. */
Test(last_look, finds_the_end_of_a_transfer)
{
	struct session *s = core_session(16);
	struct user *user = zeroed(sizeof *user + sizeof user->tenant[0]);
	FILE *file = tmpfile();
	struct job *job;
	uint32_t view;

	cr_assert(file);
	s->reactor = w.r;
	s->user = user;
	core_create(s, 1, QUOIT_F32, 1, 1, 1, 4);
	view = session_view(s, CORE_HANDLE(1));
	cr_assert(memory_take_now(s, 1, &view));
	s->files[0] = (struct file_slot){.fd = fileno(file), .writable = true};
	job = tables_take_job(s);
	memset(job, 0, sizeof *job);
	job->sqe = (struct quoit_sqe){.opcode = QUOIT_OP_FILE_WRITE};
	job->view[0] = view;
	cr_assert_eq(file_backend.start(w.r, s, job), 0);
	while (file_backend.may_sleep(w.r))
		usleep(1000);
	cr_expect_not(sleeps());
}
