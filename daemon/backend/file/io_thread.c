/* SPDX-License-Identifier: MIT */
/* io_thread.c - runs one thread a slot: it waits, moves a piece, reports it */
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
#include "own_files.h"

struct io_thread {
	struct io_threads *all;
	pthread_t thread;
	bool wanted;  /* the reactor's: the maker has been asked for it */
	bool started; /* the maker's */
	sem_t work;   /* posted for a piece, and to end */
	struct io_piece piece;
	int32_t result;
};

struct io_threads {
	_Atomic uint64_t done;
	_Atomic bool stop;
	uint32_t *need_wake;
	int eventfd;
	cpu_set_t cpus; /* of the process: a reactor is pinned, its threads here are not */

	/* A thread that makes the others, which share its descriptors (own_files.h). */
	pthread_t maker;
	bool has_maker, own_files;
	int err; /* why it has none of its own */
	sem_t ready, news;
	_Atomic uint64_t make; /* slots, as bits */
	struct io_thread thread[IO_SLOTS];
};

static int32_t move_by(int fd, const struct io_piece *p)
{
	struct iovec v = {.iov_base = p->at, .iov_len = p->bytes};
	ssize_t n = p->write ? pwritev(fd, &v, 1, (off_t)p->offset)
			     : preadv(fd, &v, 1, (off_t)p->offset);

	return n < 0 ? -errno : (int32_t)n;
}

/* Closing the file may hang, as the piece may: so it comes before the report. */
static int32_t move(const struct io_thread *me)
{
	const struct io_piece *p = &me->piece;
	int fd = me->all->own_files ? own_files_take(p->fd) : p->fd;
	int32_t moved = fd < 0 ? fd : move_by(fd, p);

	if (me->all->own_files && fd >= 0)
		own_files_close(fd);
	return moved;
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s) < 0 && errno == EINTR)
		;
}

static void say_done(struct io_thread *me)
{
	struct io_threads *t = me->all;
	uint64_t one = 1;

	/* Both are sequentially consistent, as is the reactor's flag before its look: edge W1. */
	atomic_fetch_or(&t->done, UINT64_C(1) << (me - t->thread));
	if (__atomic_load_n(t->need_wake, __ATOMIC_SEQ_CST)) {
		ssize_t n = write(t->eventfd, &one, sizeof one);

		(void)n;
	}
}

static void *io_thread_run(void *arg)
{
	struct io_thread *me = arg;

	for (;;) {
		wait_for(&me->work);
		if (atomic_load(&me->all->stop))
			return NULL;
		me->result = move(me);
		say_done(me);
	}
}

static int start_thread(struct io_threads *t, struct io_thread *me)
{
	pthread_attr_t attr;
	int err = pthread_attr_init(&attr);

	if (err)
		return -EAGAIN;
	if (CPU_COUNT(&t->cpus))
		(void)pthread_attr_setaffinity_np(&attr, sizeof t->cpus, &t->cpus);
	err = pthread_create(&me->thread, &attr, io_thread_run, me);
	pthread_attr_destroy(&attr);
	if (err)
		return -EAGAIN;
	(void)pthread_setname_np(me->thread, "quoit-io");
	me->started = true;
	return 0;
}

/* Own descriptors only help if files can be taken from the common table. */
static int leave_descriptors(struct io_threads *t)
{
	int fd = own_files_take(t->eventfd), err = fd < 0 ? fd : 0;

	if (fd >= 0)
		own_files_close(fd);
	return err ? err : own_files_begin(t->eventfd);
}

static void *make_threads(void *arg)
{
	struct io_threads *t = arg;

	(void)pthread_setname_np(pthread_self(), "quoit-files");
	t->err = leave_descriptors(t);
	t->own_files = !t->err;
	sem_post(&t->ready);
	for (;;) {
		uint64_t slots;

		wait_for(&t->news);
		slots = atomic_exchange(&t->make, 0);
		for (; slots; slots &= slots - 1)
			while (!atomic_load(&t->stop) &&
			       start_thread(t, &t->thread[__builtin_ctzll(slots)]) < 0)
				usleep(1000); /* the piece waits until a thread can be made */
		if (atomic_load(&t->stop))
			return NULL;
	}
}

int io_threads_new(uint32_t *need_wake, int eventfd, int *ret_own_files, struct io_threads **ret)
{
	struct io_threads *t = calloc(1, sizeof *t);
	int err;

	*ret = NULL;
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
	sem_init(&t->ready, 0, 0);
	sem_init(&t->news, 0, 0);
	err = own_files_start(&t->maker, make_threads, t);
	t->has_maker = !err;
	if (err) {
		io_threads_free(t);
		return err;
	}
	wait_for(&t->ready);
	*ret_own_files = t->err;
	*ret = t;
	return 0;
}

void io_threads_free(struct io_threads *t)
{
	if (!t)
		return;
	atomic_store(&t->stop, true);
	sem_post(&t->news);
	if (t->has_maker)
		pthread_join(t->maker, NULL);
	sem_destroy(&t->ready);
	sem_destroy(&t->news);
	for (unsigned i = 0; i < IO_SLOTS; i++) {
		sem_post(&t->thread[i].work);
		if (t->thread[i].started)
			pthread_join(t->thread[i].thread, NULL);
		sem_destroy(&t->thread[i].work);
	}
	free(t);
}

void io_threads_send(struct io_threads *t, unsigned slot, const struct io_piece *piece)
{
	struct io_thread *me = &t->thread[slot];

	me->piece = *piece;
	sem_post(&me->work);
	if (me->wanted)
		return;
	me->wanted = true;
	atomic_fetch_or(&t->make, UINT64_C(1) << slot);
	sem_post(&t->news);
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
