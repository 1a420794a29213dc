/* SPDX-License-Identifier: MIT */
/* blocking_pool.c - a pool of threads that may hang; there is always one more than hang */
#include "blocking_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "base/dear.h"

/* Idle threads that are kept, so that single errands start no thread. */
#define IDLE_MOST 2u

struct errand_pool {
	pthread_mutex_t lock;
	pthread_cond_t news;     /* an errand has come, or the end */
	pthread_cond_t gone;     /* a thread has ended */
	struct errands *queue;   /* with errands, none under way; oldest first */
	struct errands *running; /* with one under way */
	unsigned threads, idle;
	bool stop;
	struct file_systems writable;
	int eventfd;
};

/* ---- lists ---- */

static void append(struct errands **list, struct errands *e)
{
	while (*list)
		list = &(*list)->next;
	e->next = NULL;
	*list = e;
}

static void remove_from(struct errands **list, struct errands *e)
{
	while (*list != e)
		list = &(*list)->next;
	*list = e->next;
}

static bool has_work(const struct errands *e)
{
	return e->task || e->memory_count || e->count || e->check >= 0 || e->hang_up >= 0;
}

static unsigned running_of(const struct errand_pool *p, uid_t uid)
{
	unsigned n = 0;

	for (const struct errands *e = p->running; e; e = e->next)
		n += e->uid == uid;
	return n;
}

/* The next connection with an errand to run; NULL: none, or only of users at their limit. */
static struct errands *next_ready(const struct errand_pool *p)
{
	struct errands *e = p->queue;

	while (e && running_of(p, e->uid) >= ERRANDS_USER)
		e = e->next;
	return e;
}

/* ---- the threads ---- */

static void wake_control(struct errand_pool *p)
{
	uint64_t one = 1;
	ssize_t n = write(p->eventfd, &one, sizeof one);

	(void)n;
}

/* Each of these runs one errand, and unlocks the pool meanwhile. */

static void run_task(struct errand_pool *p, struct errands *e)
{
	void (*task)(void *) = e->task;

	pthread_mutex_unlock(&p->lock);
	task(e->task_of);
	pthread_mutex_lock(&p->lock);
	e->task = NULL;
	__atomic_store_n(&e->ran, true, __ATOMIC_RELAXED);
}

static void drop_memory(struct errand_pool *p, struct errands *e)
{
	struct shared m = e->memory[0];

	memmove(e->memory, e->memory + 1, --e->memory_count * sizeof m);
	if (e->before_task)
		e->before_task--;
	pthread_mutex_unlock(&p->lock);
	shared_drop(&m);
	pthread_mutex_lock(&p->lock);
}

static void close_one(struct errand_pool *p, struct errands *e)
{
	int fd = e->close[--e->count];

	if (e->count == ERRANDS_BEHIND) /* a caller waits for this, and not for the rest */
		wake_control(p);
	pthread_mutex_unlock(&p->lock);
	close(fd);
	pthread_mutex_lock(&p->lock);
}

static void check_one(struct errand_pool *p, struct errands *e)
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

static void hang_up_one(struct errand_pool *p, struct errands *e)
{
	int fd = e->hang_up;

	pthread_mutex_unlock(&p->lock);
	ctl_drain(fd);
	close(fd);
	pthread_mutex_lock(&p->lock);
	e->hang_up = -1;
}

/*
 * Memory dropped before the task goes first; the task may use what was dropped since.  Then comes
 * what makes room, then the rest.
 */
static void run_one(struct errand_pool *p, struct errands *e)
{
	if (e->task && !e->before_task)
		run_task(p, e);
	else if (e->memory_count)
		drop_memory(p, e);
	else if (e->count)
		close_one(p, e);
	else if (e->check >= 0)
		check_one(p, e);
	else
		hang_up_one(p, e);
}

static void *run(void *arg);

static int start_thread(struct errand_pool *p)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err = -pthread_attr_init(&attr);

	if (err < 0)
		return err;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = -pthread_create(&thread, &attr, run, p);
	pthread_attr_destroy(&attr);
	if (err < 0)
		return err;
	p->threads++;
	p->idle++;
	return 0;
}

static void take(struct errand_pool *p, struct errands *e)
{
	remove_from(&p->queue, e);
	append(&p->running, e);
	p->idle--;
	if (!p->idle)
		(void)start_thread(p); /* without another thread, other errands wait for this one */
	run_one(p, e);
	p->idle++;
	remove_from(&p->running, e);
	e->queued = has_work(e);
	if (e->queued)
		append(&p->queue, e);
	wake_control(p);
}

static void *run(void *arg)
{
	struct errand_pool *p = arg;

	(void)pthread_setname_np(pthread_self(), "quoit-errands");
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		struct errands *e = next_ready(p);

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

int errand_pool_new(int eventfd, const struct file_systems *writable, struct errand_pool **ret)
{
	struct errand_pool *p = calloc(1, sizeof *p);
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
		errand_pool_free(p);
		return err;
	}
	*ret = p;
	return 0;
}

void errand_pool_free(struct errand_pool *p)
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

/* ---- a connection's errands ---- */

void errands_init(struct errands *e, struct errand_pool *p, uid_t uid, struct dear_users *dear)
{
	*e = (struct errands){.pool = p, .uid = uid, .dear = dear, .check = -1, .hang_up = -1};
}

/* Queue a connection that has something to do; with the lock. */
static void enqueue(struct errands *e)
{
	if (e->queued)
		return;
	e->queued = true;
	append(&e->pool->queue, e);
	if (!e->pool->idle) /* in case an earlier start failed */
		(void)start_thread(e->pool);
	pthread_cond_signal(&e->pool->news);
}

void errands_close(struct errands *e, int fd)
{
	if (!e) {
		close(fd);
		return;
	}
	pthread_mutex_lock(&e->pool->lock);
	if (e->count < ERRANDS_MOST) /* more is a bug: losing a descriptor harms least */
		e->close[e->count++] = fd;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool errands_are_behind(struct errands *e)
{
	bool behind;

	pthread_mutex_lock(&e->pool->lock);
	behind = e->count > ERRANDS_BEHIND;
	pthread_mutex_unlock(&e->pool->lock);
	return behind;
}

/* Close the socket here, if that is cheap for this user and the socket is empty. */
static bool hang_up_now(struct errands *e, int socket)
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

void errands_hang_up_ring(struct errands *e, int socket)
{
	if (!hang_up_now(e, socket))
		errands_close(e, socket);
}

void errands_hang_up(struct errands *e, int socket)
{
	if (hang_up_now(e, socket))
		return;
	pthread_mutex_lock(&e->pool->lock);
	e->hang_up = socket;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

void errands_check(struct errands *e, int fd)
{
	pthread_mutex_lock(&e->pool->lock);
	e->check = fd;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool errands_checked(struct errands *e, int *ret_fd, int *ret_result, struct files_kind *ret_kind)
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

void errands_run(struct errands *e, void (*task)(void *), void *of)
{
	pthread_mutex_lock(&e->pool->lock);
	e->task = task;
	e->task_of = of;
	e->before_task = e->memory_count;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool errands_ran(struct errands *e)
{
	if (!__atomic_load_n(&e->ran, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&e->pool->lock);
	e->ran = false;
	pthread_mutex_unlock(&e->pool->lock);
	return true;
}

void errands_drop(struct errands *e, struct shared *m)
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
	if (e->memory_count < ERRANDS_MEMORY) /* more is a bug, as above */
		e->memory[e->memory_count++] = memory;
	enqueue(e);
	pthread_mutex_unlock(&e->pool->lock);
}

bool errands_idle(struct errands *e)
{
	bool idle;

	pthread_mutex_lock(&e->pool->lock);
	idle = !e->queued && !e->checked && !e->ran;
	pthread_mutex_unlock(&e->pool->lock);
	return idle;
}
