/* SPDX-License-Identifier: MIT */
/*
 * processes_manager.c - what multiprocessing's Manager has for waiting: Barrier, Event, Semaphore,
 * Lock and Condition.  quoitd is the manager; nobody looks again and again.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "processes.h"

#define WORKERS 6u
#define AT_ONCE 2u

/* In memory that fork() shares: what the workers do, so that it can be checked. */
struct seen {
	unsigned inside, most_inside; /* between take and give; atomic */
	unsigned turn;                /* guarded by the lock */
	unsigned order[WORKERS];
};

struct with {
	struct name barrier, event, semaphore, lock;
	struct seen *seen;
};

struct numbers {
	int barrier, event, semaphore, lock;
};

static int open_all(struct own *own, const struct with *w, struct numbers *ret)
{
	const struct quoit_sync_params parties = {.value = WORKERS}, at_once = {.value = AT_ONCE};
	int err = own_open(own);

	if (err)
		return err;
	ret->barrier = quoit_open_barrier(own->s, w->barrier.text, &parties);
	ret->event = quoit_open_flag(own->s, w->event.text, NULL);
	ret->semaphore = quoit_open_semaphore(own->s, w->semaphore.text, &at_once);
	ret->lock = quoit_open_lock(own->s, w->lock.text, NULL);
	return ret->barrier < 0 || ret->event < 0 || ret->semaphore < 0 || ret->lock < 0 ? -ENOENT
											 : 0;
}

/* A job, and the wait for it: the plain call that multiprocessing has. */
static int do_it(struct own *own, struct quoit_sqe sqe)
{
	return quoit_run(own->q, sqe, QUOIT_FOREVER);
}

/* Barrier.wait says who came last; that one sets the Event for which the others wait. */
static int begin_together(struct own *own, const struct numbers *n)
{
	int arrived = do_it(own, quoit_arrive(n->barrier, QUOIT_NO_TENSOR));

	if (arrived == WORKERS - 1)
		return do_it(own, quoit_set_flag(n->event, QUOIT_NO_TENSOR));
	return arrived < 0 ? arrived : do_it(own, quoit_wait_flag(n->event, QUOIT_NO_TENSOR));
}

static int be_few(struct own *own, const struct numbers *n, struct seen *seen)
{
	unsigned inside, most;
	int err = do_it(own, quoit_take(n->semaphore, 1, QUOIT_NO_TENSOR));

	if (err)
		return err;
	inside = __atomic_add_fetch(&seen->inside, 1, __ATOMIC_SEQ_CST);
	most = __atomic_load_n(&seen->most_inside, __ATOMIC_SEQ_CST);
	while (inside > most &&
	       !__atomic_compare_exchange_n(&seen->most_inside, &most, inside, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	__atomic_sub_fetch(&seen->inside, 1, __ATOMIC_SEQ_CST);
	return do_it(own, quoit_give(n->semaphore, 1, QUOIT_NO_TENSOR));
}

/* Condition.wait_for: the last worker comes first. */
static int take_turns(struct own *own, const struct numbers *n, struct seen *seen, unsigned number)
{
	int err = do_it(own, quoit_lock(n->lock, QUOIT_NO_TENSOR));

	while (!err && seen->turn != WORKERS - 1 - number)
		err = do_it(own, quoit_wait_condition(n->lock, 0, QUOIT_NO_TENSOR));
	if (err)
		return err;
	seen->order[seen->turn++] = number;
	err = do_it(own, quoit_notify(n->lock, 0, UINT64_MAX, QUOIT_NO_TENSOR));
	return err ? err : do_it(own, quoit_unlock(n->lock, QUOIT_NO_TENSOR));
}

static int work(unsigned number, void *with)
{
	const struct with *w = with;
	struct numbers n;
	struct own own;
	int err = open_all(&own, w, &n);

	if (!err)
		err = begin_together(&own, &n);
	if (!err)
		err = be_few(&own, &n, w->seen);
	if (!err)
		err = take_turns(&own, &n, w->seen, number);
	return err ? err : quoit_close(own.s, 0);
}

int main(void)
{
	struct with w = {name_of("barrier"), name_of("event"), name_of("semaphore"),
			 name_of("lock"),
			 mmap(NULL, sizeof(struct seen), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
	const unsigned expected[WORKERS] = {5, 4, 3, 2, 1, 0};
	pid_t worker[WORKERS];
	struct numbers n;
	struct own own;
	int bad;

	if (w.seen == MAP_FAILED || open_all(&own, &w, &n))
		return 1;
	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = process_start(work, i, &w);
	bad = process_join_all(worker, WORKERS);
	bad += w.seen->most_inside < 1 || w.seen->most_inside > AT_ONCE;
	bad += memcmp(w.seen->order, expected, sizeof expected) != 0;
	printf("%u processes began together, at most %u at once, and took turns:", WORKERS,
	       AT_ONCE);
	for (unsigned i = 0; i < WORKERS; i++)
		printf(" %u", w.seen->order[i]);
	printf("\n");
	quoit_close(own.s, 0);
	return bad != 0;
}
