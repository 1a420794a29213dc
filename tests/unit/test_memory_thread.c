/* SPDX-License-Identifier: MIT */
/* test_memory_thread.c - users take turns at the thread that allocates pages and frees them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "memory/memory_thread.h"
#include "reactor/reactor.h"
#include "session/session.h"

#define LEASE       (UINT64_C(64) << 20)
#define MAX_BUFFERS 16
#define VISITORS    8
#define LARGE       (8 * MEMORY_PART_BYTES)

static struct memory_link *reactor; /* the reactor that asks, and another */
static struct memory_thread *thread;
static uint32_t need_wake;
static int bell;

static struct {
	struct session session;
	uint32_t *words;
} visitor[VISITORS];
static unsigned visitors;
static struct user *users; /* all users of the test */

static void open_link(void)
{
	reactor = aligned_alloc(64, 2 * sizeof *reactor);
	bell = eventfd(0, EFD_CLOEXEC);
	for (unsigned i = 0; i < 2; i++)
		memory_link_init(&reactor[i], &need_wake, bell);
}

static void close_link(void)
{
	memory_thread_stop(thread);
	close(bell);
	free(reactor);
	while (visitors--) {
		region_close(&visitor[visitors].session.region);
		free(visitor[visitors].words);
	}
	for (struct user *next; users; users = next) {
		next = users->next;
		free(users);
	}
}

TestSuite(memory_thread, .init = open_link, .fini = close_link, .timeout = 60);

static struct user *new_user(uint32_t share)
{
	struct user *u = calloc(1, sizeof *u + sizeof u->tenant[0]);

	cr_assert(u);
	u->share = share;
	u->next = users;
	users = u;
	return u;
}

static struct session *session_of(struct user *u)
{
	struct session *s = &visitor[visitors].session;
	uint32_t *words = calloc(region_words(LEASE, MAX_BUFFERS), sizeof *words);

	visitor[visitors++].words = words;
	cr_assert_eq(region_open(&s->region, LEASE, LEASE, MAX_BUFFERS, words), 0);
	s->pinned_fd = s->bridge.fd = s->arena_memory.fd = -1;
	s->pinned_buffer = UINT32_MAX;
	s->user = u;
	return s;
}

/* A session of a new user. */
static struct session *new_session(void)
{
	return session_of(new_user(SHARE_NORMAL));
}

/* Ask before the thread starts, so that it finds all requests.  The answer returns `tag`. */
static void ask(struct session *s, enum memory_op op, uint64_t offset, uint64_t bytes, uint32_t tag)
{
	uint32_t i = 0;

	cr_assert(quoit_ring_reserve(&reactor->to_thread, &i));
	reactor->request[i % MEMORY_ENTRIES] = (struct memory_message){
		.op = (uint8_t)op, .session = s, .offset = offset, .bytes = bytes, .job = tag};
	quoit_ring_submit(&reactor->to_thread);
}

static void start(void)
{
	cr_assert_eq(memory_thread_start(reactor, 2, false, &thread), 0);
}

static struct memory_message answer_to(struct memory_link *l)
{
	const struct memory_message *next;
	struct memory_message m;

	while (!(next = memory_next_answer(l)))
		poll(NULL, 0, 1);
	m = *next;
	memory_answer_done(l);
	return m;
}

static struct memory_message answer(void)
{
	return answer_to(reactor);
}

static uint64_t resident(const struct session *s)
{
	struct stat st;

	cr_assert_eq(fstat(s->region.fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

Test(memory_thread, a_small_request_does_not_wait_for_another_sessions_large_one)
{
	struct session *greedy = new_session(), *modest = new_session();

	ask(greedy, MEMORY_ALLOCATE, 0, LARGE, 1);
	ask(modest, MEMORY_ALLOCATE, 0, PAGE_BYTES, 2);
	start();
	cr_assert_eq(answer().job, 2);
	cr_assert_eq(answer().job, 1);
	cr_assert_eq(resident(greedy), LARGE);
	cr_assert_eq(resident(modest), PAGE_BYTES);
}

/* If sessions took turns, each of the many would have as many turns as the other user's one. */
Test(memory_thread, a_user_with_many_sessions_has_no_more_turns_than_one_with_one)
{
	struct user *many = new_user(SHARE_NORMAL);

	for (uint32_t i = 1; i < VISITORS; i++)
		ask(session_of(many), MEMORY_ALLOCATE, 0, LARGE, i);
	ask(new_session(), MEMORY_ALLOCATE, 0, LARGE, VISITORS);
	start();
	cr_assert_eq(answer().job, VISITORS);
}

/*
 * One user begins, and then the other has ten thousand times as much time, more than all of that
 * takes.
 */
Test(memory_thread, users_have_turns_by_their_shares)
{
	ask(session_of(new_user(SHARE_MOST)), MEMORY_ALLOCATE, 0, LEASE, 1);
	ask(session_of(new_user(SHARE_LEAST)), MEMORY_ALLOCATE, 0, 2 * MEMORY_PART_BYTES, 2);
	start();
	cr_assert_eq(answer().job, 1);
	cr_assert_eq(answer().job, 2);
}

Test(memory_thread, requests_of_one_session_are_served_in_order)
{
	struct session *s = new_session();

	ask(s, MEMORY_ALLOCATE, 0, LARGE, 1);
	ask(s, MEMORY_PUNCH, 0, LARGE, 2);
	ask(s, MEMORY_ALLOCATE, LARGE, PAGE_BYTES, 3);
	start();
	for (uint32_t tag = 1; tag <= 3; tag++)
		cr_assert_eq(answer().job, tag);
	cr_assert_eq(resident(s), PAGE_BYTES);
}

Test(memory_thread, requests_beyond_those_of_a_ring_wait_their_time)
{
	struct session *s = new_session();
	struct memory_message m = {.op = MEMORY_PUNCH, .session = s, .bytes = PAGE_BYTES};
	uint32_t sent = 0, answered = 0;

	for (; sent < MEMORY_ENTRIES;
	     sent++) /* the first takes a while, and others fill the ring */
		ask(s, MEMORY_ALLOCATE, 0, sent ? PAGE_BYTES : LEASE, sent);
	start();
	while (answered < 4 * MEMORY_ENTRIES) {
		m.job = sent;
		if (sent < 4 * MEMORY_ENTRIES && memory_send(reactor, &m))
			sent++;
		else
			cr_assert_eq(answer().job, answered++);
	}
}

Test(memory_thread, a_reactor_that_takes_no_answers_keeps_no_other_waiting)
{
	struct user *user = new_user(SHARE_NORMAL);
	struct session *still = session_of(user);
	struct session *other[] = {session_of(user), new_session()};
	struct memory_message m = {.op = MEMORY_PUNCH, .session = still, .bytes = PAGE_BYTES};
	uint32_t sent = 0;

	start();
	for (; sent < 8 * MEMORY_ENTRIES; sent++) { /* the thread takes them all */
		m.job = sent;
		while (!memory_send(reactor, &m))
			poll(NULL, 0, 1);
	}
	for (uint32_t i = 0; i < 2; i++) { /* of the same user, and of another */
		m = (struct memory_message){.op = MEMORY_ALLOCATE,
					    .session = other[i],
					    .bytes = PAGE_BYTES,
					    .job = 7 + i};
		cr_assert(memory_send(&reactor[1], &m));
		cr_assert_eq(answer_to(&reactor[1]).job, 7 + i);
	}
	for (uint32_t i = 0; i < sent; i++)
		cr_assert_eq(answer().job, i);
}

/* Send as memory.c does; returns how many were sent. */
static uint32_t send_all(struct reactor *r, struct session *s)
{
	struct memory_message m = {.op = MEMORY_PUNCH, .session = s, .bytes = PAGE_BYTES};
	uint32_t before = s->requests;

	while (reactor_send_memory(r, &m))
		s->requests++;
	return s->requests - before;
}

/* No answer is taken, so all requests stay open. */
Test(memory_thread, a_user_has_no_more_requests_open_than_are_left)
{
	static struct reactor r;
	struct user *many = new_user(SHARE_NORMAL);
	struct session *s[] = {session_of(many), session_of(many)}, *other = new_session();

	r.memory = reactor;
	r.backlog = calloc(MEMORY_OPEN, sizeof *r.backlog);
	cr_assert(r.backlog);
	start();
	cr_expect_eq(send_all(&r, s[0]), MEMORY_OPEN / 2);
	cr_expect_eq(send_all(&r, s[0]), 0);
	cr_expect_eq(send_all(&r, s[1]), 1, "one that has none has one beside");
	cr_expect_eq(send_all(&r, other), MEMORY_OPEN / 4);
	free(r.backlog);
}

Test(memory_thread, what_cannot_be_had_whole_is_given_back)
{
	struct session *s = new_session();
	uint64_t end = s->region.bytes / PAGE_BYTES * PAGE_BYTES;

	ask(s, MEMORY_ALLOCATE, end - LARGE, LARGE + PAGE_BYTES, 1);
	start();
	cr_assert_eq(answer().result, -EPERM);
	cr_assert_eq(resident(s), 0);
}

Test(memory_thread, a_session_that_closes_leaves_no_pages)
{
	struct session *s = new_session();
	int fd = dup(s->region.fd);
	struct region_piece piece;
	struct stat st;

	for (uint32_t class = 0; class < 20; class ++) {
		cr_assert(region_take(&s->region, class, &piece));
		ask(s, MEMORY_ALLOCATE, piece.offset, sizeclass_bytes(class), 1);
	}
	ask(s, MEMORY_CLOSE, 0, 0, 2);
	start();
	while (answer().op != MEMORY_CLOSE)
		;
	cr_assert_null(s->region.base);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(st.st_blocks, 0);
}
