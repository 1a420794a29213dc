/* SPDX-License-Identifier: MIT */
/*
 * test_waits.c - the counters tell the one cause that jobs wait for: programs with one cause each.
 */
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "client.h"

#define MIB UINT64_C(1048576)

TestSuite(waits, .timeout = 300);

struct waiting {
	uint64_t queued, data, memory, turn;
	uint64_t memory_ticks; /* in the last 0.3 s */
};

static uint64_t figure(const struct client *c, unsigned counter)
{
	struct quoit_info info;

	quoit_get_info(c->s, &info);
	return daemon_session_counter(&c->d, info.session, counter);
}

/* Open a session of `lease` bytes, of which the arena takes very little. */
static void begin(struct client *c, uint64_t lease)
{
	struct quoit_open_params p = {.host_bytes = lease, .arena_bytes = 65536};

	cr_assert_eq(daemon_start(&c->d, NULL), 0);
	p.socket = c->d.socket;
	cr_assert_eq(quoit_open(&p, &c->s), 0);
	cr_assert_eq(quoit_open_ring(c->s, NULL, &c->q), 0);
}

/* How much longer the session's jobs have waited for memory after 0.3 s, in ticks. */
static uint64_t memory_ticks(const struct client *c)
{
	uint64_t before = figure(c, QUOIT_SESSION_MEMORY_TICKS);

	usleep(300000);
	return figure(c, QUOIT_SESSION_MEMORY_TICKS) - before;
}

/*
 * Read the counters once so many jobs wait for memory, and once 0.3 s have shown it: until a
 * running job has its pages, it waits for memory, too.  Running jobs take longer than that.
 */
static struct waiting look(struct client *c, uint64_t for_memory)
{
	struct waiting w;
	uint64_t ticks;

	cr_assert_eq(quoit_flush(c->q), 0);
	usleep(400000);
	for (unsigned tries = 0; tries < 300; tries++, usleep(10000))
		if (figure(c, QUOIT_SESSION_WAIT_MEMORY) == for_memory)
			break;
	ticks = memory_ticks(c);
	for (unsigned tries = 0; tries < 10 && !ticks != !for_memory; tries++)
		ticks = memory_ticks(c);
	w = (struct waiting){.queued = figure(c, QUOIT_SESSION_QUEUED),
			     .data = figure(c, QUOIT_SESSION_WAIT_DATA),
			     .memory = figure(c, QUOIT_SESSION_WAIT_MEMORY),
			     .turn = figure(c, QUOIT_SESSION_WAIT_TURN),
			     .memory_ticks = ticks};
	cr_expect_eq(w.queued, w.data + w.memory + w.turn, "the totals agree");
	return w;
}

static void end(struct client *c)
{
	cr_assert_eq(quoit_close(c->s, QUOIT_CLOSE_CANCEL), 0);
	daemon_stop(&c->d);
}

static quoit_tensor vector(struct client *c, uint64_t bytes)
{
	return quoit_create_vector(c->q, QUOIT_F32, (uint32_t)(bytes / 4));
}

/* Compute sums over t, one after the other, for seconds; returns their output. */
static quoit_tensor keep_busy(struct client *c, quoit_tensor t, unsigned jobs)
{
	const struct quoit_shape many = {.dtype = QUOIT_F32,
					 .dim = {1, 1, CLIENT_GIANT_ROWS, CLIENT_GIANT_COLUMNS},
					 .stride = {1}};
	quoit_tensor view = quoit_view(c->q, t, &many, 0), sum = vector(c, 4);

	cr_assert_eq(quoit_push(c->q, quoit_fill(t, 1)), 0);
	for (unsigned i = 0; i < jobs; i++)
		cr_assert_eq(quoit_push(c->q, quoit_sum(sum, view, QUOIT_AXIS_ALL)), 0);
	quoit_free(c->q, view);
	return sum;
}

Test(waits, for_bytes_alone)
{
	struct waiting w;
	struct client c;
	quoit_tensor t;

	begin(&c, 8 * MIB);
	t = vector(&c, 6 * MIB);
	(void)keep_busy(&c, t, 8);
	quoit_free(c.q, t); /* the next one gets its bytes once all of these have ended */
	cr_assert_eq(quoit_push(c.q, quoit_fill(vector(&c, 6 * MIB), 2)), 0);
	w = look(&c, 1);
	cr_expect_eq(w.memory, 1, "%llu", (unsigned long long)w.memory);
	cr_expect_eq(w.data, w.queued - 1);
	cr_expect_gt(w.memory_ticks, 0);
	end(&c);
}

/* Each gets its bytes when its turn comes, which is not a lack of bytes. */
Test(waits, for_what_others_write_alone)
{
	struct waiting w;
	struct client c;
	quoit_tensor t;

	begin(&c, 64 * MIB);
	t = keep_busy(&c, vector(&c, 4), 8);
	for (unsigned i = 0; i < 20; i++) {
		const struct quoit_shape wide = {
			.dtype = QUOIT_F32, .dim = {1, 1, 1, 1 << 19}, .stride = {1}};
		quoit_tensor next = vector(&c, 2 * MIB);

		cr_assert_eq(quoit_push(c.q, quoit_copy(next, quoit_view(c.q, t, &wide, 0))), 0);
		t = next;
	}
	w = look(&c, 0);
	cr_expect_geq(w.data, 20);
	cr_expect_eq(w.memory, 0, "%llu", (unsigned long long)w.memory);
	cr_expect_eq(w.turn, 0);
	cr_expect_eq(w.memory_ticks, 0);
	end(&c);
}

/* Bytes are lacking, too, but the jobs could not start even if they had them. */
Test(waits, for_both_is_for_what_others_write)
{
	struct waiting w;
	struct client c;
	quoit_tensor t, sum;

	begin(&c, 8 * MIB);
	t = vector(&c, 6 * MIB);
	sum = keep_busy(&c, t, 8);
	quoit_free(c.q, t);
	for (unsigned i = 0; i < 3; i++) {
		const struct quoit_shape wide = {
			.dtype = QUOIT_F32, .dim = {1, 1, 1, 1 << 20}, .stride = {1}};

		cr_assert_eq(quoit_push(c.q, quoit_copy(vector(&c, 4 * MIB),
							quoit_view(c.q, sum, &wide, 0))),
			     0);
	}
	w = look(&c, 0);
	cr_expect_geq(w.data, 3);
	cr_expect_eq(w.memory, 0, "%llu", (unsigned long long)w.memory);
	cr_expect_eq(w.memory_ticks, 0);
	end(&c);
}

/* At most four works of a session are with the workers at a time. */
Test(waits, for_their_turn_alone)
{
	struct waiting w;
	struct client c;

	begin(&c, 64 * MIB);
	for (unsigned i = 0; i < 12; i++)
		(void)keep_busy(&c, vector(&c, 4), 1);
	w = look(&c, 0);
	cr_expect_gt(w.turn, 0);
	cr_expect_eq(w.memory, 0);
	cr_expect_eq(w.data, 0, "%llu", (unsigned long long)w.data);
	end(&c);
}
