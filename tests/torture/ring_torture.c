/* SPDX-License-Identifier: MIT */
/*
 * ring_torture.c - use ring.h between two threads, where ThreadSanitizer sees every access, and
 * between two processes
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit/abi.h>
#include <quoit/pause.h>
#include <quoit/ring.h>

#include "stage.h"

#define WORDS    8u
#define MOST     64u   /* entries */
#define ALARM_MS 10000 /* a sleeper that is not woken for so long was forgotten */

/* Memory that both sides share. */
struct shared {
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t tail;
	/* or the upper half of this line's first word */
	QUOIT_ALIGNED(QUOIT_LINE) uint64_t line[WORDS];
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t head;
	QUOIT_ALIGNED(QUOIT_LINE) uint32_t need_wake;
	_Atomic bool given_up; /* set by the consumer: something was wrong */
	uint64_t slot[MOST][WORDS];
};

/* One transfer of `count` elements. */
struct transfer {
	struct shared *shared;
	uint32_t entries;
	uint32_t start; /* first index */
	uint64_t count;
	bool sleeps; /* the consumer sleeps; otherwise it polls */
	bool line;   /* the tail has a line, which carries single elements */
	int bell;
	uint64_t seed[2]; /* of producer and consumer: for their pauses */
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*seed >> 33) % below;
}

/* Usually no pause; sometimes as long as the other side needs to fall asleep. */
static void dawdle(uint64_t *seed)
{
	if (draw(seed, 200) == 0)
		usleep(draw(seed, 100));
	else if (draw(seed, 20) == 0)
		sched_yield();
}

/* ---- the two sides ---- */

static void ring_bell(const struct transfer *t)
{
	uint64_t one = 1;

	(void)!write(t->bell, &one, sizeof one);
}

static uint64_t *slot_of(const struct transfer *t, uint32_t index)
{
	return t->shared->slot[index & (t->entries - 1)];
}

static bool publish_line(const struct transfer *t, struct quoit_producer *p)
{
	const uint64_t *alone = p->next - p->published == 1 ? slot_of(t, p->published) : NULL;

	return quoit_ring_submit_line(p, alone, WORDS, &t->shared->need_wake);
}

/* As libquoit does: ring once for each sleep. */
static void ring_if_it_sleeps(const struct transfer *t, struct quoit_producer *p, bool wake)
{
	if (!quoit_ring_must_ring(p, wake))
		return;
	ring_bell(t);
	quoit_ring_rang(p);
}

static void publish(const struct transfer *t, struct quoit_producer *p)
{
	if (t->line)
		ring_if_it_sleeps(t, p, publish_line(t, p));
	else if (!t->sleeps)
		quoit_ring_submit(p);
	else
		ring_if_it_sleeps(t, p, quoit_ring_submit_wake(p, &t->shared->need_wake));
}

/*
 * Nothing more comes until all has been taken, so a lost wake-up is not made up for by a later one;
 * and the consumer is about to fall asleep.
 */
static void wait_until_taken(const struct transfer *t, const struct quoit_producer *p)
{
	for (unsigned n = 0;
	     QUOIT_RING_LOAD(p->head, QUOIT_RING_ACQUIRE) != p->published && !t->shared->given_up;
	     n++)
		if (n < 1000)
			quoit_pause();
		else
			sched_yield();
}

static void *produce(void *arg)
{
	struct transfer *t = arg;
	struct quoit_producer p;

	if (t->line)
		quoit_producer_init_line(&p, t->shared->line, &t->shared->head, t->entries);
	else
		quoit_producer_init(&p, &t->shared->tail, &t->shared->head, t->entries);
	p.next = p.published = p.cached_head = t->start;
	for (uint64_t n = 0; n < t->count; n++) {
		uint32_t index;

		while (!quoit_ring_reserve(&p, &index)) {
			if (t->shared->given_up)
				return NULL;
			publish(t, &p);
			sched_yield();
		}
		for (uint64_t i = 0; i < WORDS; i++)
			slot_of(t, index)[i] = n * WORDS + i;
		if (draw(&t->seed[0], 3))
			publish(t, &p);
		if (t->sleeps && draw(&t->seed[0], 2))
			wait_until_taken(t, &p);
		dawdle(&t->seed[0]);
	}
	publish(t, &p);
	return NULL;
}

/* False: the bell was not rung, and there is work. */
static bool sleep_until_rung(const struct transfer *t, struct quoit_consumer *c)
{
	struct pollfd p = {.fd = t->bell, .events = POLLIN};
	uint64_t count;
	bool rung = true;

	if (quoit_ring_sleep(c, &t->shared->need_wake)) {
		rung = poll(&p, 1, ALARM_MS) > 0;
		if (rung)
			(void)!read(t->bell, &count, sizeof count);
	}
	quoit_ring_awake(&t->shared->need_wake);
	return rung || !quoit_ring_peek(c);
}

static bool take(const struct transfer *t, const struct quoit_consumer *c, bool alone, uint64_t n)
{
	uint64_t copy[WORDS];

	if (!alone || !t->line || !quoit_ring_carried(c, copy, WORDS))
		quoit_ring_copy(copy, slot_of(t, c->next), WORDS);
	for (uint64_t i = 0; i < WORDS; i++)
		if (copy[i] != n * WORDS + i)
			return false;
	return true;
}

/* NULL: all elements came, in order and whole; else the error. */
static const char *consume(struct transfer *t)
{
	struct quoit_consumer c;
	uint64_t n = 0;

	if (t->line)
		quoit_consumer_init_line(&c, &t->shared->head, t->shared->line, t->entries);
	else
		quoit_consumer_init(&c, &t->shared->head, &t->shared->tail, t->entries);
	c.next = c.cached_tail = t->start;
	while (n < t->count) {
		uint32_t ready = quoit_ring_peek(&c);
		bool alone = ready == 1;

		if (ready > t->entries)
			return "a tail beyond the ring";
		if (!ready && t->sleeps && !sleep_until_rung(t, &c))
			return "a wake-up was lost";
		if (!ready && !t->sleeps)
			sched_yield();
		if (ready)
			ready = 1 + draw(&t->seed[1], ready);
		for (uint32_t i = 0; i < ready; i++, n++) {
			if (!take(t, &c, alone, n))
				return "an element is torn, lost or doubled";
			quoit_ring_release(&c, 1);
		}
		dawdle(&t->seed[1]);
	}
	return quoit_ring_peek(&c) ? "one element too many" : NULL;
}

/* ---- rounds ---- */

static void begin(struct stage *s, struct transfer *t, struct shared *shared)
{
	*shared = (struct shared){0};
	t->shared = shared;
	t->start = stage_random(s, 4) ? UINT32_MAX - stage_random(s, 1000) : stage_random(s, 1000);
	shared->tail = shared->head = t->start;
	shared->line[0] = (uint64_t)t->start << 32;
	t->entries = 1u << stage_random(s, 7);
	t->count = stage_times(s, 4000, 12000);
	t->seed[0] = stage_random(s, UINT32_MAX);
	t->seed[1] = stage_random(s, UINT32_MAX);
	t->bell = eventfd(0, EFD_CLOEXEC);
}

static bool consume_all(const struct stage *s, struct transfer *t)
{
	const char *wrong = consume(t);

	if (!wrong)
		return true;
	printf("%s: %s (%u entries from %u)\n", s->name, wrong, t->entries, t->start);
	t->shared->given_up = true;
	return false;
}

static void between_threads(struct stage *s, bool sleeps, bool line)
{
	for (unsigned round = 0; round < stage_times(s, 25, 200) && !s->bad; round++) {
		static struct shared shared;
		struct transfer t = {.sleeps = sleeps, .line = line};
		pthread_t thread;

		begin(s, &t, &shared);
		pthread_create(&thread, NULL, produce, &t);
		s->bad |= !consume_all(s, &t);
		pthread_join(thread, NULL);
		close(t.bell);
	}
}

static void between_processes(struct stage *s, bool sleeps, bool line)
{
	struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(s, shared != MAP_FAILED))
		return;
	for (unsigned round = 0; round < stage_times(s, 25, 200) && !s->bad; round++) {
		struct transfer t = {.sleeps = sleeps, .line = line};
		int status = -1;
		pid_t pid;

		begin(s, &t, shared);
		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			bool good = consume_all(s, &t);

			fflush(NULL);
			_exit(good ? 0 : 1);
		}
		(void)produce(&t);
		CHECK(s, waitpid(pid, &status, 0) == pid && status == 0);
		close(t.bell);
	}
	munmap(shared, sizeof *shared);
}

static void threads_that_poll(struct stage *s)
{
	between_threads(s, false, false);
	between_threads(s, false, true);
}

static void threads_that_sleep(struct stage *s)
{
	between_threads(s, true, false);
	between_threads(s, true, true);
}

static void processes_that_poll(struct stage *s)
{
	between_processes(s, false, false);
	between_processes(s, false, true);
}

static void processes_that_sleep(struct stage *s)
{
	between_processes(s, true, false);
	between_processes(s, true, true);
}

static const struct stage_case cases[] = {
	{"threads that poll", threads_that_poll},
	{"threads that sleep", threads_that_sleep},
	{"processes that poll", processes_that_poll},
	{"processes that sleep", processes_that_sleep},
};

int main(int argc, char **argv)
{
	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
