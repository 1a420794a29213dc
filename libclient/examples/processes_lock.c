/* SPDX-License-Identifier: MIT */
/*
 * processes_lock.c - multiprocessing's Lock, for a section of the program's own code.  A process
 * that is killed in the section does not keep the lock; whoever gets it next is told, and repairs.
 */
#include <errno.h>
#include <stdlib.h>

#include "processes.h"

#define WORKERS   4u
#define ADDITIONS 25

/* What the lock protects, in a file: it is whole where both values are equal. */
struct account {
	int value, copy, repaired;
};

struct shared {
	struct name lock;
	int file;
};

/* ---- the section ---- */

static int enter(struct own *own, int lock, const struct shared *with, struct account *ret)
{
	int err = quoit_run(own->q, quoit_lock(lock, QUOIT_NO_TENSOR), QUOIT_FOREVER);

	if (err < 0)
		return err;
	if (pread(with->file, ret, sizeof *ret, 0) != sizeof *ret)
		return -EIO;
	if (err == QUOIT_OWNER_DIED && ret->value != ret->copy) {
		ret->value = ret->copy;
		ret->repaired++;
	}
	return 0;
}

static int leave(struct own *own, int lock, const struct shared *with, const struct account *a)
{
	if (pwrite(with->file, a, sizeof *a, 0) != sizeof *a)
		return -EIO;
	return quoit_run(own->q, quoit_unlock(lock, QUOIT_NO_TENSOR), QUOIT_FOREVER);
}

static int add(unsigned number, void *with)
{
	const struct shared *shared = with;
	struct account a;
	struct own own;
	int lock, err = own_open(&own);

	(void)number;
	if (err)
		return err;
	lock = quoit_open_lock(own.s, shared->lock.text, NULL);
	for (int i = 0; i < ADDITIONS && !err; i++) {
		err = enter(&own, lock, with, &a);
		a.value++;
		a.copy++;
		if (!err)
			err = leave(&own, lock, with, &a);
	}
	return err ? err : quoit_close(own.s, 0);
}

/* It dies when one of the two values is written. */
static int add_half(unsigned number, void *with)
{
	const struct shared *shared = with;
	struct account a;
	struct own own;
	int err = own_open(&own);

	(void)number;
	if (!err)
		err = enter(&own, quoit_open_lock(own.s, shared->lock.text, NULL), with, &a);
	if (err)
		return err;
	a.value += 1000;
	if (pwrite(shared->file, &a, sizeof a, 0) != sizeof a)
		return -EIO;
	return raise(SIGKILL);
}

int main(void)
{
	struct account a = {0};
	struct shared shared = {name_of("account"), -1};
	pid_t worker[WORKERS], victim;
	FILE *file = tmpfile();
	struct own own;
	int lock, bad;

	if (!file || own_open(&own))
		return 1;
	shared.file = fileno(file);
	lock = quoit_open_lock(own.s, shared.lock.text,
			       NULL); /* it is there as long as this session */
	if (lock < 0 || pwrite(shared.file, &a, sizeof a, 0) != sizeof a)
		return 1;
	victim = process_start(add_half, 0, &shared);
	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = process_start(add, i, &shared);
	bad = process_join_all(worker, WORKERS);
	if (process_join(victim) != -SIGKILL || enter(&own, lock, &shared, &a))
		bad++;
	printf("%u x %d additions: %d, repaired %d times, %d processes failed\n", WORKERS,
	       ADDITIONS, a.copy, a.repaired, bad);
	quoit_close(own.s, 0);
	return bad || a.value != WORKERS * ADDITIONS || a.copy != a.value || a.repaired != 1;
}
