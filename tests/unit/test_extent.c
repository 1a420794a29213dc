/* SPDX-License-Identifier: MIT */
/* test_extent.c - compare views that share a byte with views as sets of bytes */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include "core_case.h"
#include "job/deps.h"
#include "job/job.h"
#include "job/tensor.h"
#include "job/validate.h"
#include "session/extent.h"
#include "session/poison.h"

#define ELEMENT  4u
#define ELEMENTS 240u /* of the buffer: 4 x 6 x 10, or cut in other ways */
#define ROUNDS   200000u

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 11) % below;
}

/* ---- views as sets of elements ---- */

struct set {
	bool has[ELEMENTS];
};

static struct set elements_of(const struct view *v)
{
	struct set set = {0};
	uint32_t i[QUOIT_MAX_DIMS];

	for (i[0] = 0; i[0] < v->dim[0]; i[0]++)
		for (i[1] = 0; i[1] < v->dim[1]; i[1]++)
			for (i[2] = 0; i[2] < v->dim[2]; i[2]++)
				for (i[3] = 0; i[3] < v->dim[3]; i[3]++) {
					int64_t at = (int64_t)(v->offset / ELEMENT);

					for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
						at += (int64_t)i[d] * v->stride[d];
					set.has[at] = true;
				}
	return set;
}

static bool share(const struct set *a, const struct set *b)
{
	for (unsigned i = 0; i < ELEMENTS; i++)
		if (a->has[i] && b->has[i])
			return true;
	return false;
}

/* ---- views at random ---- */

/* False: it does not fit; draw again. */
static bool make_view(struct session *s, uint32_t index, const uint32_t dim[QUOIT_MAX_DIMS],
		      const int32_t stride[QUOIT_MAX_DIMS], uint32_t first)
{
	struct quoit_sqe sqe = {.opcode = QUOIT_OP_VIEW,
				.base = {CORE_HANDLE(index), CORE_HANDLE(1)},
				.offset = (uint64_t)first * ELEMENT};
	struct fault fault;

	memcpy(sqe.dim, dim, sizeof sqe.dim);
	memcpy(sqe.stride, stride, sizeof sqe.stride);
	return tensor_view(s, &sqe, &fault) == 0;
}

static void drop(struct session *s, uint32_t index)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_FREE, .base = {CORE_HANDLE(index)}};
	struct fault fault;

	cr_assert_eq(tensor_free(s, &sqe, &fault), 0);
}

/*
 * A block of the buffer seen as 4 x 6 x 10, with steps and backwards, and steps that divide each
 * other.
 */
static void draw_block(struct session *s, uint32_t index)
{
	static const uint32_t whole[] = {1, 4, 6, 10};
	static const int32_t strides[] = {240, 60, 10, 1};
	uint32_t dim[QUOIT_MAX_DIMS] = {1, 1, 1, 1}, first = 0;
	int32_t stride[QUOIT_MAX_DIMS] = {1, 1, 1, 1};

	for (unsigned d = 1; d < QUOIT_MAX_DIMS; d++) {
		uint32_t step = draw(4) ? 1 : 2, from = draw(whole[d]);
		bool back = !draw(4);

		dim[d] = 1 + draw((whole[d] - from + step - 1) / step);
		first += (from + (back ? (dim[d] - 1) * step : 0)) * (uint32_t)strides[d];
		stride[d] = strides[d] * (int32_t)step * (back ? -1 : 1);
	}
	cr_assert(make_view(s, index, dim, stride, first));
}

/* Any view that fits. */
static void draw_any(struct session *s, uint32_t index)
{
	uint32_t dim[QUOIT_MAX_DIMS];
	int32_t stride[QUOIT_MAX_DIMS];

	do {
		for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++) {
			dim[d] = 1 + draw(draw(3) ? 3 : 8);
			stride[d] = (int32_t)draw(40) - 12;
		}
	} while (!make_view(s, index, dim, stride, draw(ELEMENTS)));
}

static struct session *open_session(void)
{
	struct session *s = core_session(64);

	core_create(s, 1, QUOIT_F32, 1, 1, 1, ELEMENTS);
	return s;
}

/* ---- two views ---- */

Test(extent, blocks_of_one_matrix_share_what_their_elements_share)
{
	struct session *s = open_session();
	unsigned apart_in_hull = 0;

	for (unsigned n = 0; n < ROUNDS; n++) {
		const struct view *a, *b;
		struct set of_a, of_b;

		draw_block(s, 2);
		draw_block(s, 3);
		a = core_view_of(s, 2);
		b = core_view_of(s, 3);
		of_a = elements_of(a);
		of_b = elements_of(b);
		cr_assert_eq(extent_views_overlap(a, b), share(&of_a, &of_b), "round %u", n);
		apart_in_hull += !share(&of_a, &of_b) && a->lo < b->hi && b->lo < a->hi;
		drop(s, 2);
		drop(s, 3);
	}
	cr_expect_gt(apart_in_hull, ROUNDS / 20);
	core_session_free(s);
}

Test(extent, no_views_that_share_are_said_to_be_apart)
{
	struct session *s = open_session();

	for (unsigned n = 0; n < ROUNDS; n++) {
		struct set of_a, of_b;

		draw_any(s, 2);
		draw_any(s, 3);
		of_a = elements_of(core_view_of(s, 2));
		of_b = elements_of(core_view_of(s, 3));
		cr_assert(extent_views_overlap(core_view_of(s, 2), core_view_of(s, 3)) ||
				  !share(&of_a, &of_b),
			  "round %u", n);
		drop(s, 2);
		drop(s, 3);
	}
	core_session_free(s);
}

Test(extent, the_same_extent_is_the_same_bytes)
{
	struct session *s = open_session();
	unsigned same = 0;

	for (unsigned n = 0; n < ROUNDS; n++) {
		struct extent a, b;
		struct set of_a, of_b;

		draw_block(s, 2);
		draw_block(s, 3);
		of_a = elements_of(core_view_of(s, 2));
		of_b = elements_of(core_view_of(s, 3));
		a = extent_of(core_view_of(s, 2));
		b = extent_of(core_view_of(s, 3));
		cr_assert(!extent_same(&a, &b) || !memcmp(&of_a, &of_b, sizeof of_a), "round %u",
			  n);
		same += extent_same(&a, &b);
		drop(s, 2);
		drop(s, 3);
	}
	cr_expect_gt(same, 0);
	core_session_free(s);
}

/* ---- jobs ---- */

#define JOBS 24

static struct open_job {
	struct job *job; /* NULL: none */
	struct set touches;
	uint32_t view;
	bool write;
} open_jobs[JOBS];

static void ready(struct session *s, struct job *job)
{
	(void)s;
	(void)job;
}

/* Does `job` wait for `before`, directly or through others? */
static bool waits_for(struct session *s, const struct job *before, const struct job *job)
{
	for (uint32_t e = before->edges; e != NIL; e = s->edges[e].next) {
		const struct job *next = &s->jobs[s->edges[e].job];

		if (next == job || waits_for(s, next, job))
			return true;
	}
	return false;
}

static bool conflicts(const struct open_job *a, const struct open_job *b)
{
	return (a->write || b->write) && share(&a->touches, &b->touches);
}

static void begin(struct session *s, struct open_job *o, uint32_t index, bool blocks)
{
	const struct view *v;
	struct job *job = tables_take_job(s);

	cr_assert_not_null(job);
	memset(job, 0, sizeof *job);
	(blocks ? draw_block : draw_any)(s, index);
	v = core_view_of(s, index);
	job->state = JOB_WAITING;
	job->executor = NO_EXECUTOR;
	job->edges = NIL;
	job->tensors = 1;
	job->view[0] = (uint32_t)(v - s->views);
	o->job = job;
	o->write = v->writable && draw(2);
	o->touches = elements_of(v);
	o->view = index;
	job->access[0] = (struct access){.buffer = v->buffer,
					 .write = o->write,
					 .gaps = !v->covers,
					 .lo = v->lo,
					 .hi = v->hi};
	cr_assert_eq(deps_add(s, job, NIL), 0);
}

static void finish(struct session *s, struct open_job *o)
{
	deps_remove(s, o->job, 0, ready);
	tables_give_job(s, o->job);
	drop(s, o->view);
	o->job = NULL;
}

static void run_jobs(bool blocks)
{
	struct session *s = open_session();
	unsigned order[JOBS], count = 0; /* the open ones, the oldest first */

	for (unsigned n = 0; n < 20000; n++) {
		struct open_job *o;
		unsigned slot = 0, at, wanted = 0, expected = 0;

		/* Jobs that wait for none end, in any order. */
		while (count == JOBS || (count && !draw(3))) {
			at = draw(count);
			if (open_jobs[order[at]].job->waits)
				continue;
			finish(s, &open_jobs[order[at]]);
			memmove(&order[at], &order[at + 1], (--count - at) * sizeof order[0]);
		}
		while (open_jobs[slot].job)
			slot++;
		o = &open_jobs[slot];
		begin(s, o, 2 + slot, blocks);
		for (unsigned i = 0; i < count; i++) {
			const struct open_job *before = &open_jobs[order[i]];

			expected += conflicts(before, o);
			cr_assert(!conflicts(before, o) || waits_for(s, before->job, o->job),
				  "round %u: job %u", n, i);
			for (uint32_t e = before->job->edges; e != NIL; e = s->edges[e].next)
				wanted += &s->jobs[s->edges[e].job] == o->job;
		}
		cr_assert_eq(o->job->waits, wanted);
		if (blocks) /* exactly those: no job waits for one that it does not touch */
			cr_assert(wanted <= expected && !wanted == !expected, "round %u", n);
		order[count++] = slot;
	}
	core_session_free(s);
}

Test(extent, jobs_on_blocks_wait_for_those_that_touch_their_elements)
{
	run_jobs(true);
}

Test(extent, jobs_on_any_views_wait_for_those_that_touch_their_elements)
{
	run_jobs(false);
}

/* ---- poison ---- */

static void write_block(struct session *s, uint32_t index, int32_t res)
{
	const struct quoit_error cause = {.code = res, .cause = index};

	view_written(s, core_view_of(s, index), false, res, &cause);
}

static bool is_poisoned(struct session *s, uint32_t index)
{
	struct quoit_error error;

	return view_is_poisoned(s, core_view_of(s, index), &error);
}

/* Columns [from, from + count) of 20 rows of 12. */
static void panel(struct session *s, uint32_t index, uint32_t from, uint32_t count)
{
	const uint32_t dim[] = {1, 1, 20, count};
	const int32_t stride[] = {0, 0, 12, 1};

	cr_assert(make_view(s, index, dim, stride, from));
}

Test(extent, a_panel_that_failed_fails_those_that_read_it_alone)
{
	enum { LEFT = 2, RIGHT, MIDDLE, LEFT_AGAIN, WIDE };
	struct session *s = open_session();

	panel(s, LEFT, 0, 6);
	panel(s, RIGHT, 6, 6);
	panel(s, MIDDLE, 5, 2);
	panel(s, LEFT_AGAIN, 0, 6);
	panel(s, WIDE, 0, 12);
	write_block(s, LEFT, -EIO);
	cr_expect(is_poisoned(s, LEFT));
	cr_expect(is_poisoned(s, LEFT_AGAIN));
	cr_expect(is_poisoned(s, MIDDLE));
	cr_expect(is_poisoned(s, WIDE));
	cr_expect(is_poisoned(s, 1));
	cr_expect_not(is_poisoned(s, RIGHT));
	write_block(s, RIGHT, 0);
	cr_expect(is_poisoned(s, LEFT), "that was none of its bytes");
	write_block(s, LEFT_AGAIN, 0);
	cr_expect_not(is_poisoned(s, LEFT), "written whole");
	cr_expect_not(is_poisoned(s, 1));
	write_block(s, LEFT, -EIO);
	write_block(s, RIGHT, -EIO);
	cr_expect(is_poisoned(s, LEFT) && is_poisoned(s, RIGHT), "of two it is the hull");
	write_block(s, WIDE, 0);
	cr_expect_not(is_poisoned(s, RIGHT));
	core_session_free(s);
}

/* ---- one job ---- */

static int verdict(struct session *s, uint8_t opcode, uint32_t out, uint32_t x, uint32_t y)
{
	const struct quoit_sqe sqe = {.opcode = opcode,
				      .tensor = {CORE_HANDLE(out), CORE_HANDLE(x), CORE_HANDLE(y)}};
	struct fault fault = {0};
	struct plan plan;

	return validate_job(s, &sqe, &plan, &fault);
}

Test(extent, panels_of_one_matrix_are_operands_of_one_job)
{
	enum { A = 2, B, C, ACROSS };
	const uint32_t dim[] = {1, 1, 4, 4};
	const int32_t stride[] = {0, 0, 12, 1};
	struct session *s = open_session();

	cr_assert(make_view(s, A, dim, stride, 0));
	cr_assert(make_view(s, B, dim, stride, 4));
	cr_assert(make_view(s, C, dim, stride, 8));
	cr_assert(make_view(s, ACROSS, dim, stride, 7));
	cr_expect_eq(verdict(s, QUOIT_OP_GEMM, C, A, B), 0);
	cr_expect_eq(verdict(s, QUOIT_OP_ADD, C, A, B), 0);
	cr_expect_eq(verdict(s, QUOIT_OP_GEMM, C, A, ACROSS), -EINVAL);
	cr_expect_eq(verdict(s, QUOIT_OP_ADD, C, ACROSS, B), -EINVAL);
	cr_expect_eq(verdict(s, QUOIT_OP_GEMM, A, A, B), -EINVAL);
	core_session_free(s);
}
