/* SPDX-License-Identifier: MIT */
/*
 * test_launcher.c - what quoit-exec asks of a device's driver for each request, counted
 *
 * The test is quoitd, and the driver does nothing but count its calls; what its streams write
 * comes when the test lets it.  Whoever calls a device layer directly cannot do with less than
 * one call for an operation and one for the word that says it is done: that is the bound.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <quoit/ring.h>

#include "counting_driver.h"
#include "exec/launcher_private.h"
#include "executors/executor_process.h"
#include "host/memfd.h"
#include "host/tsc.h"

#define PATIENCE_MS 10000
#define MASK        (QUOIT_EXEC_ENTRIES - 1)
#define CLOCK_STEP  1000u /* ns, of the device's clock */

/* ---- quoitd ---- */

static struct executor_process process;
static struct quoit_exec_daemon_channel *daemon_side;
static const struct quoit_exec_channel *exec_side;
static struct quoit_producer requests;
static struct quoit_consumer answers;
static int sockets[2], channel;
static pthread_t thread;
static bool profiled;

static void *serve(void *arg)
{
	const uint32_t flags = QUOIT_DEVICE_SIGNALS | (profiled ? QUOIT_DEVICE_PROFILED : 0);
	const struct driver driver = {.api = &counting_driver,
				      .info = {.flags = flags, .clock_step = CLOCK_STEP}};
	int err = launch(sockets[1], &driver);

	(void)arg;
	return (void *)(intptr_t)err;
}

#define STRETCHES 3u
#define PINNED    (STRETCHES * REACH_BYTES - 4096)

/* A session with a pinned region. */
static void send_memory(void)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	struct quoit_exec_memory message = {.bytes = {[QUOIT_EXEC_PINNED] = PINNED}};
	struct iovec data = {&message, sizeof message};
	struct msghdr msg = {.msg_iov = &data,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int fd = memfd_create_sealed("test", PINNED);

	cr_assert_geq(fd, 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	cr_assert_eq(sendmsg(channel, &msg, 0), sizeof message);
	close(fd);
}

static void open_launcher(void)
{
	tsc_init();
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	process = (struct executor_process){.pidfd = -1, .socket = sockets[0]};
	cr_assert_eq(executor_process_serve(&process, 1, &channel), 0);
	daemon_side = process.daemon_pages;
	exec_side = (const void *)((const struct quoit_exec_words *)process.exec_pages + 1);
	quoit_producer_init(&requests, &daemon_side->request_tail, &exec_side->request_head,
			    QUOIT_EXEC_ENTRIES);
	quoit_consumer_init(&answers, &daemon_side->answer_head, &exec_side->answer_tail,
			    QUOIT_EXEC_ENTRIES);
	send_memory();
	cr_assert_eq(pthread_create(&thread, NULL, serve, NULL), 0);
}

static void close_launcher(void)
{
	void *err;

	counting_let_go();
	close(sockets[0]);
	pthread_join(thread, &err);
	cr_expect_null(err);
	close(sockets[1]);
	close(channel);
	munmap(process.daemon_pages, process.daemon_bytes);
	munmap(process.exec_pages, process.exec_bytes);
}

TestSuite(launcher, .init = open_launcher, .fini = close_launcher, .timeout = 60);

static void open_profiled(void)
{
	profiled = true;
	open_launcher();
}

TestSuite(launcher_profiled, .init = open_profiled, .fini = close_launcher, .timeout = 60);

static void put(const struct quoit_exec_request *q)
{
	uint32_t i = 0;

	cr_assert(quoit_ring_reserve(&requests, &i));
	daemon_side->request[i & MASK] = *q;
}

static void publish(void)
{
	const struct quoit_exec_words *words = process.exec_pages;

	if (quoit_ring_submit_wake(&requests, &words->need_wake))
		cr_assert_eq(send(channel, "", 1, 0), 1);
}

/* An operation on two buffers of a page; behind request `after`, -1: nobody. */
static struct quoit_exec_request job(uint32_t id, uint32_t out, uint32_t in, int after)
{
	const struct quoit_exec_view view = {.dim = {1, 1, 1, 2},
					     .stride = {1, 1, 1, 1},
					     .region = QUOIT_EXEC_ON_DEVICE,
					     .given = 1};
	struct quoit_exec_request q = {.id = id,
				       .type = QUOIT_EXEC_RUN,
				       .op = QUOIT_OP_ADD,
				       .bytes = {4096, 4096},
				       .view = {view, view}};

	q.view[0].buffer = out;
	q.view[1].buffer = in;
	if (after >= 0) {
		q.afters = 1;
		q.after[0] = (uint32_t)after;
	}
	return q;
}

static void nap(void)
{
	const struct timespec time = {.tv_nsec = 1000000};

	nanosleep(&time, NULL);
}

/* Take answers until there were so many; each must be good. */
static void expect_answers(unsigned n)
{
	for (int ms = 0; n && ms < PATIENCE_MS; ms++) {
		uint32_t ready = quoit_ring_peek(&answers);

		for (uint32_t i = 0; i < ready && n; i++, n--) {
			cr_expect_eq(exec_side->answer[answers.next & MASK].res, 0);
			quoit_ring_release(&answers, 1);
		}
		if (n)
			nap();
	}
	cr_assert_eq(n, 0, "%u answers are missing", n);
}

/* Wait until so many operations were put into streams. */
static void expect_runs(unsigned n)
{
	for (int ms = 0; ms < PATIENCE_MS && counting_now().run < n; ms++)
		nap();
	cr_assert_eq(counting_now().run, n);
}

/* ---- what it costs ---- */

#define CHAIN   100u
#define SIZES   8u
#define AT_ONCE 12u /* fewer than a stream takes before it is known how fast it is */

/* The buffers have their places after this. */
static struct counting_calls warm_up(void)
{
	struct quoit_exec_request q = job(0, 0, 1, -1);

	put(&q);
	publish();
	expect_answers(1);
	return counting_now();
}

Test(launcher, a_chain_is_in_its_stream_before_anything_of_it_has_ended)
{
	const struct counting_calls before = warm_up();
	struct counting_calls now;
	char bell;

	counting_hold();
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		struct quoit_exec_request q = job(i, i % 2, !(i % 2), (int)i - 1);

		put(&q);
	}
	publish();
	expect_runs(before.run + AT_ONCE);
	cr_expect_eq(quoit_ring_peek(&answers), 0);
	counting_let_go();
	expect_answers(AT_ONCE);
	now = counting_now();
	cr_expect_eq(now.run - before.run, AT_ONCE);
	cr_expect_eq(now.signal - before.signal, 2, "a word for eight, and one for the others");
	cr_expect_eq(now.record + now.wait, before.record + before.wait, "no event");
	cr_expect_eq(now.clear + now.copy + now.stamp, before.clear + before.copy + before.stamp);
	cr_expect_eq(now.memory_new + now.host_new, before.memory_new + before.host_new);
	cr_expect_eq(now.event_new, before.event_new);
	cr_expect_eq(recv(channel, &bell, 1, MSG_DONTWAIT), -1, "nobody slept who had to be woken");
}

Test(launcher, a_job_behind_two_streams_is_one_event_more)
{
	const struct counting_calls before = warm_up();
	struct quoit_exec_request q[3] = {job(0, 0, 0, -1), job(1, 1, 1, -1), job(2, 2, 2, 0)};
	struct counting_calls now;

	q[2].after[q[2].afters++] = 1;
	counting_hold();
	for (unsigned i = 0; i < 3; i++)
		put(&q[i]);
	publish();
	expect_runs(before.run + 3);
	counting_let_go();
	expect_answers(3);
	now = counting_now();
	cr_expect_eq(now.record - before.record, 1);
	cr_expect_eq(now.wait - before.wait, 1);
	cr_expect_eq(now.signal - before.signal, 2, "before the event, and behind all");
}

static unsigned stream_of(uint32_t id)
{
	for (uint32_t i = 0; i < QUOIT_EXEC_ENTRIES && i < answers.next; i++) {
		const struct quoit_exec_answer *a =
			&exec_side->answer[(answers.next - 1 - i) & MASK];

		if (a->id == id)
			return a->stream;
	}
	return 0;
}

Test(launcher, answers_say_in_which_stream_each_was)
{
	const struct counting_calls before = warm_up();
	const struct quoit_exec_request q[3] = {job(1, 0, 0, -1), job(2, 1, 1, -1),
						job(3, 0, 0, 1)};

	counting_hold();
	for (unsigned i = 0; i < 3; i++)
		put(&q[i]);
	publish();
	expect_runs(before.run + 3);
	counting_let_go();
	expect_answers(3);
	cr_expect(stream_of(1) > STREAM_WORK && stream_of(1) <= STREAM_URGENT, "%u", stream_of(1));
	cr_expect_neq(stream_of(2), stream_of(1));
	cr_expect_eq(stream_of(3), stream_of(1), "behind the first");
}

/* A new tensor gets what a freed one of its size had: the driver is not asked. */
Test(launcher, new_buffers_in_the_place_of_freed_ones_are_no_call)
{
	const struct counting_calls before = warm_up();
	struct counting_calls now;

	for (uint32_t i = 0; i < CHAIN; i++) {
		struct quoit_exec_request q = job(i, i + 2, i + 1, (int)i - 1);
		struct quoit_exec_request drop = {.type = QUOIT_EXEC_DROP, .id = i + 1};

		put(&q);
		put(&drop);
	}
	publish();
	expect_answers(CHAIN);
	now = counting_now();
	cr_expect_eq(now.memory_new - before.memory_new, 1, "there were never more than three: %u",
		     now.memory_new - before.memory_new);
	cr_expect_eq(now.memory_free, before.memory_free);
	cr_expect_eq(now.run - before.run, CHAIN);
	cr_expect_leq(now.signal - before.signal, CHAIN / 4, "%u", now.signal - before.signal);
}

/* Who waits for a large job is told when it is done, and not when what came after it is. */
Test(launcher, a_large_job_has_a_word_of_its_own)
{
	const struct counting_calls before = warm_up();

	for (uint32_t i = 0; i < 3; i++) {
		struct quoit_exec_request q = job(i, 0, 0, (int)i - 1);

		q.view[0].dim[3] = q.view[1].dim[3] = SMALL_BYTES / sizeof(float) + (i == 1);
		q.bytes[0] = q.bytes[1] = 2 * SMALL_BYTES;
		put(&q);
	}
	publish();
	expect_answers(3);
	cr_expect_eq(counting_now().signal - before.signal, 2, "with the one before it");
}

/* Leases count what is in use: what is kept of freed buffers is no more than was once in use. */
Test(launcher, freed_buffers_of_other_sizes_go_back_to_the_driver)
{
	const struct counting_calls before = warm_up();
	struct counting_calls now;

	for (uint32_t i = 0; i < SIZES; i++) {
		struct quoit_exec_request q = job(0, 2, 2, -1);
		struct quoit_exec_request drop = {.type = QUOIT_EXEC_DROP, .id = 2};

		q.bytes[0] = q.bytes[1] = UINT64_C(1) << (20 + i);
		put(&q);
		put(&drop);
		publish();
		expect_answers(1);
	}
	now = counting_now();
	cr_expect_eq(now.memory_new - before.memory_new, SIZES);
	cr_expect_geq(now.memory_free - before.memory_free, SIZES - 1);
}

Test(launcher, stamps_are_two_calls_more)
{
	const struct counting_calls before = warm_up();
	struct quoit_exec_request q = job(0, 0, 1, -1);

	q.stamps = 1;
	put(&q);
	publish();
	expect_answers(1);
	cr_expect_eq(counting_now().stamp - before.stamp, 2);
	cr_expect_eq(counting_now().signal - before.signal, 1);
}

/* The reading is exact to a tick, and the stamps are a second after it: 100 us at 100 ppm. */
Test(launcher, how_far_stamps_are_off_grows_with_the_time_since_the_clock_was_read)
{
	struct quoit_exec_request q = job(0, 0, 1, -1);
	const struct quoit_exec_answer *a;
	uint64_t second, least;

	q.stamps = 1;
	put(&q);
	publish();
	expect_answers(1);
	a = &exec_side->answer[(answers.next - 1) & MASK];
	second = tsc_from_ns(COUNTING_STAMP_NS - COUNTING_READING_NS);
	least = 1 + tsc_from_ns(CLOCK_STEP) + second / 10000;
	cr_expect_geq(a->stamp_error, least);
	cr_expect_leq(a->stamp_error, least + 2, "what two roundings make");
}

Test(launcher, a_copy_from_the_pinned_region_is_a_copy_and_a_word)
{
	const struct counting_calls before = warm_up();
	struct counting_calls now;

	for (uint32_t i = 0; i < CHAIN; i++) {
		struct quoit_exec_request q = job(i, 0, 0, (int)i - 1);

		q.op = QUOIT_OP_COPY;
		q.view[1].region = QUOIT_EXEC_PINNED;
		q.bytes[1] = 0;
		put(&q);
	}
	publish();
	expect_answers(CHAIN);
	now = counting_now();
	cr_expect_eq(now.copy - before.copy, CHAIN);
	cr_expect_leq(now.signal - before.signal, CHAIN / 4, "%u", now.signal - before.signal);
	cr_expect_eq(now.run, before.run);
	cr_expect_eq(now.host_register - before.host_register, 1, "once, not for each");
}

/* ---- the memory that the device reaches ---- */

/* A copy of so many bytes from the pinned region. */
static struct quoit_exec_request copy_from(uint64_t offset, uint64_t bytes)
{
	struct quoit_exec_request q = job(0, 0, 0, -1);

	q.op = QUOIT_OP_COPY;
	q.bytes[0] = bytes;
	q.bytes[1] = 0;
	q.view[0].dim[3] = q.view[1].dim[3] = (uint32_t)(bytes / sizeof(float));
	q.view[1].region = QUOIT_EXEC_PINNED;
	q.view[1].offset = offset;
	return q;
}

static struct quoit_exec_answer run_alone(const struct quoit_exec_request *q)
{
	put(q);
	publish();
	expect_answers(1);
	return exec_side->answer[(answers.next - 1) & MASK];
}

static struct quoit_exec_answer unmap(void)
{
	const struct quoit_exec_request q = {.type = QUOIT_EXEC_UNMAP};

	return run_alone(&q);
}

static void expect_calls(const struct counting_calls *before, unsigned asked, unsigned copies)
{
	const struct counting_calls now = counting_now();

	cr_expect_eq(now.host_register - before->host_register, asked);
	cr_expect_eq(now.copy - before->copy, copies);
}

Test(launcher, memory_is_asked_for_in_stretches_where_it_is_used_and_once)
{
	const struct counting_calls before = warm_up();
	struct quoit_exec_request q = copy_from(4096, 4096);

	(void)run_alone(&q);
	expect_calls(&before, 1, 1);
	q = copy_from(REACH_BYTES - 4096, REACH_BYTES);
	cr_expect_eq(run_alone(&q).refused, 0);
	expect_calls(&before, 2, 3); /* each stretch a copy of its own */
	q = copy_from(REACH_BYTES, REACH_BYTES);
	(void)run_alone(&q);
	expect_calls(&before, 2, 4);
}

Test(launcher, nobody_waits_for_more_than_one_stretch_of_another)
{
	const struct counting_calls before = warm_up();
	const struct quoit_exec_request copy = copy_from(0, PINNED);
	const struct quoit_exec_request other = job(1, 1, 1, -1);

	put(&copy);
	put(&other);
	publish();
	expect_answers(2);
	expect_calls(&before, STRETCHES, STRETCHES);
	cr_expect_eq(counting_now().registered_at_run - before.host_register, 1);
}

Test(launcher, what_is_refused_is_said_once_and_goes_through_the_staging_buffer)
{
	const struct counting_calls before = warm_up();
	const struct quoit_exec_request q = copy_from(REACH_BYTES - 4096, REACH_BYTES);
	const unsigned parts = REACH_BYTES / STAGE_BYTES;
	struct quoit_exec_answer a;

	counting_refuse(2);
	a = run_alone(&q);
	cr_expect_eq(a.refused, REACH_BYTES);
	cr_expect_eq(a.refusal, ENOMEM);
	expect_calls(&before, 2, parts);
	cr_expect_eq(run_alone(&q).refused, 0);
	expect_calls(&before, 2, 2 * parts);
}

Test(launcher, all_that_was_asked_for_is_given_back_when_a_session_leaves)
{
	const struct counting_calls before = warm_up();
	struct quoit_exec_request q = copy_from(0, PINNED);

	counting_refuse(2);
	(void)run_alone(&q);
	q = copy_from(2 * REACH_BYTES, 4096);
	(void)run_alone(&q);
	cr_expect_eq(unmap().type, QUOIT_EXEC_UNMAP);
	cr_expect_eq(counting_now().host_register - before.host_register, 3);
	cr_expect_eq(counting_now().host_unregister - before.host_unregister, 2,
		     "the refused one is not there");
	send_memory(); /* the slot is free for the next */
	q = copy_from(0, 4096);
	(void)run_alone(&q);
	cr_expect_eq(counting_now().host_register - before.host_register, 4);
}

/* ---- for profilers ---- */

Test(launcher, without_a_profiler_a_job_is_no_range)
{
	(void)warm_up();
	cr_expect_eq(counting_now().range_begin, 0);
	cr_expect_eq(counting_now().range_end, 0);
}

/* It is open while its stream has not come to its end, and closed before it is answered. */
Test(launcher_profiled, a_job_is_a_range_from_its_stream_to_its_answer)
{
	const uint64_t whose = QUOIT_EXEC_JOB(3, 1, 77);
	struct quoit_exec_request q = job(5, 0, 1, -1);
	struct counting_calls now;

	counting_hold();
	daemon_side->job[5] = whose;
	put(&q);
	publish();
	expect_runs(1);
	now = counting_now();
	cr_expect_eq(now.range_begin, 1);
	cr_expect_eq(now.range_opcode, QUOIT_OP_ADD);
	cr_expect_eq(now.range_job, whose);
	cr_expect_eq(now.range_end, 0);
	counting_let_go();
	expect_answers(1);
	cr_expect_eq(counting_now().range_end, 1);
}

Test(launcher_profiled, each_job_of_a_chain_is_a_range)
{
	counting_hold();
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		struct quoit_exec_request q = job(i, 0, 1, (int)i - 1);

		put(&q);
	}
	publish();
	expect_runs(AT_ONCE);
	counting_let_go();
	expect_answers(AT_ONCE);
	cr_expect_eq(counting_now().range_begin, AT_ONCE);
	cr_expect_eq(counting_now().range_end, AT_ONCE);
}
