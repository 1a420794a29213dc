/* SPDX-License-Identifier: MIT */
/* memory_thread.c - works on pages in parts: users take turns, and so do each user's sessions */
#include "memory_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/hang_injection.h"
#include "memory_pages.h"
#include "session/session.h"

/* Interval of looks at reactors that have taken no answer. */
#define STALLED_US 100u

struct memory_thread {
	pthread_t thread;
	pid_t tid; /* atomic; 0: it has not begun */
	struct memory_link *links;
	unsigned count;
	struct memory_huge huge;
	struct memory_work *work, *free; /* MEMORY_OPEN for each link */
	uint32_t used;                   /* entries of `work` that were ever used */
	struct user *users;              /* users with open requests */
	_Atomic uint64_t clock;          /* of the ledger (fair/ledger.h) */
	int eventfd;
	uint32_t need_wake;
	uint64_t looks; /* for the watchdog; atomic */
	int stop;       /* atomic */
};

/* The process has one such thread; memory_send rings its bell. */
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

/* Has the link room for an answer?  If not, its reactor hangs, but must not hold up others. */
static bool can_answer(struct memory_link *l)
{
	return quoit_ring_space(&l->answers) ||
	       (quoit_ring_refresh(&l->answers) && quoit_ring_space(&l->answers));
}

static void answer(struct memory_work *w)
{
	struct memory_link *l = w->link;
	uint32_t i = 0;

	(void)quoit_ring_reserve(&l->answers, &i); /* can_answer has found room */
	l->answer[i % MEMORY_ENTRIES] = w->m;
	if (quoit_ring_submit_wake(&l->answers, l->reactor_need_wake))
		ring_bell(l->reactor_eventfd);
}

/* ---- turns ---- */

/* Put the session behind the user's other sessions. */
static void append(struct memory_line *line, struct session *s)
{
	s->at_memory.next = NULL;
	if (line->first)
		line->last->at_memory.next = s;
	else
		line->first = s;
	line->last = s;
}

static struct session *take_first(struct memory_line *line)
{
	struct session *s = line->first;

	line->first = s->at_memory.next;
	return s;
}

static void enter(struct memory_thread *t, struct session *s)
{
	struct memory_line *line = &s->user->at_memory;

	if (!line->first) {
		line->next = t->users;
		t->users = s->user;
		ledger_open(&line->page, &t->clock);
	}
	append(line, s);
}

static void leave(struct memory_thread *t, struct user *user)
{
	struct user **link = &t->users;

	while (*link != user)
		link = &(*link)->at_memory.next;
	*link = user->at_memory.next;
	ledger_close(&user->at_memory.page);
}

static void take_request(struct memory_thread *t, struct memory_link *l)
{
	struct memory_work *w = t->free;
	struct memory_turns *turns;

	hang_at(HANG_MEMORY);
	if (w)
		t->free = w->next;
	else
		w = &t->work[t->used++];
	*w = (struct memory_work){.m = l->request[l->requests.next % MEMORY_ENTRIES], .link = l};
	quoit_ring_release(&l->requests, 1);
	turns = &w->m.session->at_memory;
	if (turns->first) {
		turns->last->next = w;
	} else {
		turns->first = w;
		enter(t, w->m.session);
	}
	turns->last = w;
}

/* Put the user's next session that can be answered first; false: there is none. */
static bool find_session(struct memory_line *line)
{
	const struct session *last = line->last;

	while (!can_answer(line->first->at_memory.first->link)) {
		if (line->first == last)
			return false;
		append(line, take_first(line));
	}
	return true;
}

/* Of the users that can be answered, the one that has had the least time; NULL: there is none. */
static struct user *find_user(const struct memory_thread *t)
{
	struct user *best = NULL;
	int64_t least = INT64_MAX;

	for (struct user *u = t->users; u; u = u->at_memory.next) {
		int64_t lead = ledger_lead(&u->at_memory.page, &t->clock);

		if (lead < least && find_session(&u->at_memory)) {
			best = u;
			least = lead;
		}
	}
	return best;
}

/* This thread's CPU time: users are not charged for what other programs take from its core. */
static uint64_t cpu_ns(void)
{
	struct timespec t = {0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Do one part of the request; true: that was the last. */
static bool do_part(struct memory_thread *t, struct user *user, struct memory_work *w)
{
	struct ledger_page *page = &user->at_memory.page;
	uint64_t begun = cpu_ns();
	bool done;

	ledger_choose(page, &t->clock);
	done = memory_pages_part(w, &t->huge);
	ledger_count(page, (int64_t)(cpu_ns() - begun), user_share(user));
	return done;
}

/* Do one part for the next user.  False: there are no requests. */
static bool serve_one(struct memory_thread *t)
{
	struct user *user = find_user(t);
	struct memory_work *w;
	struct session *s;
	bool done;

	if (!user && t->users)
		(void)usleep(STALLED_US);
	if (!user)
		return t->users != NULL;
	s = take_first(&user->at_memory);
	w = s->at_memory.first;
	done = do_part(t, user, w);
	if (done)
		s->at_memory.first = w->next;
	if (s->at_memory.first)
		append(&user->at_memory, s);
	if (!user->at_memory.first)
		leave(t, user);
	if (!done)
		return true;
	answer(w); /* after the last answer, the session and its user may be gone */
	w->next = t->free;
	t->free = w;
	return true;
}

static bool serve(struct memory_thread *t)
{
	for (unsigned i = 0; i < t->count; i++) {
		struct memory_link *l = &t->links[i];

		while (quoit_ring_peek(&l->requests))
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

static void *memory_thread_run(void *arg)
{
	struct memory_thread *t = arg;

	__atomic_store_n(&t->tid, gettid(), __ATOMIC_RELAXED);
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
	t->huge.possible = huge;
	t->eventfd = eventfd(0, EFD_CLOEXEC);
	err = t->eventfd < 0 ? errno : 0;
	t->work = calloc((size_t)count * MEMORY_OPEN, sizeof *t->work);
	if (!err && !t->work)
		err = ENOMEM;
	the_thread = t;
	if (!err)
		err = pthread_create(&t->thread, NULL, memory_thread_run, t);
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

pid_t memory_thread_tid(const struct memory_thread *t)
{
	return __atomic_load_n(&t->tid, __ATOMIC_RELAXED);
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
