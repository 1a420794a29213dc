/* SPDX-License-Identifier: MIT */
/* test_messages.c - which messages of a queue senders fill and receivers get, and where they lie */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "backend/service/call_queue.h"
#include "backend/service/messages.h"
#include "base/tsc.h"
#include "job/message_order.h"
#include "reactor/reactor.h"
#include "session/message_queue.h"

#define LINES 4u /* of the queue's bytes */
#define SLOTS 3u

#define ROW_BYTES 32u

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

static struct service_call *come(struct service_call *call)
{
	if (message_way(call->entry.function) == MESSAGE_SENT)
		message_send(&object, call);
	else
		message_receive(&object, call);
	return call;
}

static struct service_call *send(unsigned number, uint32_t lines)
{
	return come(call_of(number, QUOIT_SYNC_SEND, lines));
}

static struct service_call *receive(unsigned number, uint32_t lines)
{
	return come(call_of(number, QUOIT_SYNC_RECEIVE, lines));
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

/* ---- rows ---- */

/* The call with this number, of so many rows of eight float32. */
static struct service_call *rows_of(unsigned number, uint8_t op, uint32_t rows)
{
	struct service_call *call = call_of(number, op, 1);

	call->entry.tensor[0].dim[QUOIT_MAX_DIMS - 2] = rows;
	call->entry.tensor[0].dim[QUOIT_MAX_DIMS - 1] = ROW_BYTES / 4;
	call->bytes = (rows * ROW_BYTES + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE;
	return call;
}

static struct service_call *send_rows(unsigned number, uint32_t rows)
{
	return come(rows_of(number, QUOIT_SYNC_SEND_ROWS, rows));
}

static struct service_call *receive_rows(unsigned number, uint32_t rows)
{
	return come(rows_of(number, QUOIT_SYNC_RECEIVE_ROWS, rows));
}

static struct service_call *receive_row(unsigned number)
{
	return come(rows_of(number, QUOIT_SYNC_RECEIVE, 1));
}

Test(messages, each_row_is_a_message)
{
	struct service_call *rows = send_rows(0, 3), *got;

	cr_expect(receive_row(1)->waits, "they are being filled");
	moved(rows, 0);
	cr_expect_eq(caller->call[1].dense, q->bytes);
	got = receive_row(2);
	cr_expect_eq(got->dense, q->bytes + ROW_BYTES);
	cr_expect_eq(messages_waiting(q), 2, "one is given, and was not taken yet");
	moved(got, 0);
	moved(&caller->call[1], 0);
	cr_expect_eq(messages_waiting(q), 1);
	cr_expect_eq(receive_row(3)->dense, q->bytes + 2 * (uint64_t)ROW_BYTES);
}

Test(messages, rows_get_what_is_there_and_no_more_than_they_are)
{
	struct service_call *got, *none;

	moved(send_rows(0, 2), 0);
	got = receive_rows(2, 1);
	cr_expect_eq(got->result, 1);
	cr_expect_eq(got->messages, 1);
	cr_expect_eq(got->bytes, ROW_BYTES, "of its rows");
	got = receive_rows(3, 3);
	cr_expect_eq(got->result, 1);
	none = receive_rows(4, 3);
	cr_expect(none->waits);
}

Test(messages, rows_get_messages_that_were_sent_alone)
{
	struct service_call *got;

	moved(come(rows_of(0, QUOIT_SYNC_SEND, 1)), 0);
	moved(send_rows(1, 2), 0);
	got = receive_rows(2, 3);
	cr_expect_eq(got->result, 3);
	cr_expect_eq(message_behind(q, got->message, 1)->at, QUOIT_LINE);
	cr_expect_eq(message_behind(q, got->message, 2)->at, QUOIT_LINE + ROW_BYTES);
}

Test(messages, one_of_another_shape_ends_the_rows_that_are_received)
{
	struct service_call *got;

	moved(send_rows(0, 1), 0);
	sent(1, 1);
	moved(send_rows(2, 1), 0);
	got = receive_rows(3, 3);
	cr_expect_eq(got->result, 1);
	cr_expect_eq(receive_rows(4, 3)->result, -EMSGSIZE);
	cr_expect_eq(messages_waiting(q), 2);
}

Test(messages, rows_of_which_the_queue_has_room_for_one_only_wait)
{
	struct service_call *rows;

	sent(0, 1);
	rows = send_rows(1, SLOTS);
	cr_expect(rows->waits);
	moved(receive(2, 1), 0);
	cr_expect_not(rows->waits);
}

Test(messages, more_rows_than_a_queue_ever_has_are_refused)
{
	struct service_call *rows = send_rows(0, SLOTS + 1);

	cr_expect_eq(rows->result, -EMSGSIZE);
	cr_expect(strstr(rows->text, "has 4 rows: of this queue a job sends at most 3 at once"),
		  "%s", rows->text);
}

Test(messages, rows_that_were_not_filled_or_not_taken_are_as_single_messages)
{
	struct service_call *lost = send_rows(0, 2), *one = send_rows(1, 1), *got;

	moved(one, 0);
	moved(lost, -ECANCELED);
	moved(send_rows(2, 2), 0);
	got = receive_rows(3, 2);
	cr_expect_eq(got->result, 2);
	moved(got, -EFAULT);
	cr_expect_eq(messages_waiting(q), 3);
	got = receive_rows(4, 3);
	cr_expect_eq(got->result, 3);
	moved(got, 3);
	cr_expect_eq(messages_waiting(q), 0);
	cr_expect_eq(line_of(sent(5, LINES)), 0);
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
