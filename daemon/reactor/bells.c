/* SPDX-License-Identifier: MIT */
/* bells.c - wakes and hears clients, one user after another; each rests in proportion to its use */
#include "bells.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/ctl_io.h"
#include "base/dear.h"
#include "session/blocking_pool.h"
#include "session/session.h"

/* One client waits at a CQ.  It may hang more waiters there, but they must not cost us time. */
#define MOST_WOKEN 8 /* of a team one: it wakes the next if there are more calls */

#define SLEEP_MOST_MS 1000

struct bells {
	pthread_t thread;
	pid_t tid; /* atomic; 0: it has not begun */
	struct bell_link *links;
	unsigned count;
	struct user *users; /* users with open requests */
	uint32_t bell;      /* rung: one is added and the futex woken; atomic */
	uint32_t need_wake;
	uint64_t looks; /* for the watchdog; atomic */
	int stop;       /* atomic */
};

/* ---- do a request ---- */

static void ring_it(const struct ring *ring, struct bell_outcome *o)
{
	/* A full socket is success: the client's descriptor is readable then. */
	if (send(ring->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) != 1)
		o->unsent = errno == ENOBUFS || errno == ENOMEM;
}

static void hear(const struct ring *ring, struct bell_outcome *o)
{
	struct ctl_fds fds;
	int n = 1;

	for (unsigned i = 0; i < BELLS_HEARD && n > 0; i++) {
		n = ctl_take_bell(ring->socket, &fds);
		o->heard += n > 0;
		o->descriptors |= fds.count > 0;
		for (unsigned k = 0; k < fds.count; k++)
			blocking_close(ring->session->blocking, fds.fd[k]);
	}
	o->ended = n == 0;
}

struct bell_outcome bells_do(struct ring *ring, unsigned ops, uint64_t (*clock)(void))
{
	struct bell_outcome o = {0};
	uint64_t begun = clock();

	if (ops & BELL_WAKE)
		(void)syscall(SYS_futex, &ring->client->cq_tail, FUTEX_WAKE,
			      ring->team ? 1 : MOST_WOKEN, NULL, NULL, 0);
	if (ops & BELL_RING)
		ring_it(ring, &o);
	if (ops & BELL_HEAR)
		hear(ring, &o);
	o.took = clock() - begun;
	return o;
}

/* ---- to the thread and back ---- */

static void ring_reactor(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof one);

	(void)n; /* the counter cannot overflow: the other side drains it */
}

/* The thread sleeps on a futex, not in poll(2): where RLIMIT_NOFILE was lowered to none, poll
 * refuses even one descriptor, and the thread would ask again and again. */
static void ring_thread(struct bells *b)
{
	__atomic_add_fetch(&b->bell, 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &b->bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void bell_link_init(struct bell_link *l, uint32_t *reactor_need_wake, int reactor_eventfd)
{
	l->request_head = l->request_tail = l->answer_head = l->answer_tail = 0;
	quoit_producer_init(&l->to_thread, &l->request_tail, &l->request_head, BELLS_ENTRIES);
	quoit_consumer_init(&l->requests, &l->request_head, &l->request_tail, BELLS_ENTRIES);
	quoit_producer_init(&l->answers, &l->answer_tail, &l->answer_head, BELLS_ENTRIES);
	quoit_consumer_init(&l->from_thread, &l->answer_head, &l->answer_tail, BELLS_ENTRIES);
	l->reactor_need_wake = reactor_need_wake;
	l->reactor_eventfd = reactor_eventfd;
}

void bells_ask(struct bell_link *l, struct ring *ring, unsigned ops)
{
	uint32_t i = 0;

	(void)quoit_ring_reserve(&l->to_thread, &i); /* one request per ring: there is room */
	l->request[i % BELLS_ENTRIES].ring = ring;
	l->request[i % BELLS_ENTRIES].ops = ops;
	if (quoit_ring_submit_wake(&l->to_thread, &l->bells->need_wake))
		ring_thread(l->bells);
}

bool bells_answered(struct bell_link *l, struct bell_answer *ret)
{
	if (!quoit_ring_peek(&l->from_thread))
		return false;
	*ret = l->answer[l->from_thread.next % BELLS_ENTRIES];
	quoit_ring_release(&l->from_thread, 1);
	return true;
}

bool bells_may_sleep(struct bell_link *l)
{
	return quoit_ring_sleep(&l->from_thread, l->reactor_need_wake);
}

static void answer(struct bell_link *l, const struct bell_answer *a)
{
	uint32_t i = 0;

	(void)quoit_ring_reserve(&l->answers, &i); /* as in bells_ask */
	l->answer[i % BELLS_ENTRIES] = *a;
	if (quoit_ring_submit_wake(&l->answers, l->reactor_need_wake))
		ring_reactor(l->reactor_eventfd);
}

/* ---- turns ---- */

static void append(struct bells *b, struct ring *ring)
{
	struct user *user = ring->session->user;
	struct bell_line *line = &user->at_bells;

	ring->at_bells.next = NULL;
	if (line->first) {
		line->last->at_bells.next = ring;
	} else {
		line->first = ring;
		line->next = b->users;
		b->users = user;
	}
	line->last = ring;
}

static void leave(struct bells *b, struct user *user)
{
	struct user **link = &b->users;

	while (*link != user)
		link = &(*link)->at_bells.next;
	*link = user->at_bells.next;
}

static void take_requests(struct bells *b)
{
	for (unsigned i = 0; i < b->count; i++) {
		struct bell_link *l = &b->links[i];

		while (quoit_ring_peek(&l->requests)) {
			uint32_t at = l->requests.next % BELLS_ENTRIES;
			struct ring *ring = l->request[at].ring;

			ring->at_bells.link = l;
			ring->at_bells.ops = l->request[at].ops;
			quoit_ring_release(&l->requests, 1);
			append(b, ring);
		}
	}
}

/* The user whose rest ends first, among those that have requests; NULL: no user has. */
static struct user *who_is_next(const struct bells *b)
{
	struct user *next = b->users;

	for (struct user *u = next; u; u = u->at_bells.next)
		if (u->at_bells.rests_until < next->at_bells.rests_until)
			next = u;
	return next;
}

static void serve(struct bells *b, struct user *user)
{
	struct bell_line *line = &user->at_bells;
	struct ring *ring = line->first;
	struct bell_answer a = {.ring = ring, .ops = ring->at_bells.ops};

	line->first = ring->at_bells.next;
	if (!line->first)
		leave(b, user);
	a.outcome = bells_do(ring, a.ops, dear_cpu_now);
	line->rests_until = tsc_now() + dear_rest(a.outcome.took, &ring->at_bells.took);
	answer(ring->at_bells.link, &a); /* after this the ring and its user may be gone */
}

/* ---- the thread ---- */

static bool may_sleep(struct bells *b)
{
	bool idle = true;

	for (unsigned i = 0; i < b->count; i++)
		idle &= quoit_ring_sleep(&b->links[i].requests, &b->need_wake);
	return idle;
}

/* Sleep until a request comes or the rest of user `next` is over; NULL: there is no such user. */
static void wait_for_news(struct bells *b, const struct user *next)
{
	uint32_t seen = __atomic_load_n(&b->bell, __ATOMIC_SEQ_CST);
	uint64_t now = tsc_now(), ns = SLEEP_MOST_MS * UINT64_C(1000000);
	struct timespec time;

	if (next && next->at_bells.rests_until <= now)
		return;
	if (next && tsc_to_ns(next->at_bells.rests_until - now) < ns)
		ns = tsc_to_ns(next->at_bells.rests_until - now);
	time.tv_sec = (time_t)(ns / 1000000000u);
	time.tv_nsec = (long)(ns % 1000000000u);
	if (may_sleep(b) && !__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE))
		(void)syscall(SYS_futex, &b->bell, FUTEX_WAIT_PRIVATE, seen, &time, NULL, 0);
	quoit_ring_awake(&b->need_wake);
}

static void *bells_run(void *arg)
{
	struct bells *b = arg;

	__atomic_store_n(&b->tid, gettid(), __ATOMIC_RELAXED);
	while (!__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE)) {
		struct user *next;

		__atomic_store_n(&b->looks, b->looks + 1, __ATOMIC_RELAXED);
		take_requests(b);
		next = who_is_next(b);
		if (next && next->at_bells.rests_until <= tsc_now())
			serve(b, next);
		else
			wait_for_news(b, next);
	}
	return NULL;
}

static int start_thread(struct bells *b, const cpu_set_t *cpus)
{
	int err = -pthread_create(&b->thread, NULL, bells_run, b);

	if (err < 0)
		return err;
	(void)pthread_setname_np(b->thread, "quoit-bells");
	if (CPU_COUNT(cpus)) /* if this is refused, the thread works all the same */
		(void)pthread_setaffinity_np(b->thread, sizeof *cpus, cpus);
	return 0;
}

int bells_start(struct bell_link *links, unsigned count, const cpu_set_t *cpus, struct bells **ret)
{
	struct bells *b = calloc(1, sizeof *b);
	int err = b ? 0 : -ENOMEM;

	*ret = NULL;
	if (!b)
		return err;
	b->links = links;
	b->count = count;
	err = start_thread(b, cpus);
	if (err < 0) {
		free(b);
		return err;
	}
	for (unsigned i = 0; i < count; i++)
		links[i].bells = b;
	*ret = b;
	return 0;
}

uint64_t bells_progress(const struct bells *b)
{
	return __atomic_load_n(&b->looks, __ATOMIC_RELAXED);
}

pid_t bells_tid(const struct bells *b)
{
	return __atomic_load_n(&b->tid, __ATOMIC_RELAXED);
}

void bells_kick(struct bells *b)
{
	ring_thread(b);
}

void bells_stop(struct bells *b)
{
	if (!b)
		return;
	__atomic_store_n(&b->stop, 1, __ATOMIC_RELEASE);
	ring_thread(b);
	pthread_join(b->thread, NULL);
	free(b);
}
