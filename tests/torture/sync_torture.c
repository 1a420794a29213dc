/* SPDX-License-Identifier: MIT */
/*
 * sync_torture.c - processes that use the same locks, flags, semaphores and barriers, give up, and are
 * killed
 *
 * Each knows what must hold: that it is alone under a lock, or was told that the one before it has
 * died; that no more is taken from a semaphore than it has; whose turn it is; that each number of a
 * barrier is given once.  quoitd has one reactor, or two, between which jobs travel.  At the end all
 * can be had that was there at the beginning, and then nothing of it is left.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#include "forked.h"
#include "leftovers.h"
#include "scenes.h"
#include "stage.h"
#include "sync_load.h"

#define PATIENCE_MS 60000u
#define SOON_MS     30

struct play {
	struct daemon d;
	struct sync_load *l;
	struct sync_things t; /* the parent's: what is there stays */
	pid_t pid[SYNC_WORKERS];
	unsigned kills;
};

/* ---- the play ---- */

static bool begin(struct stage *s, struct play *p, const char *reactors, uint32_t does,
		  uint32_t may)
{
	const char *const options[] = {"--reactors", reactors, NULL};
	const uint64_t zero = 0;

	*p = (struct play){.d.pid = -1};
	if (!CHECK(s, !daemon_start(&p->d, options)))
		return false;
	p->l = sync_load_new(p->d.socket, does, may);
	if (!CHECK(s, p->l != NULL))
		return false;
	p->l->file = scene_file_on_disk();
	if (!CHECK(s, p->l->file >= 0) ||
	    !CHECK(s, pwrite(p->l->file, &zero, sizeof zero, 0) == sizeof zero) ||
	    !CHECK(s, !sync_things_open(&p->t, p->d.socket)) ||
	    !CHECK(s, !quoit_run(p->t.q, quoit_set_flag(p->t.flag[0], 0), (int)PATIENCE_MS)))
		return false;
	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		p->pid[i] = sync_load_start(p->l, i);
	return true;
}

static bool goes_well(struct stage *s, const struct play *p)
{
	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		if (*p->l->worker[i].wrong)
			stage_check(s, false, __FILE__, __LINE__, p->l->worker[i].wrong);
	return !s->bad;
}

/* Until so many more things have been done. */
static void let_run(struct stage *s, const struct play *p, uint64_t things)
{
	const uint64_t until = sync_load_ended(p->l) + things;

	for (unsigned ms = 0; sync_load_ended(p->l) < until && goes_well(s, p); ms++) {
		if (!CHECK(s, ms < PATIENCE_MS))
			return;
		usleep(1000);
	}
}

/* ---- deaths ---- */

static bool is_in_a_room(const struct play *p, pid_t pid)
{
	const struct sync_load *l = p->l;

	return atomic_load(&l->lock.owner) == pid || atomic_load(&l->recursive.owner) == pid ||
	       atomic_load(&l->queue.owner) == pid;
}

static void kill_one(struct stage *s, struct play *p, unsigned i)
{
	atomic_store(&p->l->worker[i].dying, true);
	forked_kill(s, p->pid[i]);
	p->kills++;
	p->pid[i] = sync_load_start(p->l, i);
	/* whose turn it is may not have been told; who is told twice looks again */
	CHECK(s, !quoit_run(p->t.q, quoit_set_flag(p->t.flag[atomic_load(&p->l->turn)], 0),
			    (int)PATIENCE_MS));
}

static void kill_some(struct stage *s, struct play *p, unsigned kills)
{
	for (unsigned n = 0; n < kills && goes_well(s, p); n++) {
		unsigned i = stage_random(s, SYNC_WORKERS);

		let_run(s, p, 60);
		if (n % 2) /* best while it has a lock */
			for (unsigned k = 0; k < 2000 && !is_in_a_room(p, p->pid[i]); k++)
				usleep(10);
		else
			usleep(stage_random(s, 2000));
		kill_one(s, p, i);
	}
}

/* ---- the end ---- */

static int run(struct play *p, struct quoit_sqe sqe, int timeout_ms)
{
	return quoit_run(p->t.q, sqe, timeout_ms);
}

static void break_barrier(struct stage *s, struct play *p, int *barrier, const char *name,
			  uint64_t parties)
{
	const struct quoit_sync_params params = {.value = parties};

	CHECK(s, !quoit_close_sync(p->t.s, *barrier));
	*barrier = quoit_open_barrier(p->t.s, name, &params);
	CHECK(s, *barrier >= 0);
}

/* Those who wait see that the play has ended. */
static void let_go(struct stage *s, struct play *p)
{
	struct sync_room *queue = &p->l->queue;
	int res = run(p, quoit_lock(p->t.queue, 0), (int)PATIENCE_MS);

	if (CHECK(s, res >= 0))
		CHECK(s, !sync_room_enter(p->l, queue, res));
	for (unsigned i = 0; i < 2; i++)
		CHECK(s, !run(p, quoit_notify(p->t.queue, i, UINT64_MAX, 0), (int)PATIENCE_MS));
	atomic_store(&queue->owner, 0);
	CHECK(s, !run(p, quoit_unlock(p->t.queue, 0), (int)PATIENCE_MS));
	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		CHECK(s, !run(p, quoit_set_flag(p->t.flag[i], 0), (int)PATIENCE_MS));
	break_barrier(s, p, &p->t.barrier, "barrier", SYNC_PARTIES);
	break_barrier(s, p, &p->t.rounds, "rounds", SYNC_WORKERS);
}

/* All end by themselves, well. */
static void await_exits(struct stage *s, struct play *p)
{
	unsigned left = SYNC_WORKERS;

	for (unsigned ms = 0; left; ms += 5) {
		for (unsigned i = 0; i < SYNC_WORKERS; i++) {
			int status = -1;

			if (p->pid[i] <= 0 || waitpid(p->pid[i], &status, WNOHANG) != p->pid[i])
				continue;
			if (!CHECK(s, status == 0))
				printf("  wait status %#x\n", (unsigned)status);
			p->pid[i] = -1;
			left--;
		}
		if (left && !CHECK(s, ms < PATIENCE_MS))
			break;
		if (left && !s->bad)
			let_go(s, p);
		usleep(5000);
	}
	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		if (p->pid[i] > 0) {
			kill(p->pid[i], SIGKILL);
			(void)waitpid(p->pid[i], NULL, 0);
		}
}

static void check_lock(struct stage *s, struct play *p, int lock, struct sync_room *room)
{
	int res = run(p, quoit_lock(lock, 0), (int)PATIENCE_MS);

	CHECK(s, res >= 0);
	if (room)
		CHECK(s, !sync_room_enter(p->l, room, res));
	CHECK(s, !run(p, quoit_unlock(lock, 0), (int)PATIENCE_MS));
	CHECK(s, run(p, quoit_unlock(lock, 0), (int)PATIENCE_MS) == -EPERM);
}

/* It has as many as at first; a process that was killed may have kept some, but none was made. */
static void check_semaphore(struct stage *s, struct play *p, int semaphore, bool whole)
{
	if (whole)
		CHECK(s, !run(p, quoit_take(semaphore, SYNC_PERMITS, 0), (int)PATIENCE_MS));
	CHECK(s, run(p, quoit_take(semaphore, whole ? 1 : SYNC_PERMITS + 1, 0), SOON_MS) == -ETIME);
}

static void check_queue(struct stage *s, const struct play *p)
{
	uint64_t sum = p->l->buffer.sum_out;

	for (uint64_t i = p->l->buffer.head; i != p->l->buffer.tail; i++)
		sum += p->l->buffer.item[i % SYNC_BUFFER];
	CHECK(s, p->l->buffer.tail - p->l->buffer.head <= SYNC_BUFFER);
	if (!p->kills) /* one that is killed may be between its sum and its index */
		CHECK(s, sum == p->l->buffer.sum_in);
}

/* A round gives each number once, though those to whom it gives it may be killed. */
static void check_numbers(struct stage *s, const struct play *p)
{
	const uint64_t first = atomic_load(&p->l->number[0]);

	for (unsigned i = 1; i < SYNC_PARTIES; i++) {
		const uint64_t n = atomic_load(&p->l->number[i]);

		if (!CHECK(s, (n > first ? n - first : first - n) <= p->kills))
			printf("  %llu times 0, %llu times %u\n", (unsigned long long)first,
			       (unsigned long long)n, i);
	}
}

/* What was counted is in the file; of each that was killed one more may be. */
static void check_file(struct stage *s, const struct play *p)
{
	uint64_t counted = 0, there = 0;

	for (unsigned i = 0; i < SYNC_WORKERS; i++)
		counted += atomic_load(&p->l->worker[i].counted);
	CHECK(s, pread(p->l->file, &there, sizeof there, 0) == sizeof there);
	if (!CHECK(s, there >= counted && there - counted <= p->kills))
		printf("  %llu were counted, %llu are there, %u were killed\n",
		       (unsigned long long)counted, (unsigned long long)there, p->kills);
}

static void end(struct stage *s, struct play *p)
{
	struct sync_load *l = p->l;

	(void)goes_well(s, p);
	atomic_store(&l->stop, true);
	await_exits(s, p);
	if (goes_well(s, p)) {
		check_lock(s, p, p->t.lock, &l->lock);
		check_lock(s, p, p->t.recursive, &l->recursive);
		check_lock(s, p, p->t.queue, &l->queue);
		check_lock(s, p, p->t.data, NULL);
		check_semaphore(s, p, p->t.semaphore, !p->kills);
		check_semaphore(s, p, p->t.undo, true);
		check_queue(s, p);
		check_numbers(s, p);
		check_file(s, p);
		if (p->kills > 10)
			CHECK(s, l->lock.told + l->recursive.told + l->queue.told > 0);
	}
	CHECK(s, !quoit_close(p->t.s, QUOIT_CLOSE_CANCEL));
	leftovers_await_none(s, &p->d);
	close(l->file);
	sync_load_free(l);
	daemon_stop(&p->d);
}

/* ---- cases ---- */

static void all_go_on(struct stage *s, const char *reactors, uint32_t does, uint32_t may)
{
	struct play p;

	if (!begin(s, &p, reactors, does, may))
		return;
	let_run(s, &p, stage_times(s, 1500, 100000));
	end(s, &p);
}

#define TOGETHER                                                                                   \
	(SYNC_DO_LOCK | SYNC_DO_RECURSIVE | SYNC_DO_SEMAPHORE | SYNC_DO_UNDO | SYNC_DO_DATA)
#define ALL (TOGETHER | SYNC_DO_QUEUE | SYNC_DO_FLAGS | SYNC_DO_BARRIER)

static void locks_and_semaphores(struct stage *s)
{
	all_go_on(s, "1", TOGETHER, 0);
	all_go_on(s, "2", TOGETHER, 0);
}

static void data_under_a_lock(struct stage *s)
{
	all_go_on(s, "2", SYNC_DO_DATA, 0);
}

/* They wait without a time: none of them is forgotten. */
static void conditions(struct stage *s)
{
	all_go_on(s, "1", SYNC_DO_QUEUE, 0);
	all_go_on(s, "2", SYNC_DO_QUEUE, 0);
}

static void flags(struct stage *s)
{
	all_go_on(s, "2", SYNC_DO_FLAGS, 0);
}

static void barriers(struct stage *s)
{
	all_go_on(s, "2", SYNC_DO_BARRIER, 0);
	all_go_on(s, "2", SYNC_DO_ROUNDS, 0);
}

static void those_who_give_up(struct stage *s)
{
	all_go_on(s, "1", ALL, SYNC_MAY_LATE);
	all_go_on(s, "2", ALL, SYNC_MAY_LATE);
	all_go_on(s, "2", SYNC_DO_BARRIER, SYNC_MAY_LATE);
	all_go_on(s, "2", SYNC_DO_SEMAPHORE, SYNC_MAY_LATE);
}

static void with_deaths(struct stage *s, const char *reactors, uint32_t does, uint32_t may)
{
	struct play p;

	if (!begin(s, &p, reactors, does, may | SYNC_MAY_DIE))
		return;
	kill_some(s, &p, stage_times(s, 16, 600));
	end(s, &p);
}

static void those_who_are_killed(struct stage *s)
{
	const uint32_t does = SYNC_DO_LOCK | SYNC_DO_RECURSIVE | SYNC_DO_UNDO | SYNC_DO_DATA;

	with_deaths(s, "1", does, 0);
	with_deaths(s, "2", does, 0);
}

static void all_at_once(struct stage *s)
{
	with_deaths(s, "2", ALL, SYNC_MAY_LATE);
}

int main(int argc, char **argv)
{
	static const struct stage_case cases[] = {
		STAGE_CASE(locks_and_semaphores),
		STAGE_CASE(data_under_a_lock),
		STAGE_CASE(conditions),
		STAGE_CASE(flags),
		STAGE_CASE(barriers),
		STAGE_CASE(those_who_give_up),
		STAGE_CASE(those_who_are_killed),
		STAGE_CASE(all_at_once),
	};

	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof *cases);
}
