/* SPDX-License-Identifier: MIT */
/* test_abi.c - the layout of shared memory never changes. */
#include <stddef.h>

#include <criterion/criterion.h>

#include <quoit/ctl.h>
#include <quoit/stats.h>
#include <quoit/trace.h>

struct place {
	const char *what;
	size_t found, expected;
};

#define SIZE(type, bytes)                                                                          \
	{                                                                                          \
		"sizeof " #type, sizeof(type), bytes                                               \
	}
#define PLACE(type, member, bytes)                                                                 \
	{                                                                                          \
#type "." #member, offsetof(type, member), bytes                                   \
	}

static void check(const struct place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_expect_eq(places[i].found, places[i].expected, "%s is %zu, not %zu",
			     places[i].what, places[i].found, places[i].expected);
}

#define CHECK(places) check(places, sizeof places / sizeof places[0])

Test(abi, an_sqe_has_its_words_where_they_were)
{
	static const struct place places[] = {
		SIZE(struct quoit_sqe, 64),
		PLACE(struct quoit_sqe, opcode, 0),
		PLACE(struct quoit_sqe, flags, 1),
		PLACE(struct quoit_sqe, device, 2),
		PLACE(struct quoit_sqe, arg, 3),
		PLACE(struct quoit_sqe, reserved0, 4),
		PLACE(struct quoit_sqe, user_data, 8),
		PLACE(struct quoit_sqe, tensor, 16),
		PLACE(struct quoit_sqe, deadline, 32),
		PLACE(struct quoit_sqe, link, 36),
		PLACE(struct quoit_sqe, scalar, 40),
		PLACE(struct quoit_sqe, priority, 56),
		PLACE(struct quoit_sqe, function, 57),
		PLACE(struct quoit_sqe, team, 58),
		PLACE(struct quoit_sqe, event_ring, 59),
		PLACE(struct quoit_sqe, reserved, 60),
		PLACE(struct quoit_sqe, result, 32),
		PLACE(struct quoit_sqe, began, 40),
		PLACE(struct quoit_sqe, base, 16),
		PLACE(struct quoit_sqe, dim, 24),
		PLACE(struct quoit_sqe, stride, 40),
		PLACE(struct quoit_sqe, offset, 56),
		PLACE(struct quoit_sqe, word, 16),
	};

	CHECK(places);
}

Test(abi, a_completion_has_its_words_where_they_were)
{
	static const struct place places[] = {
		SIZE(struct quoit_cqe, 16),           PLACE(struct quoit_cqe, res, 8),
		PLACE(struct quoit_cqe, flags, 12),   SIZE(struct quoit_error, 40),
		PLACE(struct quoit_error, cause, 8),  PLACE(struct quoit_error, value, 16),
		PLACE(struct quoit_error, code, 32),  PLACE(struct quoit_error, function, 34),
		PLACE(struct quoit_error, team, 35),  PLACE(struct quoit_error, opcode, 36),
		PLACE(struct quoit_error, field, 37), PLACE(struct quoit_error, ring, 38),
		SIZE(struct quoit_stamps, 64),        PLACE(struct quoit_stamps, post, 32),
	};

	CHECK(places);
}

Test(abi, words_of_two_writers_share_no_line)
{
	static const struct place places[] = {
		SIZE(struct quoit_client_words, 320),
		PLACE(struct quoit_client_words, sq, 0),
		PLACE(struct quoit_client_words, sq_tail, 4),
		PLACE(struct quoit_client_words, cq_head, 64),
		PLACE(struct quoit_client_words, submitted, 192),
		PLACE(struct quoit_client_words, reaped, 72),
		PLACE(struct quoit_client_words, cq_wait, 128),
		PLACE(struct quoit_client_words, arm, 132),
		PLACE(struct quoit_client_words, last_reap, 136),
		SIZE(struct quoit_daemon_words, 128),
		PLACE(struct quoit_daemon_words, sq_head, 0),
		PLACE(struct quoit_client_words, cq, 256),
		PLACE(struct quoit_client_words, cq_tail, 260),
		PLACE(struct quoit_daemon_words, need_wake, 64),
		SIZE(struct quoit_note, 16),
		SIZE(struct quoit_site, 64),
		PLACE(struct quoit_daemon_words, tracing, 68),
		PLACE(struct quoit_daemon_words, sampling, 72),
		SIZE(struct quoit_ring_layout, 56),
		SIZE(struct quoit_call_tensor, 48),
		SIZE(struct quoit_call_entry, 256),
		SIZE(struct quoit_trace_event, 16),
		PLACE(struct quoit_ring_events, event, 64),
	};

	CHECK(places);
}

Test(abi, a_trace_has_its_words_where_they_were)
{
	static const struct place places[] = {
		SIZE(struct quoit_trace_record, 64),
		PLACE(struct quoit_trace_record, res, 4),
		PLACE(struct quoit_trace_record, job.fetch, 16),
		PLACE(struct quoit_trace_record, job.post, 56),
		PLACE(struct quoit_trace_record, event, 8),
		PLACE(struct quoit_trace_record, counts.host_used, 24),
		PLACE(struct quoit_trace, session, 72),
		PLACE(struct quoit_trace, head, 192),
		PLACE(struct quoit_trace, ended, 216),
		SIZE(struct quoit_trace, 256),
	};

	CHECK(places);
}

Test(abi, a_control_message_has_its_words_where_they_were)
{
	static const struct place places[] = {
		SIZE(struct quoit_ctl, 256),        PLACE(struct quoit_ctl, magic, 0),
		PLACE(struct quoit_ctl, type, 4),   PLACE(struct quoit_ctl, flags, 6),
		PLACE(struct quoit_ctl, seq, 8),    PLACE(struct quoit_ctl, result, 12),
		PLACE(struct quoit_ctl, hello, 16), PLACE(struct quoit_ctl, text, 144),
		SIZE(struct quoit_hello, 96),       SIZE(struct quoit_hello_reply, 128),
	};

	CHECK(places);
}

Test(abi, a_kernels_description_has_its_words_where_they_were)
{
	static const struct place places[] = {
		SIZE(struct quoit_kernel_desc, 552),
		PLACE(struct quoit_kernel_desc, grid, 256),
		PLACE(struct quoit_kernel_desc, block, 268),
		PLACE(struct quoit_kernel_desc, shared_bytes, 280),
		PLACE(struct quoit_kernel_desc, args, 284),
		PLACE(struct quoit_kernel_desc, access, 288),
		PLACE(struct quoit_kernel_desc, arg, 296),
		SIZE(struct quoit_kernel_arg, 16),
		PLACE(struct quoit_kernel_arg, value, 8),
		{"IMAGE_ADD", QUOIT_CTL_IMAGE_ADD, 12},
		{"KERNEL_ADD", QUOIT_CTL_KERNEL_ADD, 14},
		{"SCALAR", QUOIT_ARG_SCALAR, 2},
	};

	CHECK(places);
}

Test(abi, numbers_are_those_that_were_given_out)
{
	static const struct place places[] = {
		{"CREATE", QUOIT_OP_CREATE, 1},
		{"FREE", QUOIT_OP_FREE, 3},
		{"FILL", QUOIT_OP_FILL, 8},
		{"COMPARE", QUOIT_OP_COMPARE, 15},
		{"NORMAL", QUOIT_OP_NORMAL, 21},
		{"AXPBY", QUOIT_OP_AXPBY, 30},
		{"SIGMOID", QUOIT_OP_SIGMOID, 40},
		{"GEMM", QUOIT_OP_GEMM, 44},
		{"SQNORM", QUOIT_OP_SQNORM, 52},
		{"SQLOSS", QUOIT_OP_SQLOSS, 56},
		{"FILE_WRITE", QUOIT_OP_FILE_WRITE, 61},
		{"LAUNCH", QUOIT_OP_LAUNCH, 64},
		{"ABS", QUOIT_OP_ABS, 65},
		{"ARGMIN", QUOIT_OP_ARGMIN, 70},
		{"ACQUIRE_READ", QUOIT_OP_ACQUIRE_READ, 71},
		{"RELEASE", QUOIT_OP_RELEASE, 73},
		{"CALL", QUOIT_OP_CALL, 74},
		{"RETURN", QUOIT_OP_RETURN, 75},
		{"QUIET", QUOIT_SQE_QUIET, 1},
		{"AFTER_ALL", QUOIT_SQE_AFTER_ALL, 2},
		{"LINK", QUOIT_SQE_LINK, 4},
		{"EVENT", QUOIT_SQE_EVENT, 16},
		{"I64", QUOIT_I64, 3},
		{"F16", QUOIT_F16, 5},
		{"GEMM_TF32", QUOIT_GEMM_TF32, 4},
		{"EPOISON", QUOIT_EPOISON, 4096},
		{"field OFFSET", QUOIT_FIELD_OFFSET, 18},
		{"field MEMORY", QUOIT_FIELD_MEMORY, 19},
	};

	CHECK(places);
}
