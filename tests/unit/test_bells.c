/* SPDX-License-Identifier: MIT */
/* test_bells.c - which wake-ups are expensive, which thread makes these, and who waits for whom. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/dear.h"
#include "base/tsc.h"
#include "control/rests.h"
#include "core_case.h"
#include "reactor/bells.h"
#include "reactor/reactor.h"
#include "reactor/reactor_bells.h"
#include "reactor/reactor_rings.h"

#define NEVER UINT64_MAX
#define SOON  10000 /* ms: by then a running thread has done something */

/* ---- expensive wake-ups ---- */

Test(dear, cheap_wake_ups_never_add_up, .init = tsc_init)
{
	struct dear d = {0};

	for (unsigned i = 0; i < 1000; i++)
		dear_count(&d, tsc_from_ns(DEAR_FREE_NS), 1000 + i);
	cr_expect_not(dear_is(&d, 2000));
	cr_expect_eq(d.debt, 0);
}

Test(dear, one_alone_may_have_been_interrupted_and_two_were_not, .init = tsc_init)
{
	const uint64_t took = tsc_from_ns(1000000), now = tsc_from_ns(5000000);
	struct dear d = {0};

	dear_count(&d, took, now);
	cr_expect_not(dear_is(&d, now));
	dear_count(&d, took, now);
	cr_expect(dear_is(&d, now));
	cr_expect(dear_is(&d, now + DEAR_TIMES * took - 1));
	cr_expect_not(dear_is(&d, now + DEAR_TIMES * took));
}

/* On a busy machine threads lose their core in the middle of a wake-up, again and again. */
Test(dear, who_lost_its_core_once_is_timed_by_what_it_costs, .init = tsc_init)
{
	const uint64_t second = tsc_from_ns(1000000000), cheap = tsc_from_ns(1000);
	struct dear d = {0};

	for (unsigned i = 0; i < 100; i++) {
		dear_count(&d, dear_clock(&d) == dear_cpu_now ? cheap : second, 1000 + i);
		cr_expect_not(dear_is(&d, 2000));
	}
	while (d.debt)
		dear_count(&d, cheap, 1100);
	cr_expect_eq(dear_clock(&d), tsc_now);
}

Test(dear, what_is_a_little_dear_adds_up_and_cheap_ones_take_it_off, .init = tsc_init)
{
	const uint64_t little = tsc_from_ns(2 * DEAR_FREE_NS), none = 0;
	const unsigned most = DEAR_DEBT_NS / DEAR_FREE_NS;
	struct dear d = {0}, mixed = {0};

	for (unsigned i = 0; i < most + 1; i++) {
		dear_count(&d, little, 1);
		dear_count(&mixed, little, 1);
		dear_count(&mixed, none, 1);
	}
	cr_expect(dear_is(&d, 1));
	cr_expect_not(dear_is(&mixed, 1));
}

Test(dear, who_is_dear_stays_so_with_each_dear_one, .init = tsc_init)
{
	const uint64_t took = tsc_from_ns(1000000);
	struct dear d = {0};

	dear_count(&d, took, 1);
	dear_count(&d, took, 1);
	dear_count(&d, 0, took);
	cr_expect(dear_is(&d, took), "a cheap one in between changes nothing");
	dear_count(&d, took, 100 * took);
	cr_expect(dear_is(&d, 300 * took));
}

Test(dear, who_is_forgotten_is_who_has_not_been_dear_for_the_longest, .init = tsc_init)
{
	static struct dear_users all;

	for (uid_t uid = 0; uid < DEAR_USERS; uid++)
		dear_note(&all, uid)->dear.until = 1000 - uid;
	cr_expect_eq(dear_note(&all, 5)->dear.until, 995);
	cr_expect_null(dear_find(&all, 2000));
	dear_note(&all, 2000)->dear.until = 5000;
	cr_expect_null(dear_find(&all, DEAR_USERS - 1));
	cr_expect_eq(dear_find(&all, 2000)->dear.until, 5000);
}

Test(dear, a_rest_is_as_long_as_the_lesser_of_two_demands, .init = tsc_init)
{
	const uint64_t free = tsc_from_ns(DEAR_FREE_NS), took = 100 * free;
	uint64_t last = 0;

	cr_expect_eq(dear_rest(took, &last), 0, "nobody knows what else took time");
	cr_expect_eq(dear_rest(3 * took, &last), DEAR_REST * (took - free));
	cr_expect_eq(dear_rest(free, &last), 0);
	cr_expect_eq(dear_rest(took, &last), 0);
}

/* ---- the control thread ---- */

static void open_connection(struct control *c, struct connection *conn, uid_t uid, int *ret_end)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	*conn = (struct connection){.control = c,
				    .next = c->connections,
				    .uid = uid,
				    .fd = pair[0],
				    .pidfd = -1,
				    .counted = true};
	c->connections = conn;
	cr_assert_eq(budget_connect(c->budget, uid, NULL, 0), 0);
	*ret_end = pair[1];
	cr_assert_eq(rests_watch(conn), 0);
	cr_assert_eq(send(pair[1], "", 1, 0), 1);
}

/* Two have sent a message: quoitd reads only that of the client with cheap wake-ups. */
Test(rests, whose_messages_are_dear_is_not_read_until_it_has_rested, .init = tsc_init)
{
	static struct control c;
	static struct connection dear, cheap;
	const struct config config = {.uid_connections = 2};
	struct epoll_event event[3];
	int end[2];

	c.epoll = epoll_create1(EPOLL_CLOEXEC);
	c.budget = budget_new(&config);
	open_connection(&c, &dear, 1000, &end[0]);
	open_connection(&c, &cheap, 1001, &end[1]);
	for (unsigned i = 0; i < 2; i++)
		rests_count(&dear, dear_cpu_now() - tsc_from_ns(UINT64_C(1000000000)));
	cr_expect(rests_begin(&dear));
	cr_expect_not(rests_begin(&cheap));
	cr_expect(budget_one_may_leave(c.budget, 1000), "it may have ended");
	cr_expect_not(budget_one_may_leave(c.budget, 1001));
	cr_assert_eq(epoll_wait(c.epoll, event, 3, 0), 1);
	cr_expect_eq(event[0].data.ptr, &cheap);
	rests_end(&c);
	cr_expect(dear.rests, "it rests for sixteen times as long");
	cr_expect_gt(rests_timeout_ms(&c), 1000);
	dear_find(&c.dear, 1000)->rests_until = 0;
	cr_expect_eq(rests_timeout_ms(&c), 0);
	rests_end(&c);
	cr_expect_not(dear.rests);
	cr_expect_not(budget_one_may_leave(c.budget, 1000));
	cr_expect_eq(epoll_wait(c.epoll, event, 3, 0), 2, "what it has sent is still there");
	close(c.epoll);
	budget_free(c.budget);
	for (unsigned i = 0; i < 2; i++) {
		close(end[i]);
		close(i ? cheap.fd : dear.fd);
	}
}

/* Else a user's connections that end while they wait would use up what may wait. */
Test(rests, who_ends_while_it_waits_is_not_among_those_that_wait)
{
	static struct control c;
	static struct connection conn;
	const struct config config = {.uid_connections = 1};

	c.budget = budget_new(&config);
	conn = (struct connection){.control = &c, .uid = 1000, .counted = true};
	cr_assert_eq(budget_connect(c.budget, 1000, NULL, 0), 0);
	cr_assert(connection_wait(&conn));
	cr_expect_eq(c.waiting, 1);
	connection_set_gone(&conn);
	cr_expect_eq(c.waiting, 0);
	cr_expect_eq(budget_of(c.budget, 1000)->waiting, 0);
	budget_free(c.budget);
}

/* ---- recorders ---- */

Test(rests, whose_recorders_look_for_long_rests_and_nobody_else, .init = tsc_init)
{
	static struct control c;
	const uint64_t ms = tsc_from_ns(1000000);

	cr_expect_not(rests_records_ms(&c, 1000));
	rests_record(&c, 1000, dear_cpu_now() - ms);
	cr_expect_not(rests_records_ms(&c, 1000), "a little is saved up");
	rests_record(&c, 1000, dear_cpu_now() - 10000 * ms);
	cr_expect(rests_records_ms(&c, 1000));
	cr_expect_not(rests_records_ms(&c, 1001));
}

/* ---- the thread that makes them ---- */

#define CLIENTS 2

static struct reactor *reactor;
static struct bell_link *link_;
static struct bells *bells;
static struct client {
	struct session *session;
	struct ring *ring;
	int end; /* the client's end of the ring's socket */
} client[CLIENTS];

static void open_client(struct client *c, uid_t uid)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
	c->session = core_session(64);
	c->ring = core_ring(c->session);
	c->ring->session = c->session;
	close(c->ring->socket);
	c->ring->socket = pair[0];
	c->end = pair[1];
	c->session->reactor = reactor;
	c->session->user = calloc(1, sizeof *c->session->user + sizeof c->session->user->tenant[0]);
	c->session->user->uid = uid;
	c->session->user->tenant[0].user = c->session->user;
	cr_assert_eq(reactor_add_ring(reactor, c->ring), 0);
}

static void close_client(struct client *c)
{
	struct user *user = c->session->user;

	close(c->end);
	core_session_free(c->session);
	free(user);
}

static void open_all(void)
{
	cpu_set_t any;

	tsc_init();
	CPU_ZERO(&any);
	reactor = aligned_alloc(64, sizeof *reactor);
	link_ = aligned_alloc(64, sizeof *link_);
	memset(reactor, 0, sizeof *reactor);
	reactor->eventfd = eventfd(0, EFD_CLOEXEC);
	reactor->epoll = epoll_create1(EPOLL_CLOEXEC);
	reactor->now = tsc_now();
	reactor->bells = link_;
	reactor->need_wake = 1;
	bell_link_init(link_, &reactor->need_wake, reactor->eventfd);
	cr_assert_eq(bells_start(link_, 1, &any, &bells), 0);
	for (unsigned i = 0; i < CLIENTS; i++)
		open_client(&client[i], 1000 + i);
}

static void close_all(void)
{
	bells_stop(bells);
	for (unsigned i = 0; i < CLIENTS; i++)
		close_client(&client[i]);
	close(reactor->eventfd);
	close(reactor->epoll);
	free(reactor);
	free(link_);
}

TestSuite(bells, .init = open_all, .fini = close_all, .timeout = 60);

static struct tenant *tenant_of(const struct client *c)
{
	return &c->session->user->tenant[0];
}

static void make_dear(const struct client *c)
{
	tenant_of(c)->dear.until = NEVER;
}

/* The reactor sleeps until the thread has answered. */
static void await_answer(void)
{
	struct pollfd p = {.fd = reactor->eventfd, .events = POLLIN};
	uint64_t count;

	cr_assert_eq(poll(&p, 1, SOON), 1);
	cr_assert_eq(read(reactor->eventfd, &count, sizeof count), sizeof count);
	cr_assert(reactor_bells_answers(reactor));
}

static int bytes_at(const struct client *c)
{
	char byte;
	int n = 0;

	while (recv(c->end, &byte, 1, MSG_DONTWAIT) == 1)
		n++;
	return n;
}

Test(bells, who_is_cheap_is_rung_by_the_reactor)
{
	reactor_bells_ring(client[0].ring, BELL_RING);
	cr_expect_eq(bytes_at(&client[0]), 1);
	cr_expect_eq(reactor->count[QUOIT_REACTOR_DEAR_WAKES], 0);
	cr_expect_not(client[0].ring->bells_asked);
	cr_expect_gt(client[0].session->core_ticks, 0, "it has paid");
	cr_expect_lt(tenant_of(&client[0])->balance, 0);
}

Test(bells, who_is_dear_is_rung_by_the_thread_and_pays_all_the_same)
{
	make_dear(&client[0]);
	reactor_bells_ring(client[0].ring, BELL_RING);
	cr_expect(client[0].ring->bells_asked);
	cr_expect_eq(client[0].session->requests, 1, "the session stays until it is answered");
	await_answer();
	cr_expect_eq(bytes_at(&client[0]), 1);
	cr_expect_eq(reactor->count[QUOIT_REACTOR_DEAR_WAKES], 1);
	cr_expect_not(client[0].ring->bells_asked);
	cr_expect_eq(client[0].session->requests, 0);
	cr_expect_gt(client[0].session->core_ticks, 0);
	cr_expect_eq(client[1].session->core_ticks, 0);
	cr_expect_null(reactor->leaves, "it does not leave");
}

Test(bells, who_leaves_is_looked_at_once_the_thread_has_answered)
{
	make_dear(&client[0]);
	client[0].session->leaving = true;
	reactor_bells_ring(client[0].ring, BELL_RING);
	await_answer();
	cr_expect_eq(reactor->leaves, client[0].session);
}

#define EPOLLS 64
#define COPIES 64

struct watches {
	int epoll[EPOLLS], copy[COPIES];
};

static void watch(struct watches *w, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	for (unsigned i = 0; i < COPIES; i++)
		w->copy[i] = dup(fd);
	for (unsigned i = 0; i < EPOLLS; i++) {
		w->epoll[i] = epoll_create1(0);
		for (unsigned k = 0; k < COPIES; k++)
			cr_assert_eq(epoll_ctl(w->epoll[i], EPOLL_CTL_ADD, w->copy[k], &event), 0);
	}
}

static void unwatch(const struct watches *w)
{
	for (unsigned i = 0; i < EPOLLS; i++)
		close(w->epoll[i]);
	for (unsigned i = 0; i < COPIES; i++)
		close(w->copy[i]);
}

Test(bells, watches_make_a_client_dear)
{
	struct watches w;

	watch(&w, client[0].end);
	for (unsigned i = 0; i < 100 && !reactor->count[QUOIT_REACTOR_DEAR_WAKES]; i++) {
		reactor_bells_ring(client[0].ring, BELL_RING);
		bytes_at(&client[0]);
		reactor->now = tsc_now();
	}
	cr_expect_eq(reactor->count[QUOIT_REACTOR_DEAR_WAKES], 1);
	reactor_bells_ring(client[1].ring, BELL_RING);
	cr_expect_eq(bytes_at(&client[1]), 1, "nobody else is");
	await_answer();
	unwatch(&w);
}

/*
 * The reactor rests 256 times as long as an expensive wake-up took before it makes the next one
 * itself.  So of many in a row it makes hardly any, and all bytes arrive.
 */
Test(bells, of_many_dear_ones_the_reactor_makes_few)
{
	enum { ALL = 200, FEW = 20 };
	unsigned mine = 0, bytes = 0;
	struct watches w;

	watch(&w, client[0].end);
	for (unsigned i = 0; i < ALL; i++) {
		reactor->now = tsc_now();
		reactor_bells_ring(client[0].ring, BELL_RING);
		mine += !client[0].ring->bells_asked;
		while (client[0].ring->bells_asked)
			await_answer();
		bytes += bytes_at(&client[0]);
	}
	cr_expect_leq(mine, FEW, "%u of %u", mine, ALL);
	cr_expect_eq(bytes, ALL);
	cr_expect_eq(reactor->count[QUOIT_REACTOR_DEAR_WAKES], ALL - mine);
	unwatch(&w);
}

Test(bells, what_is_wanted_meanwhile_is_done_after_it)
{
	struct ring *ring = client[0].ring;

	make_dear(&client[0]);
	reactor_bells_ring(ring, BELL_RING);
	reactor_bells_ring(ring, BELL_RING);
	reactor_bells_ring(ring, BELL_WAKE);
	cr_expect_eq(reactor->count[QUOIT_REACTOR_DEAR_WAKES], 1, "one at a time");
	while (ring->bells_asked)
		await_answer();
	cr_expect_eq(bytes_at(&client[0]), 2);
}

Test(bells, a_socket_that_is_full_has_been_rung)
{
	client[0].ring->armed = 7;
	for (unsigned i = 0; i < 10000; i++)
		reactor_bells_ring(client[0].ring, BELL_RING);
	cr_expect_lt(bytes_at(&client[0]), 10000);
	cr_expect_eq(client[0].ring->armed, 7);
}

Test(bells, a_dear_doorbell_is_heard_by_the_thread)
{
	struct ring *ring = client[0].ring;
	struct epoll_event event;

	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(send(client[0].end, "", 1, 0), 1);
	make_dear(&client[0]);
	cr_assert(reactor_rings_may_sleep(reactor));
	cr_assert_eq(epoll_wait(reactor->epoll, &event, 1, 0), 1);
	reactor_bells_hear(reactor, ring, false);
	cr_expect_eq(ring->place, RING_POLLED, "its SQEs wait for nothing");
	await_answer();
	cr_expect_eq(client[0].session->kicks, 3);
	cr_assert_eq(send(client[0].end, "", 1, 0), 1);
	cr_expect_eq(epoll_wait(reactor->epoll, &event, 1, SOON), 1, "it is listened to again");
}

Test(bells, one_that_is_not_heard_yet_says_nothing_twice)
{
	struct ring *ring = client[0].ring;
	struct epoll_event event;

	tenant_of(&client[0])->dear.until = NEVER;
	client[0].session->user->at_bells.rests_until = NEVER; /* the thread must not get to it */
	cr_assert_eq(send(client[0].end, "", 1, 0), 1);
	cr_assert_eq(epoll_wait(reactor->epoll, &event, 1, 0), 1);
	reactor_bells_hear(reactor, ring, false);
	cr_expect_eq(epoll_wait(reactor->epoll, &event, 1, 0), 0);
	close(client[0].end);
	cr_expect_eq(epoll_wait(reactor->epoll, &event, 1, 0), 1, "but that it has hung up");
	reactor_bells_hear(reactor, ring, true);
	cr_expect(ring->hung_up);
	cr_expect_eq(epoll_wait(reactor->epoll, &event, 1, 0), 0);
	client[0].end = dup(reactor->eventfd);
}

Test(bells, who_rests_holds_up_nobody_else)
{
	make_dear(&client[0]);
	make_dear(&client[1]);
	client[0].session->user->at_bells.rests_until = NEVER;
	reactor_bells_ring(client[0].ring, BELL_RING);
	reactor_bells_ring(client[1].ring, BELL_RING);
	await_answer();
	cr_expect_eq(bytes_at(&client[1]), 1);
	cr_expect_eq(bytes_at(&client[0]), 0);
	cr_expect(client[0].ring->bells_asked);
}

Test(bells, who_was_dear_is_so_when_it_comes_again)
{
	struct tenant *t = tenant_of(&client[0]);

	make_dear(&client[0]);
	reactor_bells_leave(reactor, t);
	t->dear = (struct dear){0};
	reactor_bells_meet(reactor, tenant_of(&client[1]));
	cr_expect_eq(tenant_of(&client[1])->dear.until, 0);
	reactor_bells_meet(reactor, t);
	cr_expect_eq(t->dear.until, NEVER);
}
