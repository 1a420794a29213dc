/* SPDX-License-Identifier: MIT */
/* test_soft_break.c - misdeeds that break a soft device, and its state afterwards. */
#include <criterion/criterion.h>

#include "soft_case.h"

#define P SOFT_CASE_PAGE

static const struct quoit_device_driver *const soft = &soft_device_driver;

TestSuite(soft_break, .timeout = 60);

static uint64_t known[8]; /* host memory that streams may use */

static int fill(struct quoit_device_stream *s, uint64_t data, uint32_t n, int32_t stride,
		struct quoit_device_verdict *verdict)
{
	const struct quoit_device_call call = {
		.opcode = QUOIT_OP_FILL,
		.tensor[0] = {.data = data,
			      .dim = {1, 1, 1, n},
			      .stride = {0, 0, 0, stride},
			      .dtype = QUOIT_F32},
		.verdict = verdict,
	};

	return soft->run(s, &call);
}

enum misdeed { COPY_OUT, COPY_IN, COPY_TO, COPY_FROM, CLEAR, OPERATION };

static int put(struct quoit_device_stream *s, enum misdeed misdeed, uint64_t good, uint64_t address,
	       uint64_t bytes, struct quoit_device_verdict *verdict)
{
	switch (misdeed) {
	case COPY_OUT:
		return soft->copy(s, (uintptr_t)known, address, bytes, QUOIT_DEVICE_OUT);
	case COPY_IN:
		return soft->copy(s, address, (uintptr_t)known, bytes, QUOIT_DEVICE_IN);
	case COPY_TO:
		return soft->copy(s, address, good, bytes, QUOIT_DEVICE_WITHIN);
	case COPY_FROM:
		return soft->copy(s, good, address, bytes, QUOIT_DEVICE_WITHIN);
	case CLEAR:
		return soft->clear(s, address, bytes);
	default:
		return fill(s, address, (uint32_t)bytes / 4, 1, verdict);
	}
}

/* Use bytes from this offset on, of a page between two free ones. */
static void check_address(enum misdeed misdeed, int64_t offset, bool breaks)
{
	struct quoit_device *d = soft_case_open("16K");
	struct quoit_device_stream *s = soft_case_stream(d);
	struct quoit_device_verdict *verdict = soft_case_host(d, sizeof *verdict);
	const struct quoit_device_verdict *culprit = NULL;
	uint64_t other = soft_case_memory(d, P), freed = soft_case_memory(d, P);
	uint64_t address = soft_case_memory(d, P);

	cr_assert_eq(soft->memory_free(d, freed), 0);
	cr_assert_eq(soft->host_register(d, known, sizeof known), 0);
	cr_assert_eq(put(s, misdeed, other, address + (uint64_t)offset, 64, verdict), 0);
	if (!breaks) {
		cr_assert_eq(soft_case_finish(d, s), 1, "case %d, %ld", misdeed, (long)offset);
		cr_expect_eq(soft->health(d, &culprit), 0);
		cr_expect_null(soft->why(d, 0));
	} else {
		cr_assert_eq(soft_case_break(d, &culprit), -QUOIT_EGPUFAULT);
		cr_expect_eq(culprit, misdeed == OPERATION ? verdict : NULL);
		cr_expect_str_eq(soft->why(d, -QUOIT_EGPUFAULT),
				 "a job or kernel used memory that is not its device's");
	}
	soft->host_free(d, verdict);
	soft->close(d);
}

Test(soft_break, an_address_that_is_not_allocated_breaks_the_device)
{
	static const struct {
		int64_t offset;
		bool breaks;
	} rows[] = {
		{0, false},    {4096 - 64, false}, {4096 - 60, true}, {4096, true},      {-4, true},
		{-4096, true}, {-4096 - 60, true}, {1 << 20, true},   {INT64_MIN, true},
	};

	for (int misdeed = COPY_OUT; misdeed <= OPERATION; misdeed++)
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
			check_address((enum misdeed)misdeed, rows[i].offset, rows[i].breaks);
}

Test(soft_break, an_operation_breaks_the_device_by_its_strides)
{
	static const struct {
		uint64_t offset;
		uint32_t n;
		int32_t stride;
		bool breaks;
	} rows[] = {
		{0, 1024, 1, false},
		{0, 1025, 1, true},
		{0, 512, 2, false},
		{4, 512, 2, false},
		{8, 512, 2, true},
		{4092, 1024, -1, false},
		{4088, 1024, -1, true},
		{2, 1, 1, true},
		{4092, 1, INT32_MAX, false},
		{1 << 20, 0, 1, false},
		{0, UINT32_MAX, INT32_MAX, true},
		{0, UINT32_MAX, INT32_MIN, true},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct quoit_device *d = soft_case_open("16K");
		struct quoit_device_stream *s = soft_case_stream(d);
		const struct quoit_device_verdict *culprit;
		uint64_t address = soft_case_memory(d, P);

		cr_assert_eq(fill(s, address + rows[i].offset, rows[i].n, rows[i].stride, NULL), 0);
		if (rows[i].breaks)
			cr_expect_eq(soft_case_break(d, &culprit), -QUOIT_EGPUFAULT);
		else
			cr_expect_eq(soft_case_finish(d, s), 1, "row %zu", i);
		soft->close(d);
	}
}

Test(soft_break, of_a_broken_device_nothing_is_seen_and_every_call_says_so)
{
	struct quoit_device *d = soft_case_open("16K");
	struct quoit_device_stream *s = soft_case_stream(d), *other = soft_case_stream(d);
	struct quoit_device_event *e = soft_case_mark(d, s);
	const struct quoit_device_verdict *culprit;
	uint32_t *word = soft_case_host(d, sizeof *word);
	uint64_t n;
	void *memory;
	const int lost = -QUOIT_EGPUFAULT;

	soft_case_spin(d, s, 1000000);
	cr_assert_eq(soft->clear(s, 0, 1), 0);
	cr_assert_eq(soft->signal(s, word, 1), 0);
	cr_assert_eq(soft->event_record(e, s), 0);
	cr_assert_eq(soft->stream_wait(other, e), 0);
	cr_assert_eq(soft->signal(other, word, 1), 0);
	cr_assert_eq(soft_case_break(d, &culprit), lost);
	cr_expect_eq(soft->clock(d, &n, &n, &n), lost);
	cr_expect_eq(soft->memory_new(d, 1, &n), lost);
	cr_expect_eq(soft->memory_free(d, 1), lost);
	cr_expect_eq(soft->host_new(d, 1, &memory), lost);
	cr_expect_eq(soft->host_register(d, &n, 1), lost);
	cr_expect_eq(soft->event_record(e, s), lost);
	cr_expect_eq(soft->event_done(e), lost);
	cr_expect_eq(soft->stream_wait(s, e), lost);
	cr_expect_eq(soft->clear(s, 0, 0), lost);
	cr_expect_eq(soft->signal(s, word, 1), lost);
	cr_expect_eq(fill(s, 0, 0, 0, NULL), lost);
	soft->event_free(e);
	soft->close(d);
	cr_expect_eq(*word, 0);
}
