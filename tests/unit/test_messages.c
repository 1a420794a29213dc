/* SPDX-License-Identifier: MIT */
/* test_messages.c - which messages of a queue senders fill and receivers get, and where they lie */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "backend/service/call_queue.h"
#include "backend/service/messages.h"
#include "base/tsc.h"
#include "reactor/reactor.h"
#include "session/message_queue.h"

#define LINES 4u /* of the queue's bytes */
#define SLOTS 3u

static struct reactor *reactor;
static struct service service;
static struct object object;
static struct caller *caller;
static struct message_queue *q;

static void open_queue(void)
{
	tsc_init();
	reactor = aligned_alloc(64, (sizeof *reactor + 63) / 64 * 64);
	caller = calloc(1, sizeof *caller);
	q = message_queue_new(SLOTS, LINES * QUOIT_LINE);
	cr_assert(reactor && caller && q);
	memset(reactor, 0, sizeof *reactor);
	object.kind = QUOIT_SYNC_QUEUE;
	object.queue = q;
	service.object = &object;
	caller->service = &service;
	caller->reactor = reactor;
}

static void close_queue(void)
{
	message_queue_free(q);
	free(caller);
	free(reactor);
}

TestSuite(messages, .init = open_queue, .fini = close_queue);

/* The call with this number, of a tensor of so many lines. */
static struct service_call *call_of(unsigned number, uint8_t op, uint32_t lines)
{
	struct service_call *call = &caller->call[number];

	*call = (struct service_call){.caller = caller, .bytes = lines * QUOIT_LINE};
	call->entry.function = op;
	call->entry.tensor[0].dtype = QUOIT_F32;
	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		call->entry.tensor[0].dim[i] = 1;
	call->entry.tensor[0].dim[QUOIT_MAX_DIMS - 1] = lines * QUOIT_LINE / 4;
	return call;
}

static struct service_call *send(unsigned number, uint32_t lines)
{
	struct service_call *call = call_of(number, QUOIT_SYNC_SEND, lines);

	message_send(&object, call);
	return call;
}

static struct service_call *receive(unsigned number, uint32_t lines)
{
	struct service_call *call = call_of(number, QUOIT_SYNC_RECEIVE, lines);

	message_receive(&object, call);
	return call;
}

static void moved(struct service_call *call, int32_t result)
{
	call->result = result;
	message_moved(q, call);
}

static struct service_call *sent(unsigned number, uint32_t lines)
{
	struct service_call *call = send(number, lines);

	cr_assert(call->message);
	moved(call, 0);
	return call;
}

static uint64_t line_of(const struct service_call *call)
{
	return (uint64_t)(call->dense - q->bytes) / QUOIT_LINE;
}

Test(messages, a_message_lies_in_one_piece)
{
	struct service_call *first, *second;

	sent(0, 2);
	sent(1, 1);
	first = receive(2, 2);
	cr_expect_eq(line_of(first), 0);
	second = send(3, 2); /* a line is left at the end, and one too few at the beginning */
	cr_expect(second->waits);
	moved(first, 0);
	cr_expect_not(second->waits);
	cr_expect_eq(line_of(second), 0);
	cr_expect_eq(line_of(receive(4, 1)), 2);
}

Test(messages, the_longest_message_fits_wherever_the_one_before_it_ended)
{
	for (unsigned i = 0; i < 10; i++) {
		sent(0, 1 + i % 3);
		moved(receive(1, 1 + i % 3), 0);
		cr_assert_eq(line_of(sent(0, LINES)), 0);
		moved(receive(1, LINES), 0);
	}
}

Test(messages, a_message_longer_than_the_queue_is_refused)
{
	struct service_call *call = send(0, LINES + 1);

	cr_expect_not(call->waits);
	cr_expect_eq(call->result, -EMSGSIZE);
	cr_expect(strstr(call->text, "takes 320 bytes, and the queue has 256"), "%s", call->text);
}

Test(messages, no_more_messages_than_slots)
{
	struct service_call *last;

	for (unsigned i = 0; i < SLOTS; i++)
		sent(i, 1);
	cr_expect_eq(messages_waiting(q), SLOTS);
	last = send(SLOTS, 1);
	cr_expect(last->waits);
	moved(receive(10, 1), 0);
	cr_expect_not(last->waits);
}

Test(messages, a_later_message_does_not_overtake_one_that_is_being_filled)
{
	struct service_call *first = send(0, 1), *second = sent(1, 1), *got = receive(2, 1);

	cr_expect(got->waits);
	moved(first, 0);
	cr_expect_not(got->waits);
	cr_expect_eq(got->dense, first->dense);
	cr_expect_eq(receive(3, 1)->dense, second->dense);
}

Test(messages, what_its_sender_could_not_fill_is_passed_over)
{
	struct service_call *first = send(0, 1), *second = sent(1, 1), *got = receive(2, 1);

	moved(first, -ECANCELED);
	cr_expect_eq(got->dense, second->dense);
	moved(got, 0);
	cr_expect_eq(messages_waiting(q), 0);
	cr_expect_eq(line_of(sent(0, LINES)), 0);
}

Test(messages, what_its_receiver_could_not_take_comes_before_newer_ones)
{
	struct service_call *one, *two;

	for (unsigned i = 0; i < SLOTS; i++)
		sent(i, 1);
	one = receive(3, 1);
	two = receive(4, 1);
	moved(one, -EFAULT);
	cr_expect_eq(receive(5, 1)->dense, one->dense);
	moved(two, 0);
	cr_expect_eq(line_of(receive(6, 1)), 2);
}

Test(messages, bytes_come_back_in_the_order_in_which_they_were_given)
{
	struct service_call *one, *two, *late;

	sent(0, 2);
	sent(1, 2);
	one = receive(2, 2);
	two = receive(3, 2);
	late = send(4, 2);
	moved(two, 0);
	cr_expect(late->waits);
	moved(one, 0);
	cr_expect_eq(line_of(late), 0);
}

Test(messages, of_another_shape_it_stays)
{
	struct service_call *other;

	sent(0, 1);
	other = receive(1, 2);
	cr_expect_eq(other->result, -EMSGSIZE);
	cr_expect_null(other->message);
	cr_expect_eq(messages_waiting(q), 1);
	cr_expect_not_null(receive(2, 1)->message);
}

Test(messages, a_sender_that_was_in_the_way_lets_others_go_on)
{
	struct service_call *large, *small;

	sent(0, 2);
	large = send(1, 3);
	small = send(2, 1);
	cr_expect(small->waits);
	cr_expect(large->waits);
	call_queue_remove(&q->senders, large); /* as answers.c withdraws it */
	large->waits = false;
	messages_go_on(q);
	cr_expect_not(small->waits);
}
