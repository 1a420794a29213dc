/* SPDX-License-Identifier: MIT */
/* memory_thread.c - sessions take turns at what is done to their pages */
#include "memory_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/stick.h"
#include "memory_pages.h"
#include "session/session.h"

/* How often reactors that took no answer are looked at again. */
#define STALLED_US 100u

struct memory_thread {
	pthread_t thread;
	struct memory_link *links;
	unsigned count;
	bool huge; /* shared memory can have huge pages */
	struct memory_work *work, *free;
	struct session *first, *last; /* that have requests open, by turn; last: where first is */
	int eventfd;
	uint32_t need_wake;
	uint64_t looks; /* for the watchdog; atomic */
	int stop;       /* atomic */
};

/* One thread serves the whole process: its bell is reached from memory_send. */
static struct memory_thread *the_thread;

void memory_link_init(struct memory_link *l, uint32_t *reactor_need_wake, int reactor_eventfd)
{
	l->request_head = l->request_tail = l->answer_head = l->answer_tail = 0;
	quoit_producer_init(&l->to_thread, &l->request_tail, &l->request_head, MEMORY_ENTRIES);
	quoit_consumer_init(&l->requests, &l->request_head, &l->request_tail, MEMORY_ENTRIES);
	quoit_producer_init(&l->answers, &l->answer_tail, &l->answer_head, MEMORY_ENTRIES);
	quoit_consumer_init(&l->from_thread, &l->answer_head, &l->answer_tail, MEMORY_ENTRIES);
	l->reactor_need_wake = reactor_need_wake;
	l->reactor_eventfd = reactor_eventfd;
	l->held = 0;
}

static void ring_bell(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof one);

	(void)n; /* the counter cannot overflow: the other side drains it */
}

bool memory_send(struct memory_link *l, const struct memory_message *m)
{
	uint32_t i;

	if (!quoit_ring_reserve(&l->to_thread, &i))
		return false;
	l->request[i % MEMORY_ENTRIES] = *m;
	if (quoit_ring_submit_wake(&l->to_thread, &the_thread->need_wake))
		ring_bell(the_thread->eventfd);
	return true;
}

const struct memory_message *memory_next_answer(struct memory_link *l)
{
	if (!quoit_ring_peek(&l->from_thread))
		return NULL;
	return &l->answer[l->from_thread.next % MEMORY_ENTRIES];
}

void memory_answer_done(struct memory_link *l)
{
	quoit_ring_release(&l->from_thread, 1);
}

/* Else its reactor stands still, and the other reactors' sessions are none the worse for it. */
static bool can_answer(struct memory_link *l)
{
	return quoit_ring_space(&l->answers) ||
	       (quoit_ring_refresh(&l->answers) && quoit_ring_space(&l->answers));
}

static void answer(struct memory_work *w)
{
	struct memory_link *l = w->link;
	uint32_t i = 0;

	(void)quoit_ring_reserve(&l->answers, &i); /* there is room: can_answer */
	l->answer[i % MEMORY_ENTRIES] = w->m;
	if (quoit_ring_submit_wake(&l->answers, l->reactor_need_wake))
		ring_bell(l->reactor_eventfd);
}

/* The session whose turn comes last, from now on. */
static void enqueue(struct memory_thread *t, struct session *s)
{
	s->at_memory.next = NULL;
	if (t->first)
		t->last->at_memory.next = s;
	else
		t->first = s;
	t->last = s;
}

static void take_request(struct memory_thread *t, struct memory_link *l)
{
	struct memory_work *w = t->free;
	struct memory_turns *turns;

	stick_at(STICK_MEMORY);
	t->free = w->next;
	l->held++;
	*w = (struct memory_work){.m = l->request[l->requests.next % MEMORY_ENTRIES], .link = l};
	quoit_ring_release(&l->requests, 1);
	turns = &w->m.session->at_memory;
	if (turns->first) {
		turns->last->next = w;
	} else {
		turns->first = w;
		enqueue(t, w->m.session);
	}
	turns->last = w;
}

/* The session that has waited longest, no more in line; NULL: there is none that can be answered.
 */
static struct session *next_turn(struct memory_thread *t)
{
	struct session *s, *last = t->first ? t->last : NULL;

	do {
		s = t->first;
		if (!s)
			return NULL;
		t->first = s->at_memory.next;
		if (can_answer(s->at_memory.first->link))
			return s;
		enqueue(t, s);
	} while (s != last);
	return NULL;
}

/* One part for the session whose turn it is.  False: none has anything to be done. */
static bool serve_one(struct memory_thread *t)
{
	struct session *s = next_turn(t);
	struct memory_work *w;

	if (!s && t->first)
		(void)usleep(STALLED_US);
	if (!s)
		return t->first != NULL;
	w = s->at_memory.first;
	if (!memory_pages_part(w, t->huge)) {
		enqueue(t, s);
		return true;
	}
	s->at_memory.first = w->next;
	if (w->next)
		enqueue(t, s);
	answer(w); /* with the last one, the session may be gone */
	w->link->held--;
	w->next = t->free;
	t->free = w;
	return true;
}

/* Of a reactor that asks for more than is held at a time, the others wait in its ring. */
static bool serve(struct memory_thread *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		struct memory_link *l = &t->links[i];

		while (l->held < MEMORY_ENTRIES && quoit_ring_peek(&l->requests))
			take_request(t, l);
	}
	return serve_one(t);
}

static bool may_sleep(struct memory_thread *t)
{
	bool idle = true;

	for (unsigned i = 0; i < t->count; i++)
		idle &= quoit_ring_sleep(&t->links[i].requests, &t->need_wake);
	return idle;
}

static void *run(void *arg)
{
	struct memory_thread *t = arg;

	while (!__atomic_load_n(&t->stop, __ATOMIC_ACQUIRE)) {
		uint64_t count;
		ssize_t n;

		__atomic_store_n(&t->looks, t->looks + 1, __ATOMIC_RELAXED);
		if (serve(t))
			continue;
		if (may_sleep(t)) {
			n = read(t->eventfd, &count, sizeof count);
			(void)n;
		}
		quoit_ring_awake(&t->need_wake);
	}
	return NULL;
}

static void free_thread(struct memory_thread *t)
{
	if (t->eventfd >= 0)
		close(t->eventfd);
	free(t->work);
	free(t);
}

int memory_thread_start(struct memory_link *links, unsigned count, bool huge,
			struct memory_thread **ret)
{
	struct memory_thread *t = calloc(1, sizeof *t);
	int err;

	*ret = NULL;
	if (!t)
		return -ENOMEM;
	t->links = links;
	t->count = count;
	t->huge = huge;
	t->eventfd = eventfd(0, EFD_CLOEXEC);
	err = t->eventfd < 0 ? errno : 0;
	t->work = calloc((size_t)count * MEMORY_ENTRIES, sizeof *t->work);
	if (!err && !t->work)
		err = ENOMEM;
	for (unsigned i = 0; !err && i < count * MEMORY_ENTRIES; i++) {
		t->work[i].next = t->free;
		t->free = &t->work[i];
	}
	the_thread = t;
	if (!err)
		err = pthread_create(&t->thread, NULL, run, t);
	if (err) {
		free_thread(t);
		return -err;
	}
	(void)pthread_setname_np(t->thread, "quoit-memory");
	*ret = t;
	return 0;
}

uint64_t memory_thread_progress(const struct memory_thread *t)
{
	return __atomic_load_n(&t->looks, __ATOMIC_RELAXED);
}

void memory_thread_kick(const struct memory_thread *t)
{
	ring_bell(t->eventfd);
}

void memory_thread_stop(struct memory_thread *t)
{
	if (!t)
		return;
	__atomic_store_n(&t->stop, 1, __ATOMIC_RELEASE);
	ring_bell(t->eventfd);
	pthread_join(t->thread, NULL);
	free_thread(t);
}
