/* SPDX-License-Identifier: MIT */
/* theorem.c - one round: make programs, run them with some number of jobs in flight, and compare */
#include "theorem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <quoit.h>

#include "control.h"
#include "graph.h"
#include "hog.h"
#include "library.h"
#include "store/sizeclass.h"

#define RINGS_MOST    4
#define ARENA_MOST    (UINT64_C(4) << 20)
#define ARENA_LEAST   (UINT64_C(64) << 10)
#define LEASE_LEAST   (UINT64_C(1) << 20)
#define BUDGET_PAGES  512
/* promised to a session without a lease, by a quoitd with little memory */
#define PROMISE       (UINT64_C(1) << 20)
#define ROUND_SECONDS 30 /* longer than any round takes under a sanitizer: then it is a deadlock */

/* The answer to a step's cancel; CANCEL_NONE: it was not cancelled. */
enum cancel { CANCEL_NONE, CANCEL_DONE, CANCEL_LATE };

/* One ring and its program. */
struct lane {
	struct graph graph;
	struct quoit_ring *ring;
	uint64_t budget[ORACLE_PLACES];
	uint8_t *seen;      /* number of CQEs of each step */
	uint8_t *cancel;    /* enum cancel of each step */
	unsigned submitted; /* number of steps */
	unsigned to_cancel; /* first step that is still to be cancelled */
	bool ended;
};

struct round {
	const struct theorem_options *options;
	struct quoit_session *session;
	uint8_t *arena;
	uint64_t arena_bytes;
	struct lane lane[RINGS_MOST];
	uint64_t random;
	struct hog hog;
	FILE *err;
};

static uint32_t draw(struct round *r, uint32_t below)
{
	r->random = r->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(r->random >> 33) % below;
}

/* ---- making ---- */

static void make_lane(struct round *r, unsigned i, const uint64_t scale[ORACLE_PLACES])
{
	const struct theorem_options *o = r->options;
	struct lane *l = &r->lane[i];
	struct graph_options g = {.seed = o->seed * RINGS_MOST + i,
				  .steps = o->steps,
				  .scale = scale[0],
				  .arena = r->arena_bytes / RINGS_MOST * i,
				  .arena_end = r->arena_bytes / RINGS_MOST * (i + 1),
				  .ring = i,
				  .devices = o->devices,
				  /* what one ring holds can be in another one's way */
				  .acquires = o->rings == 1 && !o->cancels,
				  .cancels = o->cancels};

	/* If the order of charges is not determined, every ring must have enough bytes. */
	for (unsigned k = 0; k < ORACLE_PLACES; k++)
		g.budget[k] = o->rings > 1 || o->cancels ? UINT64_MAX : scale[k];
	graph_make(&l->graph, &g);
	for (unsigned k = 0; k < ORACLE_PLACES; k++)
		l->budget[k] = g.budget[k] == UINT64_MAX ? l->graph.peak[k] : g.budget[k];
	l->seen = calloc(l->graph.count, 1);
	l->cancel = calloc(l->graph.count, 1);
}

static uint64_t draw_pages(struct round *r)
{
	return (1 + draw(r, BUDGET_PAGES)) * (uint64_t)PAGE_BYTES;
}

/*
 * The arena is a part of the lease.  With a large arena a piece of the region is always left; with
 * a small one, a large piece may be the only one of its class.
 */
static void make_lanes(struct round *r)
{
	uint64_t scale[ORACLE_PLACES];

	/*
	 * Buffers have up to scale[0] in every place, and the budgets of other places are about
	 * that, or far more or less.
	 */
	scale[0] = r->options->growing ? PROMISE : draw_pages(r);
	scale[1] = scale[2] = draw_pages(r);
	scale[ORACLE_PINNED] = draw_pages(r);
	scale[ORACLE_SHARED] = draw_pages(r);
	r->arena_bytes = scale[0] < LEASE_LEAST || draw(r, 2) ? ARENA_MOST : ARENA_LEAST;
	for (unsigned i = 0; i < r->options->rings; i++)
		make_lane(r, i, scale);
}

static bool open_session(struct round *r, const char *socket)
{
	static const uint32_t entries[] = {8, 16, 64, 1024, 4096};
	struct quoit_open_params p = {.socket = socket,
				      .host_bytes = r->arena_bytes,
				      .arena_bytes = r->arena_bytes,
				      .max_tensors = RINGS_MOST * ORACLE_TENSORS};
	int err;

	for (unsigned i = 0; i < r->options->rings; i++) {
		const uint64_t *budget = r->lane[i].budget;

		p.host_bytes += budget[0] + budget[ORACLE_PINNED] + budget[ORACLE_SHARED];
		p.pinned_bytes += budget[ORACLE_PINNED];
		p.shared_bytes += budget[ORACLE_SHARED];
	}
	for (unsigned i = 0; r->options->devices && i < r->options->rings; i++) {
		/* a device lease is the same on each device */
		const uint64_t *budget = r->lane[i].budget;

		p.device_bytes += budget[1] > budget[2] ? budget[1] : budget[2];
	}
	if (p.host_bytes < LEASE_LEAST) /* more than the programs need does no harm */
		p.host_bytes = LEASE_LEAST;
	if (r->options->growing)
		p.host_bytes = p.max_tensors = 0;
	err = quoit_open(&p, &r->session);
	for (unsigned i = 0; !err && i < r->options->rings; i++) {
		struct quoit_ring_params ring = {.entries = entries[draw(r, 5)],
						 .flags = QUOIT_RING_RAW};

		if (draw(r, 2))
			ring.cq_entries = ring.entries;
		err = quoit_open_ring(r->session, &ring, &r->lane[i].ring);
	}
	if (err) {
		fprintf(r->err, "cannot open: %s (%s)\n", quoit_strerror(err), quoit_open_text());
		return false;
	}
	r->arena = quoit_alloc(r->session, r->arena_bytes);
	if (r->options->growing)
		hog_take(&r->hog, socket);
	return true;
}

/* ---- comparing ---- */

static bool complain(struct round *r, const struct lane *l, unsigned step, const char *format, ...)
{
	va_list args;

	graph_print(&l->graph, step + 1, r->err);
	fprintf(r->err,
		"lease %" PRIu64 " bytes of buffers, %" PRIu64 " pinned, %" PRIu64
		" on a device; ring %td step %u: ",
		l->budget[0], l->budget[ORACLE_PINNED], l->budget[1], l - r->lane, step + 1);
	va_start(args, format);
	vfprintf(r->err, format, args);
	va_end(args);
	fputc('\n', r->err);
	return false;
}

/* The program compares and changes what it has acquired; it is released by a later step. */
static bool use_acquired(struct round *r, const struct lane *l, unsigned at,
			 const struct quoit_cqe *cqe)
{
	const struct graph_step *step = &l->graph.step[at];
	int32_t *data = (int32_t *)(r->session->shared.base + QUOIT_CQE_PLACE(cqe));

	for (uint32_t i = 0; i < step->n; i++) {
		int32_t *x = &data[i * step->stride];

		if (*x != step->acquired[i])
			return complain(r, l, at, "element %u is %d instead of %d", i, *x,
					step->acquired[i]);
		if (step->sqe.opcode == QUOIT_OP_ACQUIRE_WRITE)
			*x = oracle_change(*x);
	}
	return true;
}

static bool check_result(struct round *r, const struct lane *l, unsigned at,
			 const struct quoit_cqe *cqe, const struct quoit_error *error)
{
	const struct graph_step *step = &l->graph.step[at];
	const struct oracle_end *end = &step->end;

	if ((l->cancel[at] == CANCEL_DONE) != (cqe->res == -ECANCELED))
		return complain(r, l, at, "%d after a cancel that %s", cqe->res,
				l->cancel[at] == CANCEL_DONE ? "was taken" : "was not");
	if (end->uncertain)
		return true;
	if (step->acquired && cqe->res >= 0 && end->res == 0)
		return use_acquired(r, l, at, cqe);
	if (cqe->res != end->res)
		return complain(r, l, at, "%d instead of %d", cqe->res, end->res);
	if (cqe->res < 0 && (error->cause != end->cause || error->code != end->code))
		return complain(r, l, at, "cause %" PRIu64 " (%d) instead of %" PRIu64 " (%d)",
				error->cause, error->code, end->cause, end->code);
	return true;
}

static bool reap(struct round *r, struct lane *l, bool *ret_any)
{
	const struct quoit_cqe *first;
	int n = quoit_peek(l->ring, &first);

	for (int i = 0; i < n; i++) {
		const struct quoit_cqe *cqe = quoit_get_cqe(l->ring, (unsigned)i);
		uint64_t at = cqe->user_data - 1;

		if (at >= l->submitted || l->seen[at]++)
			return complain(r, l, l->submitted - 1,
					"a CQE of step %" PRIu64 " too many", cqe->user_data);
		if (!check_result(r, l, (unsigned)at, cqe, quoit_get_error(l->ring, (unsigned)i)))
			return false;
		l->ended |= at == l->graph.count - 1;
	}
	if (n < 0)
		return complain(r, l, l->submitted - 1, "the session ended: %s", quoit_strerror(n));
	if (n > 0) {
		quoit_release(l->ring, (unsigned)n);
		*ret_any = true;
	}
	return true;
}

/* After the last CQE: check that each step has the right CQE, and that copies are right. */
static bool check_lane(struct round *r, const struct lane *l)
{
	for (unsigned i = 0; i < l->graph.count; i++) {
		const struct graph_step *step = &l->graph.step[i];
		bool fails = step->end.res < 0 || l->cancel[i] == CANCEL_DONE;
		bool quiet = step->sqe.flags & QUOIT_SQE_QUIET;

		if (!l->seen[i] && (!quiet || (fails && !step->end.uncertain)))
			return complain(r, l, i, "no CQE");
		if (l->seen[i] && quiet && !fails && !step->end.uncertain)
			return complain(r, l, i, "a CQE of a quiet job that did not fail");
		if (step->expected &&
		    memcmp(r->arena + step->at, step->expected, step->n * sizeof *step->expected))
			return complain(r, l, i, "its output differs");
	}
	return true;
}

/* ---- running ---- */

/* Is the next step a release of what the program has not got yet? */
static bool must_wait(const struct lane *l)
{
	const struct quoit_sqe *sqe = &l->graph.step[l->submitted].sqe;

	return sqe->opcode == QUOIT_OP_RELEASE && !l->seen[sqe->scalar[0]];
}

static void submit(struct lane *l, bool *ret_any)
{
	struct quoit_sqe *slot;

	while (l->submitted < l->graph.count && !must_wait(l) &&
	       (slot = quoit_get_sqe(l->ring)) != NULL) {
		*slot = l->graph.step[l->submitted++].sqe;
		*ret_any = true;
	}
	(void)quoit_flush(l->ring);
}

/* Send the cancels that are due; the answers say how the jobs must end. */
static bool cancel(struct round *r, struct lane *l)
{
	for (; l->to_cancel < l->submitted; l->to_cancel++) {
		struct quoit_ctl m = {.type = QUOIT_CTL_CANCEL};
		int err;

		if (!l->graph.step[l->to_cancel].cancel)
			continue;
		m.job.ring = (uint32_t)(l - r->lane);
		m.job.sq_index = l->to_cancel;
		err = libquoit_control_ask(r->session, &m, -1);
		if (err && err != -EALREADY && err != -EBUSY)
			return complain(r, l, l->to_cancel, "cancel: %s", quoit_strerror(err));
		l->cancel[l->to_cancel] = err ? CANCEL_LATE : CANCEL_DONE;
	}
	return true;
}

static bool pass(struct round *r, bool *ret_any, bool *ret_ended)
{
	*ret_any = false;
	*ret_ended = true;
	for (unsigned i = 0; i < r->options->rings; i++) {
		struct lane *l = &r->lane[i];

		submit(l, ret_any);
		if (!cancel(r, l) || !reap(r, l, ret_any))
			return false;
		*ret_ended &= l->ended;
	}
	return true;
}

static bool complain_of_end(struct round *r)
{
	for (unsigned i = 0; i < r->options->rings; i++) {
		const struct lane *l = &r->lane[i];
		unsigned step = 0;

		while (step < l->submitted &&
		       (l->seen[step] || l->graph.step[step].sqe.flags & QUOIT_SQE_QUIET))
			step++;
		if (!l->ended)
			complain(r, l, step, "no end in %u seconds", ROUND_SECONDS);
	}
	return false;
}

static bool run(struct round *r)
{
	time_t end = time(NULL) + ROUND_SECONDS;
	bool any, ended;

	while (pass(r, &any, &ended)) {
		if (ended)
			return true;
		if (time(NULL) > end) {
			return complain_of_end(r);
		}
		if (!any)
			(void)!quoit_wait_cqe(r->lane[draw(r, r->options->rings)].ring, 1);
	}
	return false;
}

bool theorem_round(const char *socket, const struct theorem_options *options, FILE *err)
{
	struct round r = {.options = options, .random = options->seed, .err = err};
	bool good;

	make_lanes(&r);
	good = open_session(&r, socket) && run(&r);
	for (unsigned i = 0; good && i < options->rings; i++)
		good = check_lane(&r, &r.lane[i]);
	hog_release(&r.hog);
	(void)quoit_close(r.session, good ? 0 : QUOIT_CLOSE_CANCEL);
	for (unsigned i = 0; i < options->rings; i++) {
		graph_free(&r.lane[i].graph);
		free(r.lane[i].seen);
		free(r.lane[i].cancel);
	}
	if (!good)
		fprintf(err, "seed %" PRIu64 ", %u steps on %u rings%s\n", options->seed,
			options->steps, options->rings, options->cancels ? ", cancels" : "");
	return good;
}
