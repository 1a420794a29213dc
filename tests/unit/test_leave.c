/* SPDX-License-Identifier: MIT */
/*
 * test_leave.c - quoitd looks at leaving sessions only after it has done something for them,
 * however many there are.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "backend/cpu/worker_private.h"
#include "backend/file/backend_io.h"
#include "base/tsc.h"
#include "core_case.h"
#include "machine/features.h"
#include "memory/memory_thread.h"
#include "reactor/reactor.h"
#include "reactor/reactor_leave.h"
#include "reactor/start.h"
#include "session/links.h"
#include "session/run_queue.h"
#include "store/region.h"

#define MANY 40

static struct reactor *reactor;
static struct memory_link *memory;
static struct memory_thread *memory_thread;
static struct mailbox *outbox;
static uint32_t need_wake;
static struct user *user;
static struct session *session[MANY];

static struct session *come(void)
{
	struct session *s = core_session(8);

	s->reactor = reactor;
	s->user = user;
	s->counters_current = true;
	region_close(&s->region); /* otherwise the memory thread would have to do it */
	s->region.base = NULL;
	ring_free(s->rings[0]); /* it must not hear of anything */
	s->rings[0] = NULL;
	if (!user->tenant[0].session_count++)
		tenancy_add(&reactor->tenancy, &user->tenant[0]);
	reactor_take_in(reactor, s);
	return s;
}

static void open_all(void)
{
	tsc_init();
	outbox = aligned_alloc(64, sizeof *outbox);
	mailbox_init(outbox, &need_wake, -1);
	reactor = aligned_alloc(64, sizeof *reactor);
	memset(reactor, 0, sizeof *reactor);
	reactor->port = aligned_alloc(64, sizeof *reactor->port);
	memset(reactor->port, 0, sizeof *reactor->port);
	memory = aligned_alloc(64, sizeof *memory);
	memory_link_init(memory, &need_wake, -1);
	cr_assert_eq(memory_thread_start(memory, 1, false, &memory_thread), 0);
	reactor->memory = memory;
	reactor->outbox = outbox;
	reactor->now = tsc_now();
	tenancy_init(&reactor->tenancy, 1000, 1000);
	user = calloc(1, sizeof *user + sizeof user->tenant[0]);
	user->share = 100;
	user->tenant[0].user = user;
	for (unsigned i = 0; i < MANY; i++)
		session[i] = come();
}

static void close_all(void)
{
	for (unsigned i = 0; i < MANY; i++)
		core_session_free(session[i]);
	memory_thread_stop(memory_thread);
	free(memory);
	free(user);
	free(reactor->port);
	free(reactor);
	free(outbox);
}

TestSuite(leave, .init = open_all, .fini = close_all, .timeout = 60);

/* Each has a job of minutes. */
static void end_all(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		session[i]->open.now = 1;
		reactor_end_session(reactor, session[i], MAIL_CLOSE, 0);
	}
}

static unsigned seen(void)
{
	unsigned n = 0;

	for (const struct session *s = reactor->leaves; s; s = s->leaves)
		n++;
	return n;
}

/* For a pass of any length. */
static void look_at_all(void)
{
	while (reactor->leaves)
		reactor_let_go(reactor);
}

static unsigned gone(void)
{
	struct mail m;
	unsigned n = 0;

	while (mailbox_receive(outbox, &m))
		n++;
	return n;
}

Test(leave, who_waits_for_its_jobs_is_looked_at_once)
{
	end_all();
	cr_expect_eq(seen(), MANY);
	look_at_all();
	cr_expect_eq(seen(), 0, "nobody is looked at again in vain");
	cr_expect_not(reactor_let_go(reactor));
	cr_expect_eq(gone(), 0);
}

Test(leave, of_whom_a_job_has_ended_is_looked_at_and_nobody_else)
{
	end_all();
	look_at_all();
	reactor_attend(reactor, session[7]);
	reactor_attend(reactor, session[7]);
	cr_expect_eq(seen(), 1);
	cr_expect_eq(reactor->leaves, session[7]);
	session[7]->open.now = 0;
	look_at_all();
	cr_expect_eq(gone(), 1);
	cr_expect_not(reactor_has(reactor, session[7]));
	cr_expect(reactor_has(reactor, session[8]));
	cr_expect_eq(reactor->session_count, MANY - 1);
}

Test(leave, who_is_not_to_go_is_not_looked_at)
{
	reactor_attend(reactor, session[0]);
	cr_expect_null(reactor->leaves);
}

Test(leave, whose_job_ended_pays_for_the_look)
{
	end_all();
	reactor->charged = tsc_now();
	look_at_all();
	reactor_discharge(reactor, session[MANY - 1]);
	for (unsigned i = 0; i < MANY; i++)
		cr_expect_gt(session[i]->core_ticks, 0);
}

Test(leave, all_may_go_in_any_order_and_leave_no_trace)
{
	end_all();
	for (unsigned i = 0; i < MANY; i++) {
		struct session *s = session[i * 17 % MANY];

		s->open.now = 0;
		reactor_attend(reactor, s);
		look_at_all();
		cr_expect_not(reactor_has(reactor, s));
	}
	cr_expect_eq(gone(), MANY);
	cr_expect_null(reactor->sessions);
	cr_expect_null(reactor->stale);
	cr_expect_null(reactor->tenancy.first);
	for (unsigned i = 0; i < REACTOR_PLACES; i++)
		cr_expect_null(reactor->place[i]);
}

Test(links, lists_are_left_from_anywhere)
{
	static struct session s[3];
	struct session *list = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < 3; i++) {
		LINKS_ADD(&list, &s[i], recorded);
		LINKS_ADD(&list, &s[i], recorded);
	}
	LINKS_REMOVE(&s[1], recorded);
	LINKS_REMOVE(&s[1], recorded);
	for_each_session (i, list, recorded)
		n++;
	cr_expect_eq(n, 2);
	cr_expect_not(links_has(&s[1].recorded));
	LINKS_REMOVE(&s[2], recorded);
	LINKS_REMOVE(&s[0], recorded);
	cr_expect_null(list);
}

/* ---- a client that died ---- */

static struct work *publish(const struct session *s)
{
	struct work *work = worker_slot(reactor->port);

	cr_assert(work);
	work->impl = &(const struct op_impl){0};
	work->session = (struct session *)s;
	work->session_id = s->id;
	atomic_store(&work->abandoned, false);
	worker_publish(reactor->port, work);
	return work;
}

/* Its number goes to another user. */
Test(leave, user_who_waited_for_places_wants_nothing_when_it_has_left)
{
	struct tenant *t = &user->tenant[0];
	struct ledger_page *page;

	reactor->port->ledger = calloc(1, sizeof *reactor->port->ledger);
	page = &reactor->port->ledger->user[user->number].page;
	run_queue_add(&t->turns[TURN_PUBLISH], TURN_PUBLISH, session[0]);
	start_await(reactor, t);
	start_await(reactor, t);
	cr_expect_eq(atomic_load(&page->works), 1);
	end_all();
	for (unsigned i = 0; i < MANY; i++) {
		session[i]->open.now = 0;
		reactor_look(reactor, session[i]);
	}
	look_at_all();
	cr_expect_eq(reactor->session_count, 0);
	cr_expect_eq(atomic_load(&page->works), 0);
	free(reactor->port->ledger);
}

/* Nobody reads what they would write, and until they end its memory cannot go. */
Test(leave, works_of_a_dead_client_run_on_to_no_end)
{
	static uint32_t cores = 1;
	struct workers all = {
		.config = {.workers = 1, .reactors = 1}, .port = reactor->port, .cores = &cores};
	struct work *of_dead, *of_closed, *of_other;
	struct features features = {0};

	cr_assert_eq(io_new(false, &need_wake, -1, &features, &reactor->io), 0);
	cr_assert_eq(worker_port_open(reactor->port, &all), 0);
	reactor->port->ledger = calloc(1, sizeof *reactor->port->ledger);
	for (unsigned i = 0; i < 3; i++)
		session[i]->open.now = 1;
	of_dead = publish(session[0]);
	of_closed = publish(session[1]);
	of_other = publish(session[2]);
	reactor_end_session(reactor, session[0], MAIL_DEAD, 0);
	reactor_end_session(reactor, session[1], MAIL_CLOSE, 0);
	cr_expect(atomic_load(&of_dead->abandoned));
	cr_expect_not(atomic_load(&of_closed->abandoned), "its client waits for it");
	cr_expect_not(atomic_load(&of_other->abandoned));
	cr_expect(session[0]->stopped && session[0]->dead);
	cr_expect_not(session[1]->stopped);
	io_free(reactor->io);
	free(reactor->port->ledger);
	worker_port_close(reactor->port);
}
