/* SPDX-License-Identifier: MIT */
/* test_completion.c - credits, hostile CQ heads, and the contents of CQEs and error records. */
#include <errno.h>
#include <sys/socket.h>

#include <criterion/criterion.h>

#include "base/tsc.h"
#include "core_case.h"
#include "job/completion.h"
#include "reactor/reactor.h"

#define CQ 16

static struct session *session;
static struct ring *ring;

/* Clients of this reactor do not cost more than others. */
static struct reactor *reactor;

static void open_session(void)
{
	tsc_init();
	session = core_session(64);
	ring = core_ring(session);
	reactor = aligned_alloc(64, sizeof *reactor);
	memset(reactor, 0, sizeof *reactor);
	session->reactor = reactor;
	session->user = calloc(1, sizeof *session->user + sizeof session->user->tenant[0]);
}

static void close_session(void)
{
	free(session->user);
	free(reactor);
	core_session_free(session);
}

TestSuite(completion, .init = open_session, .fini = close_session);

static void post(uint64_t user_data, int32_t res, uint8_t flags)
{
	const struct quoit_sqe sqe = {
		.opcode = QUOIT_OP_FILL, .flags = flags, .user_data = user_data};

	completion_post(ring, &sqe, res, NULL, NULL);
}

/* ---- credits ---- */

Test(completion, there_are_as_many_credits_as_free_slots)
{
	cr_expect_eq(completion_credits(ring), CQ);
	ring->in_flight = 3;
	cr_expect_eq(completion_credits(ring), CQ - 3);
	post(1, 0, 0);
	completion_flush(ring);
	cr_expect_eq(completion_credits(ring), CQ - 4);
}

Test(completion, a_client_that_never_reaps_ends_all_credit_and_gets_it_back_by_reaping)
{
	for (unsigned i = 0; i < CQ; i++)
		post(i, 0, 0);
	completion_flush(ring);
	cr_expect_eq(completion_credits(ring), 0);
	ring->client->cq_head = 5;
	cr_expect_eq(completion_credits(ring), 5);
	ring->client->cq_head = CQ;
	cr_expect_eq(completion_credits(ring), CQ);
}

/* A head that no client can have, and the same after the indices have wrapped. */
struct head {
	uint32_t read, posted, claimed;
	int lies;
};

Test(completion, a_head_that_cannot_be_is_found_out)
{
	static const struct head heads[] = {
		{0, 12, 12, 0},
		{0, 12, 13, 1},
		{0, 12, UINT32_MAX, 1},
		{4, 14, 3, 1},
		{4, 14, 4, 0},
		{4, 14, 14, 0},
		{4, 14, 15, 1},
		{4, 14, 4 - CQ, 1},
		{4, 14, 1u << 31, 1},
		{UINT32_MAX - 3, 10, 10, 0},
		{UINT32_MAX - 3, 10, 11, 1},
		{UINT32_MAX - 3, 10, UINT32_MAX - 4, 1},
		{UINT32_MAX - 3, 10, UINT32_MAX, 0},
	};

	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
		const struct head *h = &heads[i];
		int credits;

		ring->cq.cached_head = h->read;
		ring->cq.next = ring->cq.published = h->posted;
		ring->client->cq_head = h->claimed;
		credits = completion_credits(ring);
		if (h->lies)
			cr_expect_eq(credits, -EPROTO, "row %zu: %d", i, credits);
		else
			cr_expect_eq(credits, CQ - (int)(h->posted - h->claimed), "row %zu: %d", i,
				     credits);
	}
}

/* ---- CQEs ---- */

Test(completion, nothing_is_visible_before_the_flush)
{
	post(1, 0, 0);
	cr_expect_eq(ring->client->cq_tail, 0);
	cr_expect(ring->dirty);
	completion_flush(ring);
	cr_expect_eq(ring->client->cq_tail, 1);
	cr_expect_not(ring->dirty);
}

Test(completion, an_answer_is_seen_at_once_in_its_slot_and_with_the_tail)
{
	struct quoit_consumer c = {.line = ring->client->cq};
	uint64_t word[QUOIT_CQ_CARRIES] = {1, 1, 1};

	ring->cqes[0].res = -1; /* from the lap before */
	completion_answer(ring, 7);
	cr_expect_eq(ring->client->cq_tail, 1);
	cr_expect_not(ring->dirty);
	cr_expect_eq(ring->cqes[0].user_data, 7);
	cr_expect_eq(ring->cqes[0].res, 0);
	cr_assert(quoit_ring_carried(&c, word, QUOIT_CQ_CARRIES));
	cr_expect_eq(word[0], 0);
	cr_expect_eq(word[1], 7);
	cr_expect_eq(word[2], 0);
}

Test(completion, a_CQE_alone_is_carried_by_the_tail)
{
	struct quoit_consumer c = {.line = ring->client->cq};
	uint64_t word[QUOIT_CQ_CARRIES] = {0};

	post(1, -EINVAL, 0);
	completion_flush(ring);
	cr_expect_eq(ring->client->cq_tail, 1);
	cr_assert(quoit_ring_carried(&c, word, QUOIT_CQ_CARRIES));
	cr_expect_eq(word[0], QUOIT_CQE_ERROR);
	cr_expect_eq(word[1], 1);
	cr_expect_eq((int32_t)word[2], -EINVAL);
	post(2, 0, 0);
	post(3, 0, 0);
	completion_flush(ring);
	c.next = 2;
	cr_expect_eq(ring->client->cq_tail, 3);
	cr_expect_not(quoit_ring_carried(&c, word, QUOIT_CQ_CARRIES));
}

Test(completion, every_user_data_comes_back)
{
	static const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 0x0123456789abcdef};

	for (unsigned i = 0; i < 5; i++)
		post(values[i], (int32_t)i, 0);
	for (unsigned i = 0; i < 5; i++) {
		cr_expect_eq(ring->cqes[i].user_data, values[i]);
		cr_expect_eq(ring->cqes[i].res, (int32_t)i);
		cr_expect_eq(ring->cqes[i].flags, 0);
	}
}

Test(completion, a_quiet_job_is_heard_only_when_it_fails)
{
	post(1, 0, QUOIT_SQE_QUIET);
	post(2, 7, QUOIT_SQE_QUIET);
	cr_expect_eq(ring->cq.next, 0);
	post(3, -EINVAL, QUOIT_SQE_QUIET);
	cr_assert_eq(ring->cq.next, 1);
	cr_expect_eq(ring->cqes[0].user_data, 3);
}

Test(completion, slots_are_used_again_after_a_wrap)
{
	for (unsigned i = 0; i < 3 * CQ; i++) {
		post(i, 0, 0);
		completion_flush(ring);
		ring->client->cq_head = i + 1;
	}
	cr_expect_eq(ring->cqes[0].user_data, 2 * CQ);
	cr_expect_eq(ring->client->cq_tail, 3 * CQ);
}

/* ---- error records ---- */

Test(completion, a_failed_job_is_its_own_cause)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_GATHER, .user_data = 9};
	const struct quoit_error found = {.field = QUOIT_FIELD_TENSOR2, .value = {5, 4}};
	const struct quoit_error *e = &ring->errors[0];

	completion_post(ring, &sqe, -ERANGE, &found, NULL);
	cr_expect_eq(ring->cqes[0].flags, QUOIT_CQE_ERROR);
	cr_expect_eq(e->user_data, 9);
	cr_expect_eq(e->cause, 9);
	cr_expect_eq(e->code, -ERANGE);
	cr_expect_eq(e->opcode, QUOIT_OP_GATHER);
	cr_expect_eq(e->field, QUOIT_FIELD_TENSOR2);
	cr_expect_eq(e->value[0], 5);
	cr_expect_eq(e->value[1], 4);
}

Test(completion, a_poisoned_job_names_the_first_cause)
{
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_COPY, .user_data = 10};
	const struct quoit_error cause = {
		.cause = 9, .code = -ERANGE, .opcode = QUOIT_OP_GATHER, .ring = 3};
	const struct quoit_error *e = &ring->errors[0];

	completion_post(ring, &sqe, -QUOIT_EPOISON, &cause, NULL);
	cr_expect_eq(ring->cqes[0].res, -QUOIT_EPOISON);
	cr_expect_eq(e->user_data, 10);
	cr_expect_eq(e->cause, 9);
	cr_expect_eq(e->code, -ERANGE);
	cr_expect_eq(e->opcode, QUOIT_OP_GATHER);
	cr_expect_eq(e->ring, 3);
}

Test(completion, nothing_of_an_older_record_stays)
{
	const struct quoit_error found = {.field = QUOIT_FIELD_DIM, .value = {1, 2}};
	const struct quoit_sqe sqe = {.opcode = QUOIT_OP_COPY, .user_data = 10};

	for (unsigned i = 0; i < CQ; i++)
		completion_post(ring, &sqe, -EINVAL, &found, NULL);
	completion_post(ring, &sqe, -ETIME, NULL, NULL);
	cr_expect_eq(ring->errors[0].field, QUOIT_FIELD_NONE);
	cr_expect_eq(ring->errors[0].value[0], 0);
	cr_expect_eq(ring->errors[0].code, -ETIME);
}

/* ---- the descriptor ---- */

static bool rang(void)
{
	char byte;

	return recv(ring->socket, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 1;
}

Test(completion, an_arm_is_answered_once)
{
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	shutdown(ring->socket, SHUT_RDWR);
	ring->socket = pair[0];
	for (unsigned arm = 1; arm <= 2; arm++) {
		char bytes[4];

		ring->client->arm = arm;
		post(1, 0, 0);
		completion_flush(ring);
		post(2, 0, 0);
		completion_flush(ring);
		cr_expect_eq(recv(pair[1], bytes, sizeof bytes, MSG_DONTWAIT), 1);
		cr_expect_eq(recv(pair[1], bytes, sizeof bytes, MSG_DONTWAIT), -1);
	}
	cr_expect_not(rang());
}
