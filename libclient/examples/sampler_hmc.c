/* SPDX-License-Identifier: MIT */
/*
 * sampler_hmc.c - a sampler of a Markov chain that is measured while it goes on (hmc.h).
 *
 * The steps are jobs, on $QUOIT_DEVICE or the host.  After each one a snapshot of the field is taken,
 * and a function of the program's own measures it, in a thread of a team, while the next steps are
 * computed.  There are five snapshots, so five measurements are pending at most: the sixth snapshot
 * waits for the first measurement, by the data alone.
 *
 * A measurement needs the one before it, since a step that was rejected has the same row again.  If
 * one fails, its row becomes NaN, and it is reported with its step.  Those behind it have failed by
 * that, and are done once more: their snapshots are still there.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quoit.h>

#include "binning.h"
#include "hmc.h"
#include "hmc_plain.h"
#include "now.h"
#include "where.h"

#define PENDING 5u /* measurements */

#define CHAINS_MOST 64u
#define SIZE_MOST   64u
#define STEPS_LEAST 100u /* fewer have no error that can be told */
#define STEPS_MOST  1000000u

/* What is told of a step besides the field. */
enum how {
	HOW_BALANCE,  /* exp(-dH) */
	HOW_ACCEPTED, /* 1 or 0 */
	HOW_SO_FAR,   /* accepted steps */
	HOW,
};

struct slot {
	quoit_tensor phi;           /* the snapshot */
	quoit_tensor how;           /* for each chain the three numbers of enum how */
	quoit_tensor how_view[HOW]; /* each of these, of all chains */
	quoit_tensor row;           /* MEASURED numbers of each chain */
	quoit_job job;              /* that measures it */
	bool ended;                 /* and was waited for */
};

struct program {
	struct lattice l;
	unsigned steps, fail_at; /* fail_at: the measurement of this step fails; 0: none does */
	unsigned again;          /* how often a field is measured: work that takes time */
	uint64_t seed;
	bool serial, check;
	struct quoit_session *s;
	struct quoit_ring *q;
	int measure; /* the function's number */
	int err;     /* the first one of a job that was put in */
	/* Fields of all chains, and views of them with a row for each chain: */
	quoit_tensor phi, next, p, sum, t, force;
	quoit_tensor p_flat, force_flat;
	/* A number for each chain: */
	quoit_tensor u, before, after, kinetic, accepted, accepted_f, so_far, accepted_wide;
	struct slot slot[PENDING];
	double *rows; /* of all steps, one behind the other */
	struct plain plain;
	unsigned failed; /* measurements */
};

/* ---- the measurement ---- */

static size_t row_numbers(const struct program *m)
{
	return (size_t)m->l.chains * MEASURED;
}

/* W: the step's row; R: the row before it, the snapshot, how the step went */
static int measure(void *state, struct quoit_exec_call *c)
{
	const struct program *m = state;
	const unsigned step = (unsigned)c->scalar[0].u;
	const double *before = c->tensor[1].data, *phi = c->tensor[2].data,
		     *how = c->tensor[3].data;
	double *row = c->tensor[0].data;

	if (step == m->fail_at) {
		snprintf(c->text, sizeof c->text, "the option --fail=%u says so", step);
		return -EDOM;
	}
	for (uint32_t chain = 0; chain < m->l.chains; chain++)
		for (unsigned i = 0; i < m->again; i++)
			measure_step(&m->l, phi + chain * sites_of(&m->l),
				     how[HOW_ACCEPTED * m->l.chains + chain] != 0,
				     before + chain * MEASURED, row + chain * MEASURED);
	for (uint32_t chain = 0; chain < m->l.chains; chain++) {
		row[chain * MEASURED + ACCEPTED] = how[HOW_SO_FAR * m->l.chains + chain] / step;
		row[chain * MEASURED + BALANCE] = how[HOW_BALANCE * m->l.chains + chain];
	}
	memcpy(m->rows + step * row_numbers(m), row, row_numbers(m) * sizeof *row);
	return 0;
}

/* ---- jobs ---- */

static void put(struct program *m, struct quoit_sqe sqe)
{
	if (!m->err)
		m->err = quoit_push(m->q, sqe);
}

/* to = the sum of x's neighbours to the front, and to the back if both are wanted; t is used. */
static void add_neighbours(struct program *m, quoit_tensor to, quoit_tensor x, bool both)
{
	for (int axis = 1; axis <= (int)DIMS; axis++)
		for (int way = -1; way <= (both ? 1 : -1); way += 2) {
			const bool first = axis == 1 && way == -1;

			put(m, quoit_roll(first ? to : m->t, x, axis, way));
			if (!first)
				put(m, quoit_add(to, to, m->t));
		}
}

static void find_force(struct program *m, quoit_tensor phi)
{
	add_neighbours(m, m->sum, phi, true);
	put(m, quoit_axpby(m->sum, 1, m->sum, -2 * square_term(&m->l), phi));
	put(m, quoit_mul(m->t, phi, phi));
	put(m, quoit_mul(m->t, m->t, phi));
	put(m, quoit_axpby(m->force, 1, m->sum, -4 * m->l.lambda, m->t));
}

/* to = H of each chain */
static void find_energy(struct program *m, quoit_tensor phi, quoit_tensor to)
{
	add_neighbours(m, m->sum, phi, false);
	put(m, quoit_mul(m->sum, m->sum, phi));
	put(m, quoit_mul(m->t, phi, phi));
	put(m, quoit_mul_scalar(m->force, m->t, m->l.lambda));
	put(m, quoit_add_scalar(m->force, m->force, square_term(&m->l)));
	put(m, quoit_mul(m->force, m->force, m->t));
	put(m, quoit_sub(m->force, m->force, m->sum));
	put(m, quoit_sum(to, m->force_flat, -1));
	put(m, quoit_sqnorm(m->kinetic, m->p_flat, -1));
	put(m, quoit_axpby(to, 1, to, 0.5, m->kinetic));
}

static void move(struct program *m, quoit_tensor x, double by, quoit_tensor y)
{
	put(m, quoit_axpby(x, 1, x, by, y));
}

static void run_trajectory(struct program *m)
{
	const double whole = m->l.epsilon, half = whole / 2;

	find_force(m, m->next);
	move(m, m->p, half, m->force);
	for (uint32_t leap = 1; leap <= m->l.leaps; leap++) {
		move(m, m->next, whole, m->p);
		find_force(m, m->next);
		move(m, m->p, leap < m->l.leaps ? whole : half, m->force);
	}
}

/* The same step in plain C, from the same random numbers. */
static void check_step(struct program *m)
{
	const size_t bytes = sites_of(&m->l) * m->l.chains * sizeof(double);
	double u[CHAINS_MOST];

	if (!m->err)
		m->err = quoit_read(m->q, m->p, m->plain.p, bytes);
	if (!m->err)
		m->err = quoit_read(m->q, m->u, u, m->l.chains * sizeof *u);
	if (!m->err)
		plain_step(&m->plain, u);
}

static void put_step(struct program *m, unsigned step)
{
	put(m, quoit_normal(m->p, m->seed, (uint64_t)step << 32));
	put(m, quoit_uniform(m->u, m->seed + 1, (uint64_t)step << 32));
	if (m->check)
		check_step(m);
	find_energy(m, m->phi, m->before);
	put(m, quoit_copy(m->next, m->phi));
	run_trajectory(m);
	find_energy(m, m->next, m->after);
	put(m, quoit_sub(m->before, m->before, m->after));
	put(m, quoit_exp(m->before, m->before));
	put(m, quoit_compare(m->accepted, m->u, QUOIT_CMP_LT, m->before));
	put(m, quoit_select(m->phi, m->accepted_wide, m->next, m->phi));
	put(m, quoit_cast(m->accepted_f, m->accepted));
	put(m, quoit_add(m->so_far, m->so_far, m->accepted_f));
}

static void put_snapshot(struct program *m, unsigned step)
{
	const struct slot *slot = &m->slot[step % PENDING];

	put(m, quoit_copy(slot->phi, m->phi));
	put(m, quoit_copy(slot->how_view[HOW_BALANCE], m->before));
	put(m, quoit_copy(slot->how_view[HOW_ACCEPTED], m->accepted_f));
	put(m, quoit_copy(slot->how_view[HOW_SO_FAR], m->so_far));
}

static void start_measurement(struct program *m, unsigned step)
{
	struct slot *slot = &m->slot[step % PENDING];
	const struct slot *before = &m->slot[(step - 1) % PENDING];
	struct quoit_sqe sqe = quoit_call(m->measure, slot->row, before->row, slot->phi, slot->how);

	if (!m->err)
		m->err = quoit_start(m->q, quoit_with_scalars(sqe, step, 0), &slot->job);
	slot->ended = false;
}

static int wait_for_measurement(struct program *m, unsigned step)
{
	struct slot *slot = &m->slot[step % PENDING];

	if (m->err || slot->ended)
		return 0;
	slot->ended = true;
	return quoit_wait(m->q, slot->job, QUOIT_FOREVER);
}

/* The measurements behind it, up to `newest`, that have failed by it are done again. */
static void go_on_without(struct program *m, unsigned step, unsigned newest)
{
	for (size_t i = 0; i < row_numbers(m); i++)
		m->rows[step * row_numbers(m) + i] = NAN;
	put(m, quoit_fill(m->slot[step % PENDING].row, NAN));
	for (unsigned i = step + 1; i <= newest; i++)
		if (wait_for_measurement(m, i) < 0)
			start_measurement(m, i);
}

static void end_measurement(struct program *m, unsigned step, unsigned newest)
{
	char text[512];
	int res = wait_for_measurement(m, step);

	if (res >= 0)
		return;
	m->failed++;
	fprintf(stderr, "\rstep %u was not measured: %s\n", step,
		quoit_strerror_wait(m->q, res, text, sizeof text));
	go_on_without(m, step, newest);
}

static void show_progress(const struct program *m, unsigned step)
{
	const unsigned width = 40, done = step * width / m->steps;

	if (!isatty(STDERR_FILENO) || (step % 10 && step != m->steps))
		return;
	fprintf(stderr, "\r[%-*.*s] %u of %u steps%s", (int)width, (int)done,
		"########################################", step, m->steps,
		step == m->steps ? "\n" : "");
}

static void sample(struct program *m)
{
	for (unsigned step = 1; step <= m->steps && !m->err; step++) {
		put_step(m, step);
		if (step > PENDING) /* its slot is needed */
			end_measurement(m, step - PENDING, step - 1);
		put_snapshot(m, step);
		start_measurement(m, step);
		if (m->serial)
			end_measurement(m, step, step);
		show_progress(m, step);
	}
	for (unsigned step = m->steps > PENDING ? m->steps - PENDING + 1 : 1; step <= m->steps;
	     step++)
		end_measurement(m, step, m->steps);
}

/* ---- what came out ---- */

/* Steps that were measured, all chains; the first tenth is not in equilibrium. */
static size_t collect(const struct program *m, unsigned what, double *ret)
{
	size_t n = 0;

	for (unsigned step = m->steps / 10 + 1; step <= m->steps; step++)
		for (uint32_t chain = 0; chain < m->l.chains; chain++) {
			double x = m->rows[step * row_numbers(m) + chain * MEASURED + what];

			if (!isnan(x))
				ret[n++] = x;
		}
	return n;
}

static int report(const struct program *m, double seconds)
{
	static const char *const names[MEASURED] = MEASURED_NAMES;
	double *value = malloc(m->steps * row_numbers(m) * sizeof *value);
	struct estimate balance = {0};

	if (!value)
		return -ENOMEM;
	for (unsigned i = 0; i < MEASURED; i++) {
		const struct estimate e = estimate(value, collect(m, i, value));

		printf("%-13s %12.6f +- %.6f   (deviation %.6f)\n", names[i], e.mean, e.error,
		       e.deviation);
		if (i == BALANCE)
			balance = e;
	}
	free(value);
	printf("%u steps of %u chains in %.2f s; measurements that failed: %u\n", m->steps,
	       m->l.chains, seconds, m->failed);
	if (fabs(balance.mean - 1) <= 5 * balance.error)
		return 0;
	printf("<exp(-dH)> is not 1: it is %.1f errors away\n",
	       fabs(balance.mean - 1) / balance.error);
	return -EDOM;
}

/* Compare the fields with those of the plain reference, bit by bit. */
static int compare(struct program *m)
{
	const size_t n = sites_of(&m->l) * m->l.chains;
	double *phi = malloc(n * sizeof *phi);
	int err = phi ? quoit_read(m->q, m->phi, phi, n * sizeof *phi) : -ENOMEM;
	bool same = !err && !memcmp(phi, m->plain.phi, n * sizeof *phi);

	free(phi);
	if (err)
		return err;
	printf("the chains have %s bits as in plain C\n", same ? "the same" : "other");
	return same ? 0 : -EDOM;
}

/* ---- the beginning ---- */

static quoit_tensor create(struct program *m, enum quoit_dtype dtype, uint32_t a, uint32_t b,
			   uint32_t c, uint32_t d, unsigned flags)
{
	const struct quoit_shape shape = {.dtype = dtype, .dim = {a, b, c, d}};
	quoit_tensor t = quoit_create(m->q, &shape, flags);

	if (t == QUOIT_NO_TENSOR && !m->err)
		m->err = -ENOMEM;
	return t;
}

static quoit_tensor view(struct program *m, quoit_tensor t, enum quoit_dtype dtype, uint32_t a,
			 uint32_t c, uint32_t d, uint64_t offset)
{
	const struct quoit_shape shape = {.dtype = dtype, .dim = {a, 1, c, d}};
	quoit_tensor v = quoit_view(m->q, t, &shape, offset);

	if (v == QUOIT_NO_TENSOR && !m->err)
		m->err = -ENOMEM;
	return v;
}

static void create_slots(struct program *m)
{
	const uint32_t chains = m->l.chains, n = m->l.size;

	for (unsigned i = 0; i < PENDING; i++) {
		struct slot *slot = &m->slot[i];

		slot->phi = create(m, QUOIT_F64, chains, n, n, n, QUOIT_CREATE_SHARED);
		slot->how = create(m, QUOIT_F64, 1, 1, HOW, chains, QUOIT_CREATE_SHARED);
		for (unsigned k = 0; k < HOW; k++)
			slot->how_view[k] = view(m, slot->how, QUOIT_F64, 1, chains, 1,
						 k * chains * sizeof(double));
		slot->row = create(m, QUOIT_F64, 1, 1, chains, MEASURED, QUOIT_CREATE_SHARED);
		put(m, quoit_fill(slot->row, NAN)); /* nothing was measured before step 1 */
	}
}

static void create_all(struct program *m)
{
	const uint32_t chains = m->l.chains, n = m->l.size, flat = n * n * n;
	quoit_tensor *const field[] = {&m->phi, &m->next, &m->p, &m->sum, &m->t, &m->force};
	quoit_tensor *const number[] = {&m->u,       &m->before,     &m->after,
					&m->kinetic, &m->accepted_f, &m->so_far};

	for (unsigned i = 0; i < sizeof field / sizeof *field; i++)
		*field[i] = create(m, QUOIT_F64, chains, n, n, n, 0);
	for (unsigned i = 0; i < sizeof number / sizeof *number; i++)
		*number[i] = create(m, QUOIT_F64, 1, 1, chains, 1, 0);
	m->accepted = create(m, QUOIT_I32, 1, 1, chains, 1, 0);
	m->accepted_wide = view(m, m->accepted, QUOIT_I32, chains, 1, 1, 0);
	m->p_flat = view(m, m->p, QUOIT_F64, 1, chains, flat, 0);
	m->force_flat = view(m, m->force, QUOIT_F64, 1, chains, flat, 0);
	create_slots(m);
}

static int open_all(struct program *m)
{
	const uint64_t numbers = PENDING * (sites_of(&m->l) + HOW + MEASURED) * m->l.chains;
	const struct quoit_open_params params = {.shared_bytes =
							 numbers * sizeof(double) + (1u << 20)};
	const struct quoit_function function = {
		.name = "measure", .access = "WRRR", .run = measure, .state = m};
	const struct quoit_team_params one = {.lanes = 1};
	struct quoit_team *team;
	int err = quoit_open(&params, &m->s);

	if (!err)
		err = quoit_open_ring(m->s, NULL, &m->q);
	if (!err)
		err = quoit_open_team(m->s, &function, 1, &one, &team);
	if (!err)
		err = where_begin(m->q);
	if (err) {
		fprintf(stderr, "sampler_hmc: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return err;
	}
	m->measure = quoit_find_function(team, "measure");
	create_all(m);
	return m->err;
}

static int run(struct program *m)
{
	double begun;
	int err;

	m->rows = calloc((m->steps + 1) * row_numbers(m), sizeof *m->rows);
	if (!m->rows || (m->check && !plain_open(&m->plain, &m->l)))
		return -ENOMEM;
	err = open_all(m);
	begun = now();
	if (!err) {
		sample(m);
		err = m->err;
	}
	if (!err)
		err = report(m, now() - begun);
	if (!err && m->check)
		err = compare(m);
	if (!err)
		err = where_report(m->s);
	return err;
}

/* ---- options ---- */

static const struct option options[] = {
	{"steps", required_argument, NULL, 's'}, {"chains", required_argument, NULL, 'c'},
	{"size", required_argument, NULL, 'n'},  {"leaps", required_argument, NULL, 'l'},
	{"seed", required_argument, NULL, 'r'},  {"fail", required_argument, NULL, 'f'},
	{"again", required_argument, NULL, 'a'}, {"serial", no_argument, NULL, '1'},
	{"check", no_argument, NULL, 'p'},       {NULL, 0, NULL, 0},
};

static bool take_number(const char *text, unsigned least, unsigned most, unsigned *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && n >= least && n <= most) {
		*ret = (unsigned)n;
		return true;
	}
	fprintf(stderr, "sampler_hmc: '%s': a number from %u to %u is allowed\n", text, least,
		most);
	return false;
}

static bool take_option(struct program *m, int option)
{
	unsigned seed = 0;

	switch (option) {
	case 's':
		return take_number(optarg, STEPS_LEAST, STEPS_MOST, &m->steps);
	case 'c':
		return take_number(optarg, 1, CHAINS_MOST, &m->l.chains);
	case 'n':
		return take_number(optarg, 2, SIZE_MOST, &m->l.size);
	case 'l':
		return take_number(optarg, 1, 1000, &m->l.leaps);
	case 'f':
		return take_number(optarg, 1, STEPS_MOST, &m->fail_at);
	case 'a':
		return take_number(optarg, 1, 1000000, &m->again);
	case 'r':
		if (!take_number(optarg, 0, UINT32_MAX, &seed))
			return false;
		m->seed = seed;
		return true;
	case '1':
		return m->serial = true;
	case 'p':
		return m->check = true;
	default:
		fprintf(stderr,
			"usage: sampler_hmc [--steps=N] [--chains=N] [--size=N] [--leaps=N] "
			"[--seed=N] [--fail=STEP] [--again=N] [--serial] [--check]\n");
		return false;
	}
}

int main(int argc, char **argv)
{
	struct program m = {.l = {.chains = 2,
				  .size = 8,
				  .leaps = 10,
				  .m2 = -0.5,
				  .lambda = 0.5,
				  .epsilon = 0.1},
			    .steps = 1000,
			    .again = 1,
			    .seed = 1};
	char text[512];
	int option, err;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (!take_option(&m, option))
			return 2;
	err = run(&m);
	if (err && m.q)
		fprintf(stderr, "sampler_hmc: %s\n",
			quoit_strerror_wait(m.q, err, text, sizeof text));
	quoit_close(m.s, QUOIT_CLOSE_CANCEL);
	if (m.check)
		plain_close(&m.plain);
	free(m.rows);
	return err != 0;
}
