/* SPDX-License-Identifier: MIT */
/* flood.c - submit more work than the cores can do */
#include "flood.h"

#include <grp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#define LEASE_BYTES (UINT64_C(1) << 20)
#define ALL_JOBS    16384u /* in the rings of all sessions together, about */
#define LEAST_JOBS  8u
#define SMALL       2048u /* elements of a vector */
#define LARGE       384u  /* rows of a matrix */
#define PRODUCTS    16u   /* independent products of all sessions */
#define LEAST       4u    /* the least independent products of a session */
#define PAUSE_US    200

struct flood_state {
	_Atomic bool ready;
	_Atomic uint64_t done;
};

struct source {
	struct quoit_ring *ring;
	quoit_tensor x, product[PRODUCTS];
	unsigned products, next;
	bool lengthy;
};

/* ---- the process ---- */

/* Run at a higher priority, since the flood must keep its rings full. */
static int become(uid_t uid)
{
	struct rlimit limit;

	(void)setpriority(PRIO_PROCESS, 0, -10);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (uid == geteuid())
		return 0;
	return setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid);
}

/*
 * Sums that need no memory, and many seconds of all cores.  They share an input, so they do not
 * wait for each other.
 */
static void make_lengthy(struct source *s)
{
	const struct quoit_shape many = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1u << 7, 1u << 30}, .stride = {1}};
	quoit_tensor one = quoit_create_vector(s->ring, QUOIT_F32, 1);

	s->lengthy = true;
	*quoit_get_sqe(s->ring) = quoit_fill(one, 1);
	s->x = quoit_view(s->ring, one, &many, 0);
	for (; s->products < PRODUCTS; s->products++)
		s->product[s->products] = quoit_create_vector(s->ring, QUOIT_F32, 1);
}

static int open_source(struct source *s, const struct flood_wish *wish)
{
	uint32_t rows = wish->rows ? wish->rows : LARGE;
	unsigned products = PRODUCTS / wish->sessions > LEAST ? PRODUCTS / wish->sessions : LEAST;
	uint64_t bytes = wish->tiles ? (products + 1) * sizeof(float) * (uint64_t)rows * rows : 0;
	struct quoit_open_params params = {.socket = wish->socket,
					   .host_bytes = LEASE_BYTES + bytes,
					   .arena_bytes = 65536,
					   .device_bytes = wish->device ? LEASE_BYTES + bytes : 0,
					   .max_tensors = 64};
	struct quoit_ring_params ring = {.flags = QUOIT_RING_RAW,
					 .entries = ALL_JOBS / wish->sessions};
	struct quoit_session *session;
	int err;

	if (ring.entries < LEAST_JOBS)
		ring.entries = LEAST_JOBS;
	err = quoit_open(&params, &session);
	if (!err)
		err = quoit_open_ring(session, &ring, &s->ring);
	if (!err && wish->device)
		err = quoit_use_device(s->ring, wish->device);
	if (err) {
		fprintf(stderr, "flood: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return err;
	}
	if (wish->lengthy) {
		make_lengthy(s);
		return 0;
	}
	s->x = wish->tiles ? quoit_create_matrix(s->ring, QUOIT_F32, rows, rows)
			   : quoit_create_vector(s->ring, QUOIT_F32, SMALL);
	for (; wish->tiles && s->products < products; s->products++)
		s->product[s->products] = quoit_create_matrix(s->ring, QUOIT_F32, rows, rows);
	return 0;
}

static struct quoit_sqe next_job(struct source *s)
{
	quoit_tensor to = s->products ? s->product[s->next++ % s->products] : QUOIT_NO_TENSOR;

	return s->lengthy    ? quoit_sum(to, s->x, QUOIT_AXIS_ALL)
	       : s->products ? quoit_gemm(to, s->x, s->x, 0, 1, 0)
			     : quoit_normal(s->x, 1, 0);
}

/* Reap all CQEs, and submit as many jobs as there is room for; returns how many were reaped. */
static uint64_t turn(struct source *s)
{
	const struct quoit_cqe *cqe;
	struct quoit_sqe *sqe;
	uint64_t done = 0;

	for (int n; (n = quoit_peek(s->ring, &cqe)) > 0; done += (unsigned)n)
		quoit_release(s->ring, (unsigned)n);
	while ((sqe = quoit_get_sqe(s->ring)) != NULL)
		*sqe = next_job(s);
	(void)quoit_flush(s->ring);
	return done;
}

static void run(const struct flood_wish *wish, struct flood_state *state)
{
	struct source *source = calloc(wish->sessions, sizeof *source);

	if (!source || become(wish->uid))
		_exit(1);
	for (unsigned i = 0; i < wish->sessions; i++) {
		if (open_source(&source[i], wish))
			_exit(1);
		(void)turn(&source[i]);
	}
	state->ready = true;
	for (;;) {
		uint64_t done = 0;

		for (unsigned i = 0; i < wish->sessions; i++)
			done += turn(&source[i]);
		state->done += done;
		usleep(PAUSE_US);
	}
}

/* ---- its parent ---- */

bool flood_begin(struct flood *f, const struct flood_wish *wish)
{
	f->state = mmap(NULL, sizeof *f->state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (f->state == MAP_FAILED)
		return false;
	fflush(NULL);
	f->pid = fork();
	if (f->pid == 0)
		run(wish, f->state);
	while (!f->state->ready) {
		if (f->pid < 0 || waitpid(f->pid, NULL, WNOHANG))
			return false;
		usleep(1000);
	}
	return true;
}

uint64_t flood_done(const struct flood *f)
{
	return f->state->done;
}

void flood_end(struct flood *f)
{
	(void)kill(f->pid, SIGKILL);
	(void)waitpid(f->pid, NULL, 0);
	(void)munmap(f->state, sizeof *f->state);
}
