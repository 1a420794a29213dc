/* SPDX-License-Identifier: MIT */
/* io_thread.c - one thread a slot: wait, move a piece, say so */
#include "io_thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backend_io.h"

struct io_thread {
	struct io_threads *all;
	pthread_t thread;
	bool started;
	sem_t work; /* posted for a piece, and to end */
	struct io_piece piece;
	int32_t result;
};

struct io_threads {
	_Atomic uint64_t done;
	_Atomic bool stop;
	uint32_t *need_wake;
	int eventfd;
	cpu_set_t cpus; /* of the process: a reactor is pinned, its threads here are not */
	struct io_thread thread[IO_SLOTS];
};

static int32_t move(const struct io_piece *p)
{
	struct iovec v = {.iov_base = p->at, .iov_len = p->bytes};
	ssize_t n = p->write ? pwritev(p->fd, &v, 1, (off_t)p->offset)
			     : preadv(p->fd, &v, 1, (off_t)p->offset);

	return n < 0 ? -errno : (int32_t)n;
}

static void wait_for_work(struct io_thread *me)
{
	while (sem_wait(&me->work) < 0 && errno == EINTR)
		;
}

static void say_done(struct io_thread *me)
{
	struct io_threads *t = me->all;
	uint64_t one = 1;

	/* Both sequentially consistent, as is the reactor's flag before its look: the edge W1. */
	atomic_fetch_or(&t->done, UINT64_C(1) << (me - t->thread));
	if (__atomic_load_n(t->need_wake, __ATOMIC_SEQ_CST)) {
		ssize_t n = write(t->eventfd, &one, sizeof one);

		(void)n;
	}
}

static void *run(void *arg)
{
	struct io_thread *me = arg;

	for (;;) {
		wait_for_work(me);
		if (atomic_load(&me->all->stop))
			return NULL;
		me->result = move(&me->piece);
		say_done(me);
	}
}

int io_threads_new(uint32_t *need_wake, int eventfd, struct io_threads **ret)
{
	struct io_threads *t = calloc(1, sizeof *t);

	*ret = t;
	if (!t)
		return -ENOMEM;
	t->need_wake = need_wake;
	t->eventfd = eventfd;
	if (sched_getaffinity(0, sizeof t->cpus, &t->cpus) < 0)
		CPU_ZERO(&t->cpus);
	for (unsigned i = 0; i < IO_SLOTS; i++) {
		t->thread[i].all = t;
		sem_init(&t->thread[i].work, 0, 0);
	}
	return 0;
}

void io_threads_free(struct io_threads *t)
{
	if (!t)
		return;
	atomic_store(&t->stop, true);
	for (unsigned i = 0; i < IO_SLOTS; i++) {
		sem_post(&t->thread[i].work);
		if (t->thread[i].started)
			pthread_join(t->thread[i].thread, NULL);
		sem_destroy(&t->thread[i].work);
	}
	free(t);
}

static int start_thread(struct io_threads *t, struct io_thread *me)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return -EAGAIN;
	if (CPU_COUNT(&t->cpus))
		(void)pthread_attr_setaffinity_np(&attr, sizeof t->cpus, &t->cpus);
	err = pthread_create(&me->thread, &attr, run, me);
	pthread_attr_destroy(&attr);
	if (err)
		return -EAGAIN;
	(void)pthread_setname_np(me->thread, "quoit-io");
	me->started = true;
	return 0;
}

int io_threads_send(struct io_threads *t, unsigned slot, const struct io_piece *piece)
{
	struct io_thread *me = &t->thread[slot];
	int err = me->started ? 0 : start_thread(t, me);

	if (err)
		return err;
	me->piece = *piece;
	sem_post(&me->work);
	return 0;
}

uint64_t io_threads_done(struct io_threads *t)
{
	return atomic_load_explicit(&t->done, memory_order_relaxed) ? atomic_exchange(&t->done, 0)
								    : 0;
}

int32_t io_threads_result(const struct io_threads *t, unsigned slot)
{
	return t->thread[slot].result;
}

bool io_threads_may_sleep(const struct io_threads *t)
{
	return !atomic_load(&t->done);
}
