/* SPDX-License-Identifier: MIT */
/* blocking_pool.c - a pool of threads that may hang; there is always one more than hang */
#include "blocking_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dear.h"
#include "files.h"

/* Idle threads that are kept, so that single blocking calls start no thread. */
#define IDLE_MOST 2u

struct blocking_pool {
	pthread_mutex_t lock;
	pthread_cond_t news;      /* a blocking call has come, or the end */
	pthread_cond_t gone;      /* a thread has ended */
	struct blocking *queue;   /* with blocking, none under way; oldest first */
	struct blocking *running; /* with one under way */
	unsigned threads, idle;
	bool stop;
	struct file_systems writable;
	int eventfd;
};

/* ---- lists ---- */

static void append(struct blocking **list, struct blocking *e)
{
	while (*list)
		list = &(*list)->next;
	e->next = NULL;
	*list = e;
}

static void remove_from(struct blocking **list, struct blocking *e)
{
	while (*list != e)
		list = &(*list)->next;
	*list = e->next;
}

static bool has_work(const struct blocking *e)
{
	return e->task || e->memory_count || e->count || e->check >= 0 || e->hang_up >= 0;
}

static unsigned running_of(const struct blocking_pool *p, uid_t uid)
{
	unsigned n = 0;

	for (const struct blocking *e = p->running; e; e = e->next)
		n += e->uid == uid;
	return n;
}

/* The next connection with a blocking call to run; NULL: none, or only of users at their limit. */
static struct blocking *next_ready(const struct blocking_pool *p)
{
	struct blocking *e = p->queue;

	while (e && running_of(p, e->uid) >= BLOCKING_USER)
		e = e->next;
	return e;
}

/* ---- the threads ---- */

static void wake_control(struct blocking_pool *p)
{
	uint64_t one = 1;
	ssize_t n = write(p->eventfd, &one, sizeof one);

	(void)n;
}

/* Each of these runs one blocking call, and unlocks the pool meanwhile. */

static void run_task(struct blocking_pool *p, struct blocking *e)
{
	void (*task)(void *) = e->task;

	pthread_mutex_unlock(&p->lock);
	task(e->task_of);
	pthread_mutex_lock(&p->lock);
	e->task = NULL;
	__atomic_store_n(&e->ran, true, __ATOMIC_RELAXED);
}

static void drop_memory(struct blocking_pool *p, struct blocking *e)
{
	struct shared m = e->memory[0];

	memmove(e->memory, e->memory + 1, --e->memory_count * sizeof m);
	if (e->before_task)
		e->before_task--;
	pthread_mutex_unlock(&p->lock);
	shared_drop(&m);
	pthread_mutex_lock(&p->lock);
}

static void close_one(struct blocking_pool *p, struct blocking *e)
{
	int fd = e->close[--e->count];

	if (e->count == BLOCKING_BEHIND) /* a caller waits for this, and not for the rest */
		wake_control(p);
	pthread_mutex_unlock(&p->lock);
	close(fd);
	pthread_mutex_lock(&p->lock);
}

static void check_one(struct blocking_pool *p, struct blocking *e)
{
	struct files_kind kind = {0};
	int fd = e->check, result;

	pthread_mutex_unlock(&p->lock);
	result = files_check(fd, e->uid == geteuid() ? NULL : &p->writable, &kind);
	pthread_mutex_lock(&p->lock);
	e->check = -1;
	__atomic_store_n(&e->checked, true, __ATOMIC_RELAXED);
	e->checked_fd = fd;
	e->check_result = result;
	e->check_kind = kind;
}

static void hang_up_one(struct blocking_pool *p, struct blocking *e)
{
	int fd = e->hang_up;

	pthread_mutex_unlock(&p->lock);
	ctl_hang_up_full(fd);
	pthread_mutex_lock(&p->lock);
	e->hang_up = -1;
}

/*
 * Memory dropped before the task goes first; the task may use what was dropped since.  Then comes
 * what a client waits for: to be told that its connection has ended, since what comes next may hang;
 * then what makes room.
 */
static void run_one(struct blocking_pool *p, struct blocking *e)
{
	if (e->task && !e->before_task)
		run_task(p, e);
	else if (e->hang_up >= 0)
		hang_up_one(p, e);
	else if (e->memory_count)
		drop_memory(p, e);
	else if (e->count)
		close_one(p, e);
	else
		check_one(p, e);
}

static void *blocking_pool_run(void *arg);

static int start_thread(struct blocking_pool *p)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = -pthread_attr_init(&attr);

	if (err < 0)
		return err;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = -pthread_create(&thread, &attr, blocking_pool_run, p);
	pthread_attr_destroy(&attr);
	if (err < 0)
		return err;
	p->threads++;
	p->idle++;
	return 0;
}

static void take(struct blocking_pool *p, struct blocking *e)
{
	remove_from(&p->queue, e);
	append(&p->running, e);
	p->idle--;
	if (!p->idle)
		(void)start_thread(
			p); /* without another thread, other blocking calls wait for this one */
	run_one(p, e);
	p->idle++;
	remove_from(&p->running, e);
	e->queued = has_work(e);
	if (e->queued)
		append(&p->queue, e);
	wake_control(p);
}

static void *blocking_pool_run(void *arg)
{
	struct blocking_pool *p = arg;

	(void)pthread_setname_np(pthread_self(), "quoit-blocking");
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		struct blocking *e = next_ready(p);

		if (e)
			take(p, e);
		else if (p->idle > IDLE_MOST)
			break;
		else
			pthread_cond_wait(&p->news, &p->lock);
	}
	p->idle--;
	p->threads--;
	pthread_cond_signal(&p->gone);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int blocking_pool_new(int eventfd, const struct file_systems *writable, struct blocking_pool **ret)
{
	struct blocking_pool *p = calloc(1, sizeof *p);
	int err = 0;

	*ret = NULL;
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->news, NULL);
	pthread_cond_init(&p->gone, NULL);
	p->eventfd = eventfd;
	p->writable = *writable;
	pthread_mutex_lock(&p->lock);
	while (!err && p->threads < IDLE_MOST)
		err = start_thread(p);
	pthread_mutex_unlock(&p->lock);
	if (err < 0) {
		blocking_pool_free(p);
		return err;
	}
	*ret = p;
	return 0;
}

void blocking_pool_free(struct blocking_pool *p)
{
	bool hangs;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->news);
	while (p->idle)
		pthread_cond_wait(&p->gone, &p->lock);
	hangs = p->threads;
	pthread_mutex_unlock(&p->lock);
	if (hangs)
		return;
	pthread_cond_destroy(&p->gone);
	pthread_cond_destroy(&p->news);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* ---- a connection's blocking calls ---- */

void blocking_init(struct blocking *e, struct blocking_pool *p, uid_t uid, struct dear_users *dear)
{
	*e = (struct blocking){.pool = p, .uid = uid, .dear = dear, .check = -1, .hang_up = -1};
}

/* Queue a connection that has something to do; with the lock. */
static void enqueue(struct blocking *e)
{
	if (e->queued)
		return;
	e->queued = true;
	append(&e->pool->queue, e);
	if (!e->pool->idle) /* in case an earlier start failed */
		(void)start_thread(e->pool);
	pthread_cond_signal(&e->pool->news);
}

void blocking_close(struct blocking *e, int fd)
{
	if (!e) {
		close(fd);
		return;
	}
	pthread_mutex_lock(&e->pool->lock);
	if (e->count < BLOCKING_MOST) /* more is a bug: losing a descriptor harms least */
		e->close[e->count++] = fd;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool blocking_is_behind(struct blocking *e)
{
	bool behind;

	pthread_mutex_lock(&e->pool->lock);
	behind = e->count > BLOCKING_BEHIND;
	pthread_mutex_unlock(&e->pool->lock);
	return behind;
}

/* Close the socket here, if that is cheap for this user and the socket is empty. */
static bool hang_up_now(struct blocking *e, int socket)
{
	struct dear_user *user = e && e->dear ? dear_note(e->dear, e->uid) : NULL;
	uint64_t now = tsc_now(), begun;
	bool done;

	if (user && dear_is(&user->dear, now))
		return false;
	begun = dear_cpu_now();
	done = ctl_hang_up(socket);
	if (user)
		dear_count(&user->dear, dear_cpu_now() - begun, now);
	return done;
}

void blocking_hang_up_ring(struct blocking *e, int socket)
{
	if (!hang_up_now(e, socket))
		blocking_close(e, socket);
}

void blocking_hang_up(struct blocking *e, int socket)
{
	if (hang_up_now(e, socket))
		return;
	pthread_mutex_lock(&e->pool->lock);
	e->hang_up = socket;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

void blocking_check(struct blocking *e, int fd)
{
	pthread_mutex_lock(&e->pool->lock);
	e->check = fd;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool blocking_checked(struct blocking *e, int *ret_fd, int *ret_result, struct files_kind *ret_kind)
{
	if (!__atomic_load_n(&e->checked, __ATOMIC_RELAXED)) /* mostly: without the lock */
		return false;
	pthread_mutex_lock(&e->pool->lock);
	e->checked = false;
	*ret_fd = e->checked_fd;
	*ret_result = e->check_result;
	*ret_kind = e->check_kind;
	pthread_mutex_unlock(&e->pool->lock);
	return true;
}

void blocking_run(struct blocking *e, void (*task)(void *), void *of)
{
	pthread_mutex_lock(&e->pool->lock);
	e->task = task;
	e->task_of = of;
	e->before_task = e->memory_count;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool blocking_ran(struct blocking *e)
{
	if (!__atomic_load_n(&e->ran, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&e->pool->lock);
	e->ran = false;
	pthread_mutex_unlock(&e->pool->lock);
	return true;
}

void blocking_drop(struct blocking *e, struct shared *m)
{
	struct shared memory = *m;

	*m = (struct shared){.fd = -1};
	if (!memory.base)
		return;
	if (!e) {
		shared_drop(&memory);
		return;
	}
	pthread_mutex_lock(&e->pool->lock);
	if (e->memory_count < BLOCKING_MEMORY) /* more is a bug, as above */
		e->memory[e->memory_count++] = memory;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool blocking_idle(struct blocking *e)
{
	bool idle;

	pthread_mutex_lock(&e->pool->lock);
	idle = !e->queued && !e->checked && !e->ran;
	pthread_mutex_unlock(&e->pool->lock);
	return idle;
}
