/* SPDX-License-Identifier: MIT */
/*
 * processes_shared.c - multiprocessing's Value and Array: tensors with names.  Each process computes
 * its part of an array where it lies, and counts it in a value, under a lock.
 */
#include "processes.h"

#define WORKERS 4u
#define PART    1000u /* elements of the array, for each worker */

static const struct quoit_shape value_shape = {.dtype = QUOIT_I64, .dim = {1, 1, 1, 1}};
static const struct quoit_shape array_shape = {.dtype = QUOIT_F64, .dim = {1, 1, WORKERS, PART}};
static const struct quoit_shape part_shape = {.dtype = QUOIT_F64, .dim = {1, 1, 1, PART}};

struct shared {
	struct name value, array, lock;
};

/* What a process has of them; whoever comes first makes them, and they are zero at first. */
struct ours {
	int lock;
	quoit_tensor value, array;
};

static int open_them(struct own *own, const struct shared *with, struct ours *ret)
{
	int value = quoit_open_tensor(own->s, with->value.text, &value_shape, NULL);
	int array = quoit_open_tensor(own->s, with->array.text, &array_shape, NULL);

	ret->lock = quoit_open_lock(own->s, with->lock.text, NULL);
	if (value < 0 || array < 0 || ret->lock < 0) {
		fprintf(stderr, "process %d: %s\n", (int)getpid(), quoit_open_text());
		return -1;
	}
	ret->value = quoit_attach_tensor(own->q, value);
	ret->array = quoit_attach_tensor(own->q, array);
	return 0;
}

/* `with value.get_lock(): value.value += PART`, as three jobs, of which none waits here */
static int count(struct own *own, const struct ours *o)
{
	int err = quoit_push(own->q, quoit_lock(o->lock, o->value));

	if (!err)
		err = quoit_push(own->q, quoit_add_int(o->value, o->value, PART));
	return err ? err : quoit_push(own->q, quoit_unlock(o->lock, o->value));
}

/* Nobody else writes this part, so it needs no lock. */
static int work(unsigned number, void *with)
{
	struct ours o;
	struct own own;
	quoit_tensor part;
	int err = own_open(&own);

	if (!err)
		err = open_them(&own, with, &o);
	if (err)
		return err;
	part = quoit_view(own.q, o.array, &part_shape, number * PART * sizeof(double));
	err = quoit_push(own.q, quoit_fill(part, number + 1));
	if (!err)
		err = quoit_push(own.q, quoit_mul(part, part, part));
	if (!err)
		err = count(&own, &o);
	return err ? err : quoit_close(own.s, 0); /* waits for all of them */
}

/* Read the array in place, and the value as a number. */
static int look(struct own *own, const struct ours *o, double *ret_sum, int64_t *ret_value)
{
	void *at;
	int err = quoit_acquire(own->q, o->array, QUOIT_ACCESS_READ, QUOIT_FOREVER, &at);

	if (err)
		return err;
	*ret_sum = 0;
	for (unsigned i = 0; i < WORKERS * PART; i++)
		*ret_sum += ((const double *)at)[i];
	err = quoit_release_tensor(own->q, o->array);
	return err ? err : quoit_read(own->q, o->value, ret_value, sizeof *ret_value);
}

int main(void)
{
	struct shared shared = {name_of("value"), name_of("array"), name_of("lock")};
	pid_t worker[WORKERS];
	int64_t value = 0;
	double sum = 0;
	struct ours o;
	struct own own;
	int bad;

	if (own_open(&own) || open_them(&own, &shared, &o))
		return 1;
	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = process_start(work, i, &shared);
	bad = process_join_all(worker, WORKERS);
	if (look(&own, &o, &sum, &value))
		bad++;
	printf("%u processes have computed %lld elements, whose sum is %g; %d failed\n", WORKERS,
	       (long long)value, sum, bad);
	quoit_close(own.s, 0);
	return bad || value != WORKERS * PART || sum != PART * (1 + 4 + 9 + 16);
}
