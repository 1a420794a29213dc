/* SPDX-License-Identifier: MIT */
/*
 * workers_torture.c - many reactors publish works, many workers claim them
 *
 * Slots are used again as soon as they are free, so that a worker that looked at the last work of a
 * slot meets the next one.  Every tile runs once, after the clearing; finish runs once, after every
 * tile; a sleeping reactor is woken.  A work behind another one runs after that has finished, and
 * not at all if it has failed or the work was taken back.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <quoit/pause.h>

#include "backend/cpu/worker.h"
#include "base/tsc.h"
#include "session/session.h"
#include "stage.h"

#define REACTORS 3u
#define WORKERS  4u
#define TILES    48u
#define SCRATCH  4096u /* bytes to be cleared */
#define ALARM_MS 10000

/* What a work did; the first tensor of its op_args points here. */
struct witness {
	_Atomic uint32_t runs[TILES];
	_Atomic uint32_t finished;
	_Atomic bool wrong; /* out of order, or not cleared */
	uint32_t tiles;
	_Atomic bool abandoned;
	uint8_t scratch[SCRATCH];
	bool cleared; /* scratch must be cleared when the tiles run */
	_Atomic bool fails;
	_Atomic uint32_t use; /* of its slot: changes each time */
	/* The work ahead must have finished, while its slot is not used again; NULL: there is none. */
	const struct witness *ahead;
	uint32_t ahead_use;
};

/* Of all reactors; works only compare them. */
static struct session sessions[4];

struct reactor_seat {
	struct worker_port *port;
	struct witness witness[WORKER_SLOTS];
	uint32_t need_wake;
	int eventfd;
	uint64_t random;
	uint64_t works;
	uint64_t depth; /* works published at a time */
	const char *wrong;
	pthread_t thread;
};

/* ---- the operation ---- */

static uint32_t op_tiles(const struct op_args *args, uint32_t cores)
{
	const struct witness *w = args->t[0].data;

	(void)cores;
	return w->tiles;
}

/* Has the work ahead ended well, as far as can be told? */
static bool may_run(const struct witness *w)
{
	const struct witness *ahead = w->ahead;
	bool ended;

	if (!ahead)
		return true;
	ended = ahead->finished && !ahead->fails;
	return ended || ahead->abandoned || ahead->use != w->ahead_use;
}

static void op_run(struct op_args *args, uint32_t tile, uint32_t tiles)
{
	struct witness *w = args->t[0].data;

	if (tiles != w->tiles || tile >= tiles || w->finished)
		w->wrong = true;
	else if (!may_run(w))
		w->wrong = true;
	else
		w->runs[tile]++;
	for (unsigned i = 0; w->cleared && i < SCRATCH; i += 64)
		if (w->scratch[i])
			w->wrong = true;
}

static void op_finish(struct op_args *args)
{
	struct witness *w = args->t[0].data;

	for (uint32_t i = 0; i < w->tiles; i++)
		if (w->runs[i] != 1)
			w->wrong = true;
	if (w->fails)
		atomic_store(&args->error, -1);
	w->finished++;
}

static const struct op_impl op = {.tiles = op_tiles, .run = op_run, .finish = op_finish};

/* ---- a reactor ---- */

static uint32_t draw(struct reactor_seat *r, uint32_t below)
{
	r->random = r->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(r->random >> 33) % below;
}

/* Wait about until a worker goes to sleep. */
static void dawdle(struct reactor_seat *r)
{
	for (uint32_t n = draw(r, 300); n; n--)
		quoit_pause();
}

static struct witness *witness_of(struct reactor_seat *r, const struct work *work)
{
	return &r->witness[work - r->port->work];
}

static void fill_in(struct reactor_seat *r, struct work *work, const struct work *ahead)
{
	struct witness *w = witness_of(r, work);

	w->use++;
	for (uint32_t i = 0; i < TILES; i++)
		w->runs[i] = 0;
	w->finished = 0;
	w->wrong = false;
	w->tiles = 1 + draw(r, TILES);
	w->cleared = draw(r, 2);
	memset(w->scratch, 0xff, sizeof w->scratch);
	w->abandoned = false;
	w->fails = !draw(r, 4);
	w->ahead = ahead ? witness_of(r, ahead) : NULL;
	w->ahead_use = ahead ? w->ahead->use : 0;
	work->impl = &op;
	work->session_id = 1 + draw(r, 4);
	work->session = &sessions[work->session_id - 1];
	work->user = draw(r, 3);
	work->share = 1 + draw(r, SHARE_MOST);
	atomic_init(&work->args.error, 0);
	work->args.t[0].data = w;
	work->cost = draw(r, 2) ? UINT64_C(1) << draw(r, 40) : 0;
	work->zeros = w->cleared ? 2 : 0;
	work->zero[0] = (struct zero_range){w->scratch, SCRATCH / 2};
	work->zero[1] = (struct zero_range){w->scratch + SCRATCH / 2, SCRATCH / 2};
}

static void abandon(struct reactor_seat *r, struct work *work)
{
	witness_of(r, work)->abandoned = true;
	atomic_store(&work->abandoned, true);
}

static void publish(struct reactor_seat *r, struct work *work)
{
	fill_in(r, work, NULL);
	if (!draw(r, 4)) /* another session has small jobs, so the workers' threads take turns */
		weight_note_new(&r->port->served, 1 + draw(r, 4), tsc_now());
	worker_publish(r->port, work);
	worker_call(r->port);
	if (draw(r, 50) == 0)
		abandon(r, work);
}

/* Put a work behind this one, and perhaps take it back again.  True: it is there. */
static bool publish_behind(struct reactor_seat *r, struct work *ahead)
{
	struct work *work = worker_slot(r->port);

	if (!work)
		return false;
	if (draw(r, 2))
		dawdle(r);
	fill_in(r, work, ahead);
	if (!worker_follow(r->port, ahead, work))
		return false;
	if (draw(r, 3) == 0) {
		usleep(draw(r, 100)); /* the work ahead may end meanwhile */
		if (worker_take_back(r->port, work))
			return false;
	}
	if (draw(r, 50) == 0)
		abandon(r, work);
	return true;
}

static const char *check(const struct witness *w)
{
	if (w->wrong)
		return "a tile ran out of order, twice, or on memory that was not cleared";
	if (w->finished > 1 || (!w->finished && !w->abandoned))
		return "finish did not run once";
	for (uint32_t i = 0; i < TILES; i++)
		if (w->runs[i] > 1 || (!w->abandoned && w->runs[i] != (i < w->tiles)))
			return "a tile did not run once";
	return NULL;
}

static const char *sleep_now(struct reactor_seat *r)
{
	struct pollfd p = {.fd = r->eventfd, .events = POLLIN};
	uint64_t count;
	bool rung = true;

	if (worker_may_sleep(r->port, &r->need_wake)) {
		rung = poll(&p, 1, ALARM_MS) > 0;
		if (rung)
			(void)!read(r->eventfd, &count, sizeof count);
	}
	quoit_ring_awake(&r->need_wake);
	return rung ? NULL : "a work has not ended, or nobody said so";
}

/* The work ahead has failed. */
static const char *check_unused(const struct witness *w)
{
	for (uint32_t i = 0; i < TILES; i++)
		if (w->runs[i])
			return "a work ran behind one that had failed";
	return NULL;
}

/* End a work, and what is behind it where that has already ended or never begins. */
static const char *end(struct reactor_seat *r, struct work *work, uint64_t *done)
{
	const struct witness *w = witness_of(r, work);
	struct work *behind = work->behind;
	const char *wrong = check(w);

	if (work->ahead)
		wrong = "the end of a work is told before that of the one ahead";
	else if (w->fails && worker_goes_on(work))
		wrong = "a line goes on behind a work that has failed";
	if (behind && !worker_goes_on(work)) {
		wrong = wrong ? wrong : check_unused(witness_of(r, behind));
		worker_retire(r->port, behind);
		++*done;
		behind = NULL;
	}
	worker_retire(r->port, work);
	++*done;
	if (wrong || !behind || !behind->early)
		return wrong;
	return end(r, behind, done);
}

static const char *collect(struct reactor_seat *r, uint64_t *done)
{
	const char *wrong = NULL;
	struct work *work;

	while (!wrong && (work = worker_finished(r->port)) != NULL)
		wrong = end(r, work, done);
	return wrong;
}

static void *react(void *arg)
{
	struct reactor_seat *r = arg;
	uint64_t published = 0, done = 0;

	while (done < r->works && !r->wrong) {
		struct work *work;

		while (published < r->works && published - done < r->depth && draw(r, 4) &&
		       (work = worker_slot(r->port))) {
			if (r->depth == 1)
				dawdle(r);
			publish(r, work);
			published++;
			if (r->depth > 1 && published < r->works && draw(r, 2))
				published += publish_behind(r, work);
		}
		r->wrong = collect(r, &done);
		/* A single one comes back so soon that the worker is about to fall asleep. */
		if (!r->wrong && published > done && !draw(r, r->depth == 1 ? 200 : 2))
			r->wrong = sleep_now(r);
	}
	return NULL;
}

/* ---- the case ---- */

static clockid_t no_clock; /* no reactor there has a thread of its own */

static bool start(struct reactor_seat *seats, uint32_t workers, struct workers **ret)
{
	struct worker_seat worker[WORKERS];
	struct worker_owner owner[REACTORS];
	struct worker_config config = {
		.workers = workers, .seats = worker, .reactors = REACTORS, .owners = owner};

	/* Node 1 has the last worker and no reactor, so that worker helps everywhere. */
	for (unsigned i = 0; i < workers; i++)
		worker[i] = (struct worker_seat){.cpu = (i + 1) % 2, .node = i == WORKERS - 1};
	for (unsigned i = 0; i < REACTORS; i++) {
		seats[i].eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		owner[i] = (struct worker_owner){.cpu = i,
						 .clock = &no_clock,
						 .need_wake = &seats[i].need_wake,
						 .eventfd = seats[i].eventfd};
	}
	return !workers_start(&config, ret) && !workers_double(*ret);
}

/* The first ones work; the others have nothing to do. */
static void run_reactors(struct stage *s, unsigned reactors, uint32_t helpers, uint64_t depth)
{
	static struct reactor_seat seats[REACTORS];
	struct workers *workers;

	memset(seats, 0, sizeof seats);
	if (!CHECK(s, start(seats, helpers, &workers)))
		return;
	for (unsigned i = 0; i < reactors; i++) {
		seats[i].port = workers_port(workers, i);
		seats[i].random = i;
		seats[i].works = stage_times(s, 8000, 250000);
		seats[i].depth = depth;
		pthread_create(&seats[i].thread, NULL, react, &seats[i]);
	}
	for (unsigned i = 0; i < reactors; i++) {
		pthread_join(seats[i].thread, NULL);
		if (seats[i].wrong)
			printf("%s: %s\n", s->name, seats[i].wrong);
		s->bad |= seats[i].wrong != NULL;
	}
	if (!s->bad)
		workers_stop(workers);
	for (unsigned i = 0; i < REACTORS; i++)
		close(seats[i].eventfd);
}

static void works_of_many_reactors(struct stage *s)
{
	run_reactors(s, REACTORS, WORKERS, WORKER_SLOTS);
}

/* One worker, and no other work that could wake it if it has missed this one. */
static void one_work_at_a_time(struct stage *s)
{
	run_reactors(s, 1, 1, 1);
}

static const struct stage_case cases[] = {
	{"works of many reactors", works_of_many_reactors},
	{"one work at a time", one_work_at_a_time},
};

int main(int argc, char **argv)
{
	tsc_init();
	return stage_main_alone(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
