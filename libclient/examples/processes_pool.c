/* SPDX-License-Identifier: MIT */
/*
 * processes_pool.c - multiprocessing's Pool: processes that run a function for others.  Results and
 * errors come back, a process that crashes costs one call, and all are joined.
 */
#include <errno.h>
#include <math.h>

#include "processes.h"

#define WORKERS 3u
#define ITEMS   20u
#define WAIT_MS 10000u /* for the first process that serves */

struct pool {
	struct name service, life;
};

/* ---- the functions ---- */

static int root(void *state, struct quoit_exec_call *call)
{
	const double x = call->scalar[0].f;
	double *out = call->tensor[0].data;

	(void)state;
	if (x < 0) {
		snprintf(call->text, sizeof call->text, "%g has no root", x);
		return -EDOM;
	}
	*out = sqrt(x);
	return 0;
}

static int crash(void *state, struct quoit_exec_call *call)
{
	(void)state;
	(void)call;
	return raise(SIGKILL);
}

static const struct quoit_function functions[] = {
	{.name = "root", .access = "W---", .run = root},
	{.name = "crash", .access = "w---", .run = crash},
};

/* ---- a process of the pool ---- */

/* It serves until it gets the lock, which the parent holds: by an unlock, or by the parent's death. */
static int work(unsigned number, void *with)
{
	const struct pool *pool = with;
	const struct quoit_serve_params one = {.lanes = 1};
	struct quoit_team *team;
	struct own own;
	int life, err = own_open(&own);

	(void)number;
	if (err)
		return err;
	err = quoit_serve(own.s, pool->service.text, functions, 2, &one, &team);
	life = quoit_open_lock(own.s, pool->life.text, NULL);
	if (!err)
		err = quoit_run(own.q, quoit_lock(life, QUOIT_NO_TENSOR), QUOIT_FOREVER);
	if (err >= 0) /* 0 or QUOIT_OWNER_DIED: for the next one */
		err = quoit_run(own.q, quoit_unlock(life, QUOIT_NO_TENSOR), QUOIT_FOREVER);
	if (!err)
		err = quoit_close_team(team); /* calls that run come to their end */
	return err ? err : quoit_close(own.s, 0);
}

/* ---- the program that has the pool ---- */

/* Pool.map: all calls are put in before the first one is waited for. */
static int map(struct quoit_ring *q, int function, double *ret_sum)
{
	const struct quoit_shape all = {.dtype = QUOIT_F64, .dim = {1, 1, 1, ITEMS}};
	const struct quoit_shape one = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 1}};
	quoit_tensor roots = quoit_create(q, &all, QUOIT_CREATE_SHARED);
	double out[ITEMS];
	int err = 0;

	for (unsigned i = 0; i < ITEMS && !err; i++) {
		quoit_tensor to = quoit_view(q, roots, &one, i * sizeof *out);

		err = quoit_push(
			q, quoit_with_scalars(quoit_call(function, to, 0, 0, 0), quoit_bits(i), 0));
	}
	if (!err)
		err = quoit_read(q, roots, out, sizeof out);
	*ret_sum = 0;
	for (unsigned i = 0; i < ITEMS && !err; i++)
		*ret_sum += out[i];
	return err;
}

/* Pool.apply, of which an error is expected, and told. */
static int fail(struct quoit_ring *q, struct quoit_sqe call, int expected)
{
	char text[300];
	quoit_job job;
	int err = quoit_start(q, call, &job);

	if (!err)
		err = quoit_wait(q, job, QUOIT_FOREVER);
	printf("%s\n", quoit_strerror_wait(q, err, text, sizeof text));
	return err == expected ? 0 : err ? err : -EPROTO;
}

static int use(struct own *own, const struct pool *pool)
{
	const struct quoit_shape one = {.dtype = QUOIT_F64, .dim = {1, 1, 1, 1}};
	struct quoit_service *service;
	quoit_tensor t = quoit_create(own->q, &one, QUOIT_CREATE_SHARED);
	double sum;
	int f, err = quoit_open_service(own->s, pool->service.text, WAIT_MS, &service);

	if (err)
		return err;
	f = quoit_find_service_function(service, "root");
	err = map(own->q, f, &sum);
	if (!err)
		printf("the sum of %u roots is %.3f\n", ITEMS, sum);
	if (!err)
		err = fail(own->q, quoit_with_scalars(quoit_call(f, t, 0, 0, 0), quoit_bits(-1), 0),
			   -EDOM);
	f = quoit_find_service_function(service, "crash");
	if (!err)
		err = fail(own->q, quoit_call(f, 0, 0, 0, 0), -QUOIT_EEXEC);
	f = quoit_find_service_function(service, "root");
	return err ? err : map(own->q, f, &sum); /* the others go on */
}

int main(void)
{
	struct pool pool = {name_of("pool"), name_of("life")};
	pid_t worker[WORKERS];
	struct own own;
	int life, killed = 0, bad = 0, err = own_open(&own);

	if (err)
		return 1;
	life = quoit_open_lock(own.s, pool.life.text, NULL);
	err = quoit_run(own.q, quoit_lock(life, QUOIT_NO_TENSOR), QUOIT_FOREVER);
	for (unsigned i = 0; i < WORKERS; i++)
		worker[i] = process_start(work, i, &pool);
	if (!err)
		err = use(&own, &pool);
	if (err)
		fprintf(stderr, "processes_pool: %s\n", quoit_strerror(err));
	quoit_close(own.s, 0); /* gives the lock back */
	for (unsigned i = 0; i < WORKERS; i++) {
		int status = process_join(worker[i]);

		killed += status == -SIGKILL;
		bad += status != 0 && status != -SIGKILL;
	}
	printf("joined %u processes: %d crashed, %d failed\n", WORKERS, killed, bad);
	return err || bad || killed != 1;
}
