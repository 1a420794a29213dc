/* SPDX-License-Identifier: MIT */
/* test_views.c - CREATE, VIEW and FREE: shapes that lie in a buffer, and shapes that do not. */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include "core_case.h"
#include "job/tensor.h"
#include "session/named_tensor.h"
#include "session/objects.h"

#define H(index) CORE_HANDLE(index)

/* The buffer of the views: 24 f32; its tensor MIDDLE begins at element 8. */
enum { BASE = 1, MIDDLE, EMPTY, NEW };

static struct session *session;

static void open_session(void)
{
	session = core_session(64);
	core_create(session, BASE, QUOIT_F32, 1, 1, 1, 24);
	core_view(session, MIDDLE, BASE, 8, 8, 1);
	core_create(session, EMPTY, QUOIT_F32, 1, 1, 1, 0);
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(views, .init = open_session, .fini = close_session);

/* ---- views ---- */

struct row {
	const char *what;
	uint32_t base;
	uint64_t offset;
	uint32_t dim[4];
	int32_t stride[4];
	int err;
	uint8_t field;
	uint64_t lo, hi; /* of an accepted view, in bytes */
	bool dense, covers, disjoint;
};

#define REFUSED(field) -EINVAL, QUOIT_FIELD_##field, 0, 0, false, false, false

static const struct row rows[] = {
	{"all", BASE, 0, {1, 1, 1, 24}, {0, 0, 0, 1}, 0, 0, 0, 96, true, true, true},
	{"as a matrix", BASE, 0, {1, 1, 4, 6}, {0, 0, 6, 1}, 0, 0, 0, 96, true, true, true},
	{"transposed", BASE, 0, {1, 1, 6, 4}, {0, 0, 1, 6}, 0, 0, 0, 96, false, true, true},
	{"in four dims", BASE, 0, {2, 3, 2, 2}, {12, 4, 2, 1}, 0, 0, 0, 96, true, true, true},
	{"backwards", BASE, 92, {1, 1, 1, 24}, {0, 0, 0, -1}, 0, 0, 0, 96, false, true, true},
	{"rows backwards", BASE, 72, {1, 1, 4, 6}, {0, 0, -6, 1}, 0, 0, 0, 96, false, true, true},
	{"every second", BASE, 0, {1, 1, 1, 12}, {0, 0, 0, 2}, 0, 0, 0, 92, false, false, true},
	{"a column", BASE, 4, {1, 1, 4, 1}, {0, 0, 6, 1}, 0, 0, 4, 80, false, false, true},
	{"a block", BASE, 28, {1, 1, 2, 3}, {0, 0, 6, 1}, 0, 0, 28, 64, false, false, true},
	{"one element for many",
	 BASE,
	 8,
	 {1, 1, 9, 9},
	 {1, 0, 0, 0},
	 0,
	 0,
	 8,
	 12,
	 false,
	 false,
	 false},
	{"no strides: dense rows",
	 BASE,
	 8,
	 {1, 1, 2, 9},
	 {0, 0, 0, 0},
	 0,
	 0,
	 8,
	 80,
	 true,
	 true,
	 true},
	{"nothing without strides",
	 BASE,
	 96,
	 {1, 1, 0, 9},
	 {0, 0, 0, 0},
	 0,
	 0,
	 96,
	 96,
	 true,
	 true,
	 true},
	{"rows without strides that reach beyond the end",
	 BASE,
	 8,
	 {1, 1, 2, 12},
	 {0, 0, 0, 0},
	 REFUSED(DIM)},
	{"half an element before rows without strides",
	 BASE,
	 2,
	 {1, 1, 1, 9},
	 {0, 0, 0, 0},
	 REFUSED(OFFSET)},
	{"windows that overlap",
	 BASE,
	 0,
	 {1, 1, 4, 8},
	 {0, 0, 4, 1},
	 0,
	 0,
	 0,
	 80,
	 false,
	 false,
	 false},
	{"steps of one element at a time",
	 BASE,
	 0,
	 {1, 1, 1, 1},
	 {9, 9, 9, 9},
	 0,
	 0,
	 0,
	 4,
	 true,
	 true,
	 true},
	{"from the middle", MIDDLE, 4, {1, 1, 1, 2}, {0, 0, 0, 1}, 0, 0, 36, 44, true, true, true},
	{"before the middle's own start",
	 MIDDLE,
	 0,
	 {1, 1, 1, 9},
	 {0, 0, 0, -1},
	 0,
	 0,
	 0,
	 36,
	 false,
	 true,
	 true},
	{"before the middle",
	 MIDDLE,
	 -(uint64_t)32,
	 {1, 1, 1, 9},
	 {0, 0, 0, 1},
	 0,
	 0,
	 0,
	 36,
	 true,
	 true,
	 true},
	{"nothing", BASE, 0, {1, 1, 0, 6}, {0, 0, 6, 1}, 0, 0, 0, 0, true, true, true},
	{"nothing at the end",
	 BASE,
	 96,
	 {1, 1, 1, 0},
	 {0, 0, 0, 1},
	 0,
	 0,
	 96,
	 96,
	 true,
	 true,
	 true},
	{"nothing with wild strides",
	 BASE,
	 0,
	 {0, 1, 1, 9},
	 {0, 0, 0, INT32_MIN},
	 0,
	 0,
	 0,
	 0,
	 true,
	 true,
	 true},
	{"nothing on nothing", EMPTY, 0, {1, 1, 1, 0}, {0, 0, 0, 1}, 0, 0, 0, 0, true, true, true},

	{"nothing beyond the end", BASE, 100, {1, 1, 1, 0}, {0, 0, 0, 1}, REFUSED(OFFSET)},
	{"one on nothing", EMPTY, 0, {1, 1, 1, 1}, {0, 0, 0, 1}, REFUSED(DIM)},
	{"one too many", BASE, 0, {1, 1, 1, 25}, {0, 0, 0, 1}, REFUSED(DIM)},
	{"one element beyond", BASE, 96, {1, 1, 1, 1}, {0, 0, 0, 1}, REFUSED(DIM)},
	{"one element before", MIDDLE, 0, {1, 1, 1, 10}, {0, 0, 0, -1}, REFUSED(STRIDE)},
	{"half an element", BASE, 2, {1, 1, 1, 1}, {0, 0, 0, 1}, REFUSED(OFFSET)},
	{"an offset near 2^64", BASE, UINT64_MAX - 3, {1, 1, 1, 1}, {0, 0, 0, 1}, REFUSED(OFFSET)},
	{"one element before the buffer",
	 MIDDLE,
	 -(uint64_t)36,
	 {1, 1, 1, 1},
	 {0, 0, 0, 1},
	 REFUSED(OFFSET)},
	{"elements over 2^64",
	 BASE,
	 0,
	 {1u << 31, 1u << 31, 1u << 31, 1},
	 {0, 0, 0, 0},
	 REFUSED(DIM)},
	{"elements over 2^46", BASE, 0, {1, 1, 1u << 31, 1u << 16}, {0, 0, 0, 0}, REFUSED(DIM)},
	{"all dims at their most",
	 BASE,
	 0,
	 {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
	 {0, 0, 0, 0},
	 REFUSED(DIM)},
	{"a stride at its most", BASE, 0, {1, 1, 2, 2}, {0, 0, INT32_MAX, INT32_MAX}, REFUSED(DIM)},
	{"a stride at its least",
	 BASE,
	 92,
	 {1, 1, 2, 2},
	 {0, 0, INT32_MIN, INT32_MIN},
	 REFUSED(STRIDE)},
	{"strides that cancel out at the end",
	 BASE,
	 0,
	 {1, 1, 2, 2},
	 {0, 0, 24, -24},
	 REFUSED(STRIDE)},
	{"a reach over 2^46",
	 BASE,
	 0,
	 {1, 1, 1, UINT32_MAX},
	 {0, 0, 0, INT32_MAX},
	 REFUSED(STRIDE)},
	{"the longest reach there is, backwards",
	 BASE,
	 0,
	 {1, 1, 1, UINT32_MAX},
	 {0, 0, 0, INT32_MIN},
	 REFUSED(STRIDE)},
};

static struct quoit_sqe view_of(const struct row *row)
{
	struct quoit_sqe sqe = {
		.opcode = QUOIT_OP_VIEW, .base = {H(NEW), H(row->base)}, .offset = row->offset};

	memcpy(sqe.dim, row->dim, sizeof sqe.dim);
	memcpy(sqe.stride, row->stride, sizeof sqe.stride);
	return sqe;
}

Test(views, a_view_lies_in_its_buffer_or_is_refused)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *row = &rows[i];
		const struct quoit_sqe sqe = view_of(row);
		struct fault fault = {0};
		struct view view;
		int err = validate_view(session, &sqe, &view, &fault);

		cr_expect_eq(err, row->err, "%s: %d", row->what, err);
		if (err) {
			cr_expect_eq(fault.field, row->field, "%s: field %d", row->what,
				     fault.field);
			continue;
		}
		cr_expect_eq(view.lo, row->lo, "%s: from %lu", row->what, view.lo);
		cr_expect_eq(view.hi, row->hi, "%s: to %lu", row->what, view.hi);
		cr_expect_eq(view.dense, row->dense, "%s: dense", row->what);
		cr_expect_eq(view.covers, row->covers, "%s: covers", row->what);
		cr_expect_eq(view.writable, row->disjoint, "%s: disjoint", row->what);
	}
}

/* No buffer limits their sums, so computing with them could overflow. */
Test(views, a_tensor_of_nothing_keeps_no_strides)
{
	static const struct {
		uint32_t dim[4];
		int32_t stride[4];
	} shapes[] = {
		{{UINT32_MAX, UINT32_MAX, 0, 1}, {INT32_MIN, INT32_MAX, 5, -1}},
		{{0, UINT32_MAX, 1, INT32_MAX}, {0, 0, 0, 0}},
		{{1, 1, 1, 0}, {0, 0, 0, 1}},
	};

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		struct quoit_sqe sqe = {.opcode = QUOIT_OP_CREATE, .base = {H(NEW)}};
		struct fault fault;
		struct view view;

		memcpy(sqe.dim, shapes[i].dim, sizeof sqe.dim);
		memcpy(sqe.stride, shapes[i].stride, sizeof sqe.stride);
		cr_assert_eq(validate_create(session, &sqe, &view, &fault), 0);
		for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
			cr_expect_eq(view.stride[d], 0, "shape %zu, dim %u", i, d);
	}
}

/* ---- the other words ---- */

struct words {
	const char *what;
	struct quoit_sqe sqe;
	int err;
	uint8_t field;
};

#define CREATE(...)                                                                                \
	{                                                                                          \
		.opcode = QUOIT_OP_CREATE, __VA_ARGS__                                             \
	}
#define TO(handle) .base = {handle}
#define ROW(n)     .dim = {1, 1, 1, n}

Test(views, a_create_with_a_word_that_it_may_not_have_is_refused)
{
	static const struct words creates[] = {
		{"a row", CREATE(TO(H(NEW)), ROW(5)), 0, 0},
		{"a quiet row", CREATE(.flags = QUOIT_SQE_QUIET, TO(H(NEW)), ROW(5)), 0, 0},
		{"the last index", CREATE(TO(H(63)), ROW(5)), 0, 0},
		{"the largest generation", CREATE(TO(0xfffu << 20 | NEW), ROW(5)), 0, 0},
		{"a linked row", CREATE(.flags = QUOIT_SQE_LINK, TO(H(NEW)), ROW(5)), -EINVAL,
		 QUOIT_FIELD_FLAGS},
		{"an unknown flag", CREATE(.flags = 0x10, TO(H(NEW)), ROW(5)), -EINVAL,
		 QUOIT_FIELD_FLAGS},
		{"a reserved word", CREATE(.reserved0 = 1, TO(H(NEW)), ROW(5)), -EINVAL,
		 QUOIT_FIELD_RESERVED},
		{"a device", CREATE(.device = 1, TO(H(NEW)), ROW(5)), -ENODEV, QUOIT_FIELD_DEVICE},
		{"no handle", CREATE(ROW(5)), -EBADF, QUOIT_FIELD_TENSOR0},
		{"index 0", CREATE(TO(H(0)), ROW(5)), -EBADF, QUOIT_FIELD_TENSOR0},
		{"an index beyond the table", CREATE(TO(H(64)), ROW(5)), -EBADF,
		 QUOIT_FIELD_TENSOR0},
		{"an index in use", CREATE(TO(2u << 20 | BASE), ROW(5)), -EEXIST,
		 QUOIT_FIELD_TENSOR0},
		{"a second handle", CREATE(.base = {H(NEW), H(BASE)}, ROW(5)), -EINVAL,
		 QUOIT_FIELD_TENSOR1},
		{"an offset without an arena", CREATE(TO(H(NEW)), ROW(5), .offset = 4), -EINVAL,
		 QUOIT_FIELD_OFFSET},
		{"a name that nothing has", CREATE(.arg = 0x80, TO(H(NEW)), ROW(5)), -EBADF,
		 QUOIT_FIELD_NAMED},
		{"a name in the arena", CREATE(.arg = 0xa0, TO(H(NEW)), ROW(5)), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"pinned in the arena", CREATE(.arg = 0x30, TO(H(NEW)), ROW(5)), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"a type that is not", CREATE(.arg = QUOIT_C128 + 1, TO(H(NEW)), ROW(5)), -EINVAL,
		 QUOIT_FIELD_ARG},
		{"a type that is to come", CREATE(.arg = QUOIT_C64, TO(H(NEW)), ROW(5)), -ENOTSUP,
		 QUOIT_FIELD_ARG},
		{"the last type", CREATE(.arg = QUOIT_F16, TO(H(NEW)), ROW(5)), 0, 0},
		{"elements over 2^46", CREATE(TO(H(NEW)), .dim = {1, 1, 1u << 31, 1u << 31}),
		 -EINVAL, QUOIT_FIELD_DIM},
		{"a row as long as no stride", CREATE(TO(H(NEW)), .dim = {1, 1, 1, UINT32_MAX}), 0,
		 0},
		{"two of them", CREATE(TO(H(NEW)), .dim = {1, 1, 2, UINT32_MAX}), -EINVAL,
		 QUOIT_FIELD_DIM},
		{"two of them with a dim between", CREATE(TO(H(NEW)), .dim = {1, 2, 1, UINT32_MAX}),
		 -EINVAL, QUOIT_FIELD_DIM},
		{"nothing", CREATE(TO(H(NEW)), .dim = {1, 0, 5, 5}), 0, 0},
		{"a stride of its own", CREATE(TO(H(NEW)), ROW(5), .stride = {0, 0, 0, 3}), 0, 0},
		{"a stride before its start", CREATE(TO(H(NEW)), ROW(5), .stride = {0, 0, 0, -1}),
		 -EINVAL, QUOIT_FIELD_STRIDE},
	};

	for (size_t i = 0; i < sizeof creates / sizeof creates[0]; i++) {
		const struct words *row = &creates[i];
		struct fault fault = {0};
		struct view view;
		int err = validate_create(session, &row->sqe, &view, &fault);

		cr_expect_eq(err, row->err, "%s: %d", row->what, err);
		if (err)
			cr_expect_eq(fault.field, row->field, "%s: field %d", row->what,
				     fault.field);
	}
}

#define NAMED 5 /* the number of a tensor with a name, of ten f32 */

static struct named_tensor tensor = {.bytes = 40, .dtype = QUOIT_F32};
static struct object object = {.kind = QUOIT_SYNC_TENSOR, .tensor = &tensor};
static struct service service = {.object = &object};
static struct caller caller;

static void open_named(bool read_only)
{
	caller = (struct caller){
		.service = &service, .buffer = NIL, .index = NAMED, .read_only = read_only};
	session->services.caller[NAMED] = &caller;
}

#define NAME(...) CREATE(.arg = QUOIT_CREATE_NAMED, .base = {H(NEW), NAMED}, __VA_ARGS__)

Test(views, what_is_made_of_a_name_lies_in_its_memory)
{
	static const struct words creates[] = {
		{"all", NAME(ROW(10)), 0, 0},
		{"its start", NAME(ROW(3)), 0, 0},
		{"every third", NAME(ROW(4), .stride = {0, 0, 0, 3}), 0, 0},
		{"one more", NAME(ROW(11)), -EINVAL, QUOIT_FIELD_DIM},
		{"as many as there can be", NAME(.dim = {1, 1, 1u << 20, 1u << 20}), -EINVAL,
		 QUOIT_FIELD_DIM},
		{"every third, beyond its end", NAME(ROW(5), .stride = {0, 0, 0, 3}), -EINVAL,
		 QUOIT_FIELD_DIM},
		{"backwards", NAME(ROW(2), .stride = {0, 0, 0, -1}), -EINVAL, QUOIT_FIELD_STRIDE},
		{"an offset", NAME(ROW(1), .offset = 4), -EINVAL, QUOIT_FIELD_OFFSET},
		{"another type",
		 CREATE(.arg = QUOIT_CREATE_NAMED | QUOIT_F64, .base = {H(NEW), NAMED}, ROW(1)),
		 -EINVAL, QUOIT_FIELD_ARG},
		{"another number",
		 CREATE(.arg = QUOIT_CREATE_NAMED, .base = {H(NEW), NAMED + 1}, ROW(1)), -EBADF,
		 QUOIT_FIELD_NAMED},
		{"a number beyond all",
		 CREATE(.arg = QUOIT_CREATE_NAMED, .base = {H(NEW), QUOIT_MAX_SERVICES}, ROW(1)),
		 -EBADF, QUOIT_FIELD_NAMED},
	};

	open_named(false);
	for (size_t i = 0; i < sizeof creates / sizeof creates[0]; i++) {
		struct fault fault = {0};
		struct view view;
		int err = validate_create(session, &creates[i].sqe, &view, &fault);

		cr_expect_eq(err, creates[i].err, "%s: %d", creates[i].what, err);
		cr_expect(!err || fault.field == creates[i].field, "%s: field %d", creates[i].what,
			  fault.field);
	}
}

Test(views, what_is_closed_or_no_tensor_is_no_name)
{
	const struct quoit_sqe sqe = NAME(ROW(1));
	struct fault fault;
	struct view view;

	open_named(false);
	caller.closing = true;
	cr_expect_eq(validate_create(session, &sqe, &view, &fault), -EBADF);
	caller.closing = false;
	object.tensor = NULL;
	cr_expect_eq(validate_create(session, &sqe, &view, &fault), -EBADF);
	service.object = NULL;
	cr_expect_eq(validate_create(session, &sqe, &view, &fault), -EBADF);
}

Test(views, all_of_one_name_is_one_buffer)
{
	struct quoit_sqe sqe = NAME(ROW(10));
	const struct quoit_sqe view = {.opcode = QUOIT_OP_VIEW,
				       .base = {H(NEW + 2), H(NEW)},
				       .dim = {1, 1, 1, 5},
				       .offset = 8};
	struct fault fault;

	open_named(true);
	cr_assert_eq(tensor_create(session, &sqe, &fault), 0);
	cr_assert_eq(tensor_view(session, &view, &fault), 0);
	sqe.base[0] = H(NEW + 1);
	cr_assert_eq(tensor_create(session, &sqe, &fault), 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct view *v = &session->views[session_view(session, H(NEW + i))];

		cr_expect_eq(v->buffer, caller.buffer);
		cr_expect(!v->writable && !v->plain, "it is for reading only");
	}
	cr_expect_eq(caller.out, 1);
	for (uint32_t i = 0; i < 3; i++) {
		cr_expect_eq(caller.out, 1);
		sqe = (struct quoit_sqe){.opcode = QUOIT_OP_FREE, .base = {H(NEW + i)}};
		cr_assert_eq(tensor_free(session, &sqe, &fault), 0);
	}
	cr_expect_eq(caller.out, 0);
	cr_expect_eq(caller.buffer, NIL);
}

/* Pieces of the arena: their begin, their length, and whether they lie in it. */
Test(views, a_piece_of_the_arena_lies_in_it)
{
	static const struct {
		uint64_t offset;
		uint32_t n;
		int err;
		uint8_t dtype;
	} pieces[] = {
		{0, 1, 0},
		{0, CORE_ARENA / 4, 0},
		{0, CORE_ARENA / 4 + 1, -EINVAL},
		{CORE_ARENA - 4, 1, 0},
		{CORE_ARENA - 4, 2, -EINVAL},
		{CORE_ARENA, 0, 0},
		{CORE_ARENA, 1, -EINVAL},
		{CORE_ARENA + 4, 0, -EINVAL},
		{2, 1, -EINVAL},
		{UINT64_MAX - 3, 1, -EINVAL},
		{UINT64_MAX - 3, 2, -EINVAL},
		{2, 1, 0, QUOIT_BF16},
		{CORE_ARENA - 2, 1, 0, QUOIT_F16},
		{CORE_ARENA - 2, 2, -EINVAL, QUOIT_F16},
		{1, 1, -EINVAL, QUOIT_BF16},
	};

	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
		const struct quoit_sqe sqe =
			CREATE(.arg = QUOIT_CREATE_ARENA | pieces[i].dtype, TO(H(NEW)),
			       ROW(pieces[i].n), .offset = pieces[i].offset);
		struct fault fault;
		struct view view;
		int err = validate_create(session, &sqe, &view, &fault);

		cr_expect_eq(err, pieces[i].err, "row %zu: %d", i, err);
	}
}

Test(views, a_free_has_nothing_but_its_handle)
{
	static const struct words frees[] = {
		{"a tensor", {.base = {H(BASE)}}, 0, 0},
		{"nothing", {.base = {0}}, -EBADF, QUOIT_FIELD_TENSOR0},
		{"another generation", {.base = {2u << 20 | BASE}}, -EBADF, QUOIT_FIELD_TENSOR0},
		{"two tensors", {.base = {H(BASE), H(MIDDLE)}}, -EINVAL, QUOIT_FIELD_RESERVED},
		{"an arg", {.arg = 1, .base = {H(BASE)}}, -EINVAL, QUOIT_FIELD_RESERVED},
		{"a dim", {.base = {H(BASE)}, .dim = {0, 0, 0, 1}}, -EINVAL, QUOIT_FIELD_RESERVED},
		{"a stride", {.base = {H(BASE)}, .stride = {-1}}, -EINVAL, QUOIT_FIELD_RESERVED},
		{"an offset",
		 {.base = {H(BASE)}, .offset = UINT64_C(1) << 63},
		 -EINVAL,
		 QUOIT_FIELD_RESERVED},
		{"a link",
		 {.flags = QUOIT_SQE_LINK, .base = {H(BASE)}},
		 -EINVAL,
		 QUOIT_FIELD_FLAGS},
	};

	for (size_t i = 0; i < sizeof frees / sizeof frees[0]; i++) {
		struct quoit_sqe sqe = frees[i].sqe;
		struct fault fault = {0};
		uint32_t view;
		int err;

		sqe.opcode = QUOIT_OP_FREE;
		err = validate_free(session, &sqe, &view, &fault);
		cr_expect_eq(err, frees[i].err, "%s: %d", frees[i].what, err);
		if (err)
			cr_expect_eq(fault.field, frees[i].field, "%s: field %d", frees[i].what,
				     fault.field);
	}
}

/* ---- lifetimes ---- */

static void free_tensor(uint32_t index)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_FREE, .base = {H(index)}};
	struct fault fault;

	cr_assert_eq(tensor_free(session, &sqe, &fault), 0);
}

Test(views, a_buffer_lives_as_long_as_a_tensor_on_it)
{
	uint32_t buffer = core_view_of(session, BASE)->buffer;

	free_tensor(BASE);
	cr_expect_eq(session->buffers[buffer].views, 1);
	cr_expect_eq(session->free_buffer, NIL);
	free_tensor(MIDDLE);
	cr_expect_eq(session->free_buffer, buffer);
	cr_expect_eq(session->tensors_alive, 1);
}

Test(views, a_freed_index_takes_a_new_tensor_at_once_and_not_its_old_name)
{
	struct quoit_sqe sqe = CREATE(TO(2u << 20 | BASE), ROW(7));
	struct fault fault;

	free_tensor(BASE);
	cr_assert_eq(tensor_create(session, &sqe, &fault), 0);
	cr_expect_eq(session_view(session, H(BASE)), NIL);
	cr_expect_neq(session_view(session, 2u << 20 | BASE), NIL);
}

Test(views, tables_that_are_full_are_tried_again_and_nothing_is_lost)
{
	struct quoit_sqe sqe = CREATE(TO(H(NEW)), ROW(7));
	uint32_t views = session->views_room, buffers = session->buffers_room;
	struct fault fault;

	session->open.now = 1; /* when it ends, it may free some */
	session->views_room = session->views_used;
	cr_expect_eq(tensor_create(session, &sqe, &fault), -EAGAIN);
	session->views_room = views;
	session->buffers_room = session->buffers_used;
	cr_expect_eq(tensor_create(session, &sqe, &fault), -EAGAIN);
	session->open.now = 0;
	cr_expect_eq(tensor_create(session, &sqe, &fault), -ENOMEM, "nothing will free one");
	session->buffers_room = buffers;
	cr_expect_eq(session_view(session, H(NEW)), NIL);
	cr_expect_eq(tensor_create(session, &sqe, &fault), 0);
}
