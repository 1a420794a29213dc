/* SPDX-License-Identifier: MIT */
/* sync_load.c - processes that use locks, flags, semaphores and barriers, and what must hold */
#include "sync_load.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MIB         (UINT64_C(1) << 20)
#define PATIENCE_MS 60000
#define GAVE_UP     (-ETIME) /* a job that has not happened */

struct worker {
	struct sync_load *l;
	unsigned number;
	struct sync_things t;
	quoit_tensor x; /* of jobs in the order of the data */
	int file;
	uint64_t round;
	uint64_t random;
};

static uint32_t draw(struct worker *w, uint32_t below)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % below;
}

__attribute__((format(printf, 2, 3))) static bool wrong(struct worker *w, const char *format, ...)
{
	char *to = w->l->worker[w->number].wrong;
	va_list args;

	va_start(args, format);
	if (!*to)
		vsnprintf(to, sizeof w->l->worker[0].wrong, format, args);
	va_end(args);
	return false;
}

static void nap(struct worker *w, uint32_t most_us)
{
	const struct timespec t = {.tv_nsec = draw(w, most_us) * 1000L};

	if (t.tv_nsec)
		(void)nanosleep(&t, NULL);
}

/* ---- jobs ---- */

/* What does not wait is done, whatever else happens. */
static bool do_at_once(struct worker *w, struct quoit_sqe sqe, const char *what)
{
	int res = quoit_run(w->t.q, sqe, PATIENCE_MS);

	return !res || wrong(w, "%s ended with %d", what, res);
}

static int run_and_cancel(struct worker *w, struct quoit_sqe sqe)
{
	quoit_job job;

	if (quoit_start(w->t.q, sqe, &job))
		return -EIO;
	(void)quoit_flush(w->t.q);
	nap(w, 1000);
	(void)quoit_cancel(w->t.q, job);
	return quoit_wait(w->t.q, job, PATIENCE_MS);
}

static int run_somehow(struct worker *w, struct quoit_sqe sqe)
{
	int res;

	if (!(w->l->may & SYNC_MAY_LATE))
		return quoit_run(w->t.q, sqe, PATIENCE_MS);
	switch (draw(w, 6)) {
	case 0:
		return quoit_run(w->t.q, sqe, (int)draw(w, 3));
	case 1:
		sqe = quoit_with_deadline(sqe, 1 + draw(w, 2000));
		return quoit_run(w->t.q, sqe, PATIENCE_MS);
	case 2:
		res = run_and_cancel(w, sqe);
		return res == -ECANCELED ? GAVE_UP : res;
	case 3:
		sqe = quoit_with_deadline(sqe, 1 + draw(w, 2000));
		res = run_and_cancel(w, sqe);
		return res == -ECANCELED ? GAVE_UP : res;
	default:
		return quoit_run(w->t.q, sqe, 20 + (int)draw(w, 100));
	}
}

/* A job that may have to wait.  False: it has not happened, or something is wrong. */
static bool waited(struct worker *w, struct quoit_sqe sqe, const char *what, int *ret)
{
	*ret = run_somehow(w, sqe);
	if (*ret >= 0)
		return true;
	if ((*ret != GAVE_UP && *ret != -ENOLCK) || !(w->l->may & SYNC_MAY_LATE))
		wrong(w, "%s ended with %d", what, *ret);
	return false;
}

/* ---- locks ---- */

/* A process that was killed, or is about to be, is none of the workers any more. */
static bool lives(const struct sync_load *l, pid_t pid)
{
	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		if (atomic_load(&l->worker[i].pid) == pid && !atomic_load(&l->worker[i].dying))
			return true;
	return false;
}

const char *sync_room_enter(const struct sync_load *l, struct sync_room *room, int result)
{
	const bool died = result == QUOIT_OWNER_DIED;
	pid_t before = atomic_exchange(&room->owner, getpid());

	if (died && !(l->may & SYNC_MAY_DIE))
		return "nobody has died";
	if (before && !died)
		return "somebody is in it";
	if (before && lives(l, before))
		return "somebody is in it, and lives";
	if (room->first != room->second && !died)
		return "somebody has died in it, and it was not told";
	if (died)
		atomic_fetch_add(&room->told, 1);
	room->second = room->first;
	return NULL;
}

static bool enter(struct worker *w, struct sync_room *room, int result, const char *what)
{
	const char *why = sync_room_enter(w->l, room, result);

	return !why || wrong(w, "%s: %s", what, why);
}

static void work(struct worker *w, struct sync_room *room)
{
	room->first++;
	nap(w, 60);
	room->second++;
}

static bool leave(struct worker *w, struct sync_room *room, const char *what)
{
	pid_t me = getpid();

	return atomic_compare_exchange_strong(&room->owner, &me, 0) ||
	       wrong(w, "%s: process %d came in", what, (int)me);
}

static bool do_lock(struct worker *w)
{
	struct sync_room *room = &w->l->lock;
	int res;

	if (!waited(w, quoit_lock(w->t.lock, 0), "lock", &res))
		return true;
	if (!enter(w, room, res, "lock"))
		return false;
	work(w, room);
	return leave(w, room, "lock") && do_at_once(w, quoit_unlock(w->t.lock, 0), "unlock");
}

static bool do_recursive(struct worker *w)
{
	struct sync_room *room = &w->l->recursive;
	unsigned depth = 1 + draw(w, 5);
	int res;

	if (!waited(w, quoit_lock(w->t.recursive, 0), "lock", &res))
		return true;
	if (!enter(w, room, res, "recursive lock"))
		return false;
	for (unsigned i = 1; i < depth; i++)
		if (!do_at_once(w, quoit_lock(w->t.recursive, 0), "lock again"))
			return false;
	for (unsigned i = 1; i < depth; i++) {
		if (!do_at_once(w, quoit_unlock(w->t.recursive, 0), "unlock"))
			return false;
		work(w, room);
	}
	return leave(w, room, "recursive lock") &&
	       do_at_once(w, quoit_unlock(w->t.recursive, 0), "last unlock");
}

/* ---- a bounded queue ---- */

enum { NOT_FULL, NOT_EMPTY };

/* Whoever has died may have changed the queue without a word. */
static bool tell_all(struct worker *w)
{
	return do_at_once(w, quoit_notify(w->t.queue, NOT_FULL, UINT64_MAX, 0), "notify") &&
	       do_at_once(w, quoit_notify(w->t.queue, NOT_EMPTY, UINT64_MAX, 0), "notify");
}

static bool enter_queue(struct worker *w, int result)
{
	return enter(w, &w->l->queue, result, "queue") && (!result || tell_all(w));
}

static bool can_go_on(const struct sync_load *l, bool produces)
{
	const uint64_t n = l->buffer.tail - l->buffer.head;

	return produces ? n < SYNC_BUFFER : n > 0;
}

static void move_item(struct sync_load *l, bool produces)
{
	uint64_t *head = &l->buffer.head, *tail = &l->buffer.tail;

	if (produces) {
		l->buffer.item[*tail % SYNC_BUFFER] = *tail;
		l->buffer.sum_in += *tail;
		++*tail;
	} else {
		l->buffer.sum_out += l->buffer.item[*head % SYNC_BUFFER];
		++*head;
	}
}

/* A wait has failed: it says whether it has given the lock up. */
static bool unlock_after(struct worker *w, int failure)
{
	int res = quoit_run(w->t.q, quoit_unlock(w->t.queue, 0), PATIENCE_MS);

	return res == (failure == -ENOLCK ? -EPERM : 0) ||
	       wrong(w, "unlock after a wait that ended with %d ended with %d", failure, res);
}

/* Producers have even numbers.  All stop waiting when the play ends: the parent tells them. */
static bool do_queue(struct worker *w)
{
	struct sync_load *l = w->l;
	const bool produces = w->number % 2 == 0;
	int res;

	if (!waited(w, quoit_lock(w->t.queue, 0), "lock of the queue", &res))
		return true;
	if (!enter_queue(w, res))
		return false;
	while (!can_go_on(l, produces) && !atomic_load(&l->stop)) {
		struct quoit_sqe wait =
			quoit_wait_condition(w->t.queue, produces ? NOT_FULL : NOT_EMPTY, 0);

		if (!leave(w, &l->queue, "queue"))
			return false;
		if (!waited(w, wait, "wait for a condition", &res))
			return (res == GAVE_UP || res == -ENOLCK) && unlock_after(w, res);
		if (!enter_queue(w, res))
			return false;
	}
	if (can_go_on(l, produces))
		move_item(l, produces);
	return do_at_once(w, quoit_notify(w->t.queue, produces ? NOT_EMPTY : NOT_FULL, 1, 0),
			  "notify") &&
	       leave(w, &l->queue, "queue") &&
	       do_at_once(w, quoit_unlock(w->t.queue, 0), "unlock of the queue");
}

/* ---- semaphores ---- */

static uint32_t all_inside(const struct sync_load *l, bool undone)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		if (!atomic_load(&l->worker[i].dying))
			n += atomic_load(undone ? &l->worker[i].undone : &l->worker[i].inside);
	return n;
}

static bool use_semaphore(struct worker *w, int semaphore, bool undoes)
{
	_Atomic uint32_t *mine =
		undoes ? &w->l->worker[w->number].undone : &w->l->worker[w->number].inside;
	const uint32_t n = 1 + draw(w, SYNC_PERMITS - 1);
	uint32_t all;
	int res;

	if (!waited(w, quoit_take(semaphore, n, 0), "take", &res))
		return true;
	atomic_store(mine, n);
	all = all_inside(w->l, undoes);
	if (all > SYNC_PERMITS)
		return wrong(w, "%u have been taken of %u", all, SYNC_PERMITS);
	nap(w, 60);
	atomic_store(mine, 0);
	return do_at_once(w, quoit_give(semaphore, n, 0), "give");
}

static bool do_semaphore(struct worker *w)
{
	return use_semaphore(w, w->t.semaphore, false);
}

static bool do_undo(struct worker *w)
{
	return use_semaphore(w, w->t.undo, true);
}

/* ---- flags ---- */

/* A flag that is set too often is cleared by its waiter, who then looks whose turn it is. */
static bool do_flags(struct worker *w)
{
	const uint32_t me = w->number, next = (me + 1) % SYNC_WORKERS;
	int res;

	if (!waited(w, quoit_wait_flag(w->t.flag[me], 0), "wait for a flag", &res))
		return true;
	if (!do_at_once(w, quoit_clear_flag(w->t.flag[me], 0), "clear"))
		return false;
	if (atomic_load(&w->l->turn) != me)
		return w->l->may & SYNC_MAY_DIE || atomic_load(&w->l->stop) ||
		       wrong(w, "it is not its turn");
	atomic_fetch_add(&w->l->turns, 1);
	atomic_store(&w->l->turn, next);
	return do_at_once(w, quoit_set_flag(w->t.flag[next], 0), "set");
}

/* ---- barriers ---- */

static bool do_barrier(struct worker *w)
{
	int res = run_somehow(w, quoit_arrive(w->t.barrier, 0));

	if (res >= 0 && res < (int)SYNC_PARTIES)
		atomic_fetch_add(&w->l->number[res], 1);
	else if (res != GAVE_UP && res != -EPIPE &&
		 !(res == -EOWNERDEAD && (w->l->may & SYNC_MAY_DIE || atomic_load(&w->l->stop))))
		return wrong(w, "a barrier gave %d", res);
	return true;
}

/* All come, so that their rounds have the same numbers; each number is given once. */
static bool do_rounds(struct worker *w)
{
	const uint32_t all = (1u << SYNC_WORKERS) - 1;
	_Atomic uint32_t *seen = w->l->seen;
	uint64_t round = w->round++;
	int res = quoit_run(w->t.q, quoit_arrive(w->t.rounds, 0), PATIENCE_MS);

	if (res < 0 && atomic_load(&w->l->stop))
		return true; /* others have left */
	if (res < 0 || res >= (int)SYNC_WORKERS)
		return wrong(w, "round %llu gave %d", (unsigned long long)round, res);
	if (round && atomic_load(&seen[(round - 1) % SYNC_ROUNDS]) != all)
		return wrong(w, "not all were in round %llu", (unsigned long long)round - 1);
	if (atomic_fetch_or(&seen[round % SYNC_ROUNDS], 1u << res) & 1u << res)
		return wrong(w, "two have number %d", res);
	if (!res)
		atomic_store(&seen[(round + SYNC_ROUNDS / 2) % SYNC_ROUNDS], 0);
	return true;
}

/* ---- jobs under a lock ---- */

static bool do_data(struct worker *w)
{
	const struct quoit_sqe jobs[] = {
		quoit_lock(w->t.data, w->x),
		quoit_read_file(w->x, w->file, 0),
		quoit_add_int(w->x, w->x, 1),
		quoit_write_file(w->x, w->file, 0),
	};
	char text[160];
	quoit_job unlock;
	int res;

	for (unsigned i = 0; i < sizeof jobs / sizeof *jobs; i++)
		if (quoit_push(w->t.q, jobs[i]))
			return wrong(w, "a job was refused");
	if (quoit_start(w->t.q, quoit_unlock(w->t.data, w->x), &unlock))
		return wrong(w, "an unlock was refused");
	res = quoit_wait(w->t.q, unlock, PATIENCE_MS);
	if (res)
		return wrong(w, "an unlock behind the data ended with %d", res);
	res = quoit_wait_tensor(w->t.q, w->x, PATIENCE_MS);
	if (res)
		return wrong(w, "the data: %s",
			     quoit_strerror_wait(w->t.q, res, text, sizeof text));
	atomic_fetch_add(&w->l->worker[w->number].counted, 1);
	return true;
}

/* ---- a worker ---- */

static bool (*const things[])(struct worker *w) = {
	do_lock,  do_recursive, do_queue,  do_semaphore, do_undo,
	do_flags, do_barrier,   do_rounds, do_data,
};
#define THINGS (sizeof things / sizeof *things)

static bool do_something(struct worker *w)
{
	unsigned i;

	do
		i = draw(w, THINGS);
	while (!(w->l->does & 1u << i));
	if (!things[i](w))
		return false;
	atomic_fetch_add(&w->l->worker[w->number].ended, 1);
	return true;
}

int sync_things_open(struct sync_things *t, const char *socket)
{
	const struct quoit_open_params open = {
		.socket = socket, .host_bytes = 4 * MIB, .shared_bytes = MIB};
	const struct quoit_sync_params recursive = {.flags = QUOIT_SYNC_RECURSIVE},
				       some = {.value = SYNC_PERMITS},
				       undo = {.value = SYNC_PERMITS, .flags = QUOIT_SYNC_UNDO},
				       parties = {.value = SYNC_PARTIES},
				       all = {.value = SYNC_WORKERS};
	char name[20];
	int least = 0;

	if (quoit_open(&open, &t->s) || quoit_open_ring(t->s, NULL, &t->q))
		return -ECONNREFUSED;
	t->lock = quoit_open_lock(t->s, "lock", NULL);
	t->recursive = quoit_open_lock(t->s, "recursive", &recursive);
	t->queue = quoit_open_lock(t->s, "queue", NULL);
	t->data = quoit_open_lock(t->s, "data", NULL);
	t->semaphore = quoit_open_semaphore(t->s, "semaphore", &some);
	t->undo = quoit_open_semaphore(t->s, "undo", &undo);
	t->barrier = quoit_open_barrier(t->s, "barrier", &parties);
	t->rounds = quoit_open_barrier(t->s, "rounds", &all);
	for (unsigned i = 0; i < SYNC_WORKERS; i++) {
		snprintf(name, sizeof name, "flag%u", i);
		t->flag[i] = quoit_open_flag(t->s, name, NULL);
		least = t->flag[i] < least ? t->flag[i] : least;
	}
	return t->lock < 0 || t->recursive < 0 || t->queue < 0 || t->data < 0 || t->semaphore < 0 ||
			       t->undo < 0 || t->barrier < 0 || t->rounds < 0
		       ? -ENOENT
		       : least;
}

static bool open_all(struct worker *w)
{
	int err = sync_things_open(&w->t, w->l->socket);

	if (err)
		return wrong(w, "nothing could be opened: %d: %s", err, quoit_open_text());
	w->file = quoit_add_file(w->t.s, w->l->file);
	w->x = quoit_create_vector(w->t.q, QUOIT_I64, 1);
	return (w->file >= 0 && w->x) || wrong(w, "no file: %s", quoit_open_text());
}

static int run(struct sync_load *l, unsigned i)
{
	struct worker *w = calloc(1, sizeof *w);

	if (!w)
		return 20;
	w->l = l;
	w->number = i;
	w->random = (uint64_t)getpid();
	atomic_store(&l->worker[i].pid, getpid());
	if (!open_all(w))
		return 21;
	while (!atomic_load(&l->stop))
		if (!do_something(w))
			return 22;
	if (quoit_close(w->t.s, 0))
		return 23;
	free(w);
	return 0;
}

/* ---- processes ---- */

struct sync_load *sync_load_new(const char *socket, uint32_t does, uint32_t may)
{
	struct sync_load *l =
		mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (l == MAP_FAILED)
		return NULL;
	l->socket = socket;
	l->does = does;
	l->may = may;
	l->file = -1;
	return l;
}

void sync_load_free(struct sync_load *l)
{
	munmap(l, sizeof *l);
}

pid_t sync_load_start(struct sync_load *l, unsigned i)
{
	pid_t pid;

	atomic_store(&l->worker[i].inside, 0);
	atomic_store(&l->worker[i].undone, 0);
	atomic_store(&l->worker[i].pid, 0);
	atomic_store(&l->worker[i].dying, false);
	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(run(l, i));
}

uint64_t sync_load_ended(const struct sync_load *l)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		n += atomic_load(&l->worker[i].ended);
	return n;
}
