/* SPDX-License-Identifier: MIT */
/* test_workers.c - workers whose second threads cannot be created go on with the first ones */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "backend/cpu/worker_private.h"
#include "base/tsc.h"
#include "session/session.h"

#define WORKERS 3u
#define TILES   100u

/* ---- threads that cannot be created ---- */

static unsigned made, most = ~0u;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return made++ < most ? next(thread, attr, run, arg) : EAGAIN;
}

/* ---- a reactor ---- */

static clockid_t no_clock;
static uint32_t need_wake;
static struct workers *workers;
static struct session session;
static unsigned ran;

static uint32_t tiles_of(const struct op_args *args, uint32_t cores)
{
	(void)args;
	(void)cores;
	return TILES;
}

static void run_tile(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	(void)args;
	(void)tile;
	(void)tiles;
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
}

static void start(unsigned threads)
{
	static struct worker_seat seat[WORKERS];
	struct worker_owner owner = {
		.clock = &no_clock, .need_wake = &need_wake, .eventfd = eventfd(0, EFD_CLOEXEC)};
	struct worker_config config = {
		.workers = WORKERS, .seats = seat, .reactors = 1, .owners = &owner};

	tsc_init();
	made = 0;
	most = threads;
	cr_assert_eq(workers_start(&config, &workers), 0);
}

/*
 * Run one work, with another session's small jobs meanwhile, so that both threads would be wanted.
 */
static void run_one(void)
{
	static const struct op_impl impl = {.tiles = tiles_of, .run = run_tile};
	struct worker_port *port = workers_port(workers, 0);
	struct work *work = worker_slot(port), *done = NULL;

	cr_assert(work);
	work->impl = &impl;
	work->session = &session;
	work->session_id = 1;
	work->share = 100;
	work->cost = 1000000000;
	ran = 0;
	worker_publish(port, work);
	worker_call(port);
	while (!(done = worker_finished(port)))
		sched_yield();
	cr_expect_eq(done, work);
	cr_expect_eq(ran, TILES);
	worker_retire(port, done);
}

TestSuite(workers, .timeout = 60);

Test(workers, with_both_threads)
{
	start(2 * WORKERS);
	run_one();
	cr_expect_eq(workers_double(workers), 0);
	for (unsigned i = 0; i < 100; i++)
		run_one();
	workers_stop(workers);
}

Test(workers, without_all_second_threads_there_is_none_and_all_work)
{
	for (unsigned missing = 1; missing <= WORKERS; missing++) {
		start(2 * WORKERS - missing);
		cr_expect_eq(workers_double(workers), -EAGAIN);
		for (unsigned i = 0; i < 100; i++)
			run_one();
		workers_stop(workers);
	}
}

Test(workers, without_a_first_thread_there_is_no_worker)
{
	struct worker_seat seat[WORKERS] = {{0}};
	struct worker_owner owner = {.clock = &no_clock, .need_wake = &need_wake, .eventfd = -1};
	struct worker_config config = {
		.workers = WORKERS, .seats = seat, .reactors = 1, .owners = &owner};

	tsc_init();
	made = 0;
	most = 2;
	cr_expect_eq(workers_start(&config, &workers), -EAGAIN);
	cr_expect_null(workers);
}

/* ---- works in a line ---- */

static _Atomic bool may_end;    /* a work of one tile waits for this */
static _Atomic unsigned behind; /* tiles that ran behind it */

static void run_first(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	(void)tile;
	(void)tiles;
	while (!may_end)
		sched_yield();
	atomic_store(&args->error, args->arg ? -EINVAL : 0);
}

static void run_behind(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	(void)args;
	(void)tile;
	(void)tiles;
	cr_expect(may_end, "the one ahead has ended");
	behind++;
}

static const struct op_impl first_impl = {.run = run_first}, behind_impl = {.run = run_behind};

static struct work *fill(const struct op_impl *impl, bool fails)
{
	struct work *work = worker_slot(workers_port(workers, 0));

	work->impl = impl;
	work->session = &session;
	work->session_id = 1;
	work->share = 100;
	work->args.arg = fails;
	atomic_init(&work->args.error, 0);
	return work;
}

/* A work that waits for may_end, with workers. */
static struct work *publish_first(bool fails)
{
	struct work *work;

	start(2 * WORKERS);
	may_end = false;
	behind = 0;
	work = fill(&first_impl, fails);
	worker_publish(workers_port(workers, 0), work);
	worker_call(workers_port(workers, 0));
	return work;
}

static struct work *await_end(void)
{
	struct work *done;

	while (!(done = worker_finished(workers_port(workers, 0))))
		sched_yield();
	return done;
}

Test(workers, begin_the_work_behind_one_that_has_ended_well)
{
	struct worker_port *port;
	struct work *first = publish_first(false), *second = fill(&behind_impl, false);

	port = workers_port(workers, 0);
	cr_assert(worker_follow(port, first, second));
	cr_expect_eq(behind, 0);
	may_end = true;
	while (!behind) /* before its owner has looked for the end of the first */
		sched_yield();
	cr_expect_eq(await_end(), first, "the end of the first one is told first");
	cr_expect(worker_goes_on(first));
	cr_expect_geq(first->ended, first->started);
	worker_retire(port, first);
	cr_expect_null(second->ahead);
	if (!second->early)
		cr_expect_eq(await_end(), second);
	cr_expect_geq(second->started, first->ended);
	worker_retire(port, second);
	workers_stop(workers);
}

Test(workers, do_not_begin_the_work_behind_one_that_has_failed)
{
	struct worker_port *port;
	struct work *first = publish_first(true), *second = fill(&behind_impl, false);

	port = workers_port(workers, 0);
	cr_assert(worker_follow(port, first, second));
	may_end = true;
	cr_expect_eq(await_end(), first);
	cr_expect_not(worker_goes_on(first));
	worker_retire(port, second);
	cr_expect_null(first->behind);
	worker_retire(port, first);
	workers_stop(workers);
	cr_expect_eq(behind, 0);
}

Test(workers, do_not_begin_the_work_behind_one_that_is_not_wanted)
{
	struct worker_port *port;
	struct work *first = publish_first(false), *second = fill(&behind_impl, false);

	port = workers_port(workers, 0);
	cr_assert(worker_follow(port, first, second));
	atomic_store(&first->abandoned, true);
	may_end = true;
	cr_expect_eq(await_end(), first);
	cr_expect_not(worker_goes_on(first));
	worker_retire(port, second);
	worker_retire(port, first);
	workers_stop(workers);
	cr_expect_eq(behind, 0);
}

Test(workers, do_not_begin_what_was_taken_back)
{
	struct worker_port *port;
	struct work *first = publish_first(false), *second = fill(&behind_impl, false);

	port = workers_port(workers, 0);
	cr_assert(worker_follow(port, first, second));
	cr_expect(worker_take_back(port, second));
	cr_expect_null(first->behind);
	cr_expect_eq(port->published, 1);
	may_end = true;
	cr_expect_eq(await_end(), first);
	worker_retire(port, first);
	cr_expect_eq(port->published, 0);
	workers_stop(workers);
	cr_expect_eq(behind, 0);
}

Test(workers, take_no_work_behind_one_that_has_ended)
{
	struct worker_port *port;
	struct work *first = publish_first(false), *second;

	port = workers_port(workers, 0);
	may_end = true;
	cr_expect_eq(await_end(), first);
	second = fill(&behind_impl, false);
	cr_expect_not(worker_follow(port, first, second));
	cr_expect_null(first->behind);
	cr_expect_eq(port->published, 1, "its slot is free again");
	worker_retire(port, first);
	workers_stop(workers);
	cr_expect_eq(behind, 0);
}

Test(workers, leave_in_the_line_what_they_have_begun)
{
	struct worker_port *port;
	struct work *first = publish_first(false), *second = fill(&behind_impl, false);

	port = workers_port(workers, 0);
	cr_assert(worker_follow(port, first, second));
	may_end = true;
	while (!behind)
		sched_yield();
	cr_expect_not(worker_take_back(port, second));
	cr_expect_eq(await_end(), first);
	worker_retire(port, first);
	if (!second->early)
		cr_expect_eq(await_end(), second);
	worker_retire(port, second);
	workers_stop(workers);
}

/* ---- nodes ---- */

Test(workers, take_works_of_their_own_nodes_reactors_unless_it_has_none)
{
	static const int node[WORKERS] = {0, 1, 2}; /* the last one has no reactor */
	struct worker_seat seat[WORKERS];
	struct worker_owner owner[2];
	struct worker_config config = {
		.workers = WORKERS, .seats = seat, .reactors = 2, .owners = owner};

	tsc_init();
	made = 0;
	most = 2 * WORKERS;
	for (unsigned i = 0; i < WORKERS; i++)
		seat[i] = (struct worker_seat){.cpu = 0, .node = node[i]};
	for (unsigned i = 0; i < 2; i++)
		owner[i] = (struct worker_owner){.clock = &no_clock,
						 .need_wake = &need_wake,
						 .eventfd = eventfd(0, EFD_CLOEXEC),
						 .node = (int)i};
	cr_assert_eq(workers_start(&config, &workers), 0);
	for (unsigned i = 0; i < WORKERS; i++)
		for (unsigned r = 0; r < 2; r++)
			cr_expect_eq(worker_takes_from(&workers->worker[i], r), i == r || i == 2,
				     "worker %u, reactor %u", i, r);
	cr_expect_eq(workers->cores[0], 2);
	cr_expect_eq(workers->cores[1], 2);
	workers_stop(workers);
}
