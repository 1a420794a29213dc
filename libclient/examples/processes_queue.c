/* SPDX-License-Identifier: MIT */
/*
 * processes_queue.c - multiprocessing's Queue and Pipe: producers and consumers of one bounded
 * queue, whose messages are whole and in order; and a Pipe, which is two queues.
 */
#include <errno.h>

#include "processes.h"

#define PRODUCERS 3u
#define CONSUMERS 2u
#define MESSAGES  100 /* of each producer */
#define ROOM      4u  /* messages in the queue: producers wait for consumers */
#define PINGS     10

/* A message: who made it, and which one of its messages it is; or a result; or the end. */
struct message {
	int32_t from, number;
};

#define END (-1)

static quoit_tensor new_message(struct quoit_ring *q)
{
	return quoit_create_vector(q, QUOIT_I32, sizeof(struct message) / sizeof(int32_t));
}

/* Queue.put; it waits while the queue is full. */
static int put(struct quoit_ring *q, int queue, struct message m)
{
	quoit_tensor t = new_message(q);
	int err = quoit_write(q, t, &m, sizeof m);

	if (!err)
		err = quoit_push(q, quoit_send(queue, t));
	quoit_free(q, t); /* once it is sent */
	return err ? err : quoit_flush(q);
}

/* Queue.get; it waits for a message. */
static int get(struct quoit_ring *q, int queue, struct message *ret)
{
	quoit_tensor t = new_message(q);
	int err = quoit_push(q, quoit_receive(queue, t));

	if (!err)
		err = quoit_read(q, t, ret, sizeof *ret);
	quoit_free(q, t);
	return err;
}

/* ---- a Queue ---- */

struct names {
	struct name queue, results;
};

static int open_both(struct own *own, const struct names *names, int *ret_queue, int *ret_results)
{
	const struct quoit_sync_params room = {.value = ROOM};
	int err = own_open(own);

	if (err)
		return err;
	*ret_queue = quoit_open_queue(own->s, names->queue.text, &room);
	*ret_results = quoit_open_queue(own->s, names->results.text, NULL);
	return *ret_queue < 0 ? *ret_queue : *ret_results < 0 ? *ret_results : 0;
}

static int produce(unsigned number, void *with)
{
	struct own own;
	int queue, results, err = open_both(&own, with, &queue, &results);

	for (int i = 0; i < MESSAGES && !err; i++)
		err = put(own.q, queue, (struct message){(int32_t)number, i});
	return err ? err : quoit_close(own.s, 0); /* waits until all are sent */
}

/* The numbers of each producer must rise: some of them went to the other consumer. */
static int consume(unsigned number, void *with)
{
	int32_t last[PRODUCERS] = {-1, -1, -1};
	struct message m, sum = {0};
	struct own own;
	int queue, results, err = open_both(&own, with, &queue, &results);

	(void)number;
	while (!err) {
		err = get(own.q, queue, &m);
		if (err || m.from == END)
			break;
		if (m.number <= last[m.from])
			return -EPROTO;
		last[m.from] = m.number;
		sum.from++;
		sum.number += m.number;
	}
	if (!err)
		err = put(own.q, results, sum);
	return err ? err : quoit_close(own.s, 0);
}

static int queue_of_all(void)
{
	struct names names = {name_of("queue"), name_of("results")};
	pid_t producer[PRODUCERS], consumer[CONSUMERS];
	struct message m, sum = {0};
	struct own own;
	int queue, results, err = open_both(&own, &names, &queue, &results);

	for (unsigned i = 0; i < PRODUCERS; i++)
		producer[i] = process_start(produce, i, &names);
	for (unsigned i = 0; i < CONSUMERS; i++)
		consumer[i] = process_start(consume, i, &names);
	if (process_join_all(producer, PRODUCERS))
		err = -ECHILD;
	/* All is in the queue, or received: the ends come behind. */
	for (unsigned i = 0; i < CONSUMERS; i++)
		(void)put(own.q, queue, (struct message){END, 0});
	for (unsigned i = 0; i < CONSUMERS && !err; i++) {
		err = get(own.q, results, &m);
		sum.from += m.from;
		sum.number += m.number;
	}
	if (process_join_all(consumer, CONSUMERS) && !err)
		err = -ECHILD;
	printf("%u producers, %u consumers: %d messages, the sum is %d\n", PRODUCERS, CONSUMERS,
	       sum.from, sum.number);
	if (sum.from != PRODUCERS * MESSAGES ||
	    sum.number != PRODUCERS * MESSAGES * (MESSAGES - 1) / 2)
		err = -EPROTO;
	quoit_close(own.s, 0);
	return err;
}

/* ---- a Pipe: a queue for each way, so that neither end receives what it has sent ---- */

struct end {
	struct own own;
	int send, receive;
};

static int open_end(struct end *e, const struct names *names, bool first)
{
	int queue[2], err = open_both(&e->own, names, &queue[0], &queue[1]);

	e->send = queue[!first];
	e->receive = queue[first];
	return err;
}

static int answer(unsigned number, void *with)
{
	struct message m = {0};
	struct end e;
	int err = open_end(&e, with, false);

	(void)number;
	while (!err && m.from != END) {
		err = get(e.own.q, e.receive, &m);
		m.number *= 2;
		if (!err)
			err = put(e.own.q, e.send, m);
	}
	return err ? err : quoit_close(e.own.s, 0);
}

static int pipe_of_two(void)
{
	struct names names = {name_of("ping"), name_of("pong")};
	struct message m = {0};
	struct end e;
	pid_t other;
	int err = open_end(&e, &names, true);

	other = process_start(answer, 0, &names);
	for (int i = 1; i <= PINGS && !err; i++) {
		err = put(e.own.q, e.send, (struct message){i < PINGS ? 0 : END, i});
		if (!err)
			err = get(e.own.q, e.receive, &m);
		if (!err && m.number != 2 * i)
			err = -EPROTO;
	}
	if (process_join(other) && !err)
		err = -ECHILD;
	printf("%d times there and back: the last answer is %d\n", PINGS, m.number);
	quoit_close(e.own.s, 0);
	return err;
}

int main(void)
{
	int err = queue_of_all();

	if (!err)
		err = pipe_of_two();
	if (err)
		fprintf(stderr, "processes_queue: %s\n", quoit_strerror(err));
	return err != 0;
}
