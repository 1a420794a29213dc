/* SPDX-License-Identifier: MIT */
/* test_device_pairs.c - copies from one device to another, and their failures */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <quoit.h>
#include <quoit/stats.h>

#include "device.h"
#include "process.h"

TestSuite(device_pairs, .timeout = 60);

#define PART  (512u << 10) /* bytes that travel together (limits.md) */
#define LARGE (4u << 20)   /* bytes: more than a session's bridge can hold */

/* How large copies travel between devices. */
enum way { DIRECTLY, IN_PARTS, WAYS };

static struct device_room two_devices(enum way way)
{
	const char *options[] = {"--gpu=soft:2", "--log=error",
				 way == DIRECTLY ? "--gpu-peers" : "--gpu-peers=no", NULL};

	return room_open_with(options, 64);
}

static quoit_tensor vector_on(struct quoit_ring *q, unsigned device, unsigned dtype, uint32_t n)
{
	struct quoit_shape shape = {.dtype = (uint8_t)dtype, .dim = {1, 1, 1, n}};

	return quoit_create(q, &shape, QUOIT_CREATE_ON(device));
}

/* Make a pair of large vectors; the first one has numbers. */
static void make_large(struct device_room *r, quoit_tensor *ret_one, quoit_tensor *ret_two)
{
	*ret_one = vector_on(r->q, 1, QUOIT_F32, LARGE / 4);
	*ret_two = vector_on(r->q, 2, QUOIT_F32, LARGE / 4);
	cr_assert_eq(room_run(r->q, quoit_uniform(*ret_one, 1, 0), NULL), 0);
}

static void expect_equal(struct device_room *r, quoit_tensor a, quoit_tensor b)
{
	char *here = malloc(LARGE), *there = malloc(LARGE);

	cr_assert_eq(quoit_read(r->q, a, here, LARGE), 0);
	cr_assert_eq(quoit_read(r->q, b, there, LARGE), 0);
	cr_expect_eq(memcmp(here, there, LARGE), 0);
	free(here);
	free(there);
}

/* ---- bytes ---- */

struct size {
	uint32_t elements;
	uint8_t dtype, bytes; /* of the element */
};

static struct size sizes[] = {
	{1, QUOIT_F32, 4},
	{1, QUOIT_BF16, 2},
	{PART / 2 - 1, QUOIT_F16, 2},
	{PART / 4, QUOIT_F32, 4},
	{PART / 4 + 1, QUOIT_I32, 4},
	{PART / 8 * 4, QUOIT_F64, 8},
	{PART / 8 * 9 + 5, QUOIT_I64, 8},
	{PART / 4 * 2, QUOIT_F32, 4},
	{PART / 2 * 5 + 1, QUOIT_F16, 2},
	{0, QUOIT_F32, 4},
};

ParameterizedTestParameters(device_pairs, every_byte_arrives)
{
	return cr_make_param_array(struct size, sizes, sizeof sizes / sizeof sizes[0]);
}

static void expect_every_byte(const struct size *s, enum way way)
{
	struct device_room r = two_devices(way);
	size_t bytes = (size_t)s->elements * s->bytes;
	uint8_t *from = malloc(bytes + 1), *to = calloc(bytes + 1, 1);
	quoit_tensor one = vector_on(r.q, 1, s->dtype, s->elements);
	quoit_tensor two = vector_on(r.q, 2, s->dtype, s->elements);

	for (size_t i = 0; i < bytes; i++)
		from[i] = (uint8_t)(i * 2654435761u >> 11);
	cr_assert_eq(quoit_write(r.q, two, from, bytes), 0);
	cr_expect_eq(room_run(r.q, quoit_copy(one, two), NULL), 0);
	cr_assert_eq(quoit_read(r.q, one, to, bytes), 0);
	cr_expect_eq(memcmp(from, to, bytes), 0, "%u elements of %u bytes", s->elements, s->bytes);
	free(from);
	free(to);
	room_close(&r);
}

ParameterizedTest(struct size *s, device_pairs, every_byte_arrives)
{
	for (enum way way = DIRECTLY; way < WAYS; way++)
		expect_every_byte(s, way);
}

static void expect_direct(const struct device_room *r, uint64_t copies)
{
	cr_expect_eq(room_count(r, QUOIT_REACTOR_PEER_COPIES), copies);
}

Test(device_pairs, what_is_large_goes_directly)
{
	struct device_room r = two_devices(DIRECTLY);
	quoit_tensor one, two, few[2];

	make_large(&r, &one, &two);
	few[0] = vector_on(r.q, 1, QUOIT_F32, 2 * PART / 4 - 1);
	few[1] = vector_on(r.q, 2, QUOIT_F32, 2 * PART / 4 - 1);
	cr_expect_eq(room_run(r.q, quoit_copy(two, one), NULL), 0);
	cr_expect_eq(room_run(r.q, quoit_copy(few[1], few[0]), NULL), 0);
	cr_expect_eq(room_run(r.q, quoit_copy(one, two), NULL), 0);
	expect_direct(&r, 2);
	room_close(&r);
}

/* Parts of larger tensors. */
Test(device_pairs, a_large_part_goes_directly_where_it_lies)
{
	struct device_room r = two_devices(DIRECTLY);
	struct quoit_shape part = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, LARGE / 8}, .stride = {1, 1, 1, 1}};
	float *here = malloc(LARGE), *there = malloc(LARGE);
	quoit_tensor one, two, from, to;

	make_large(&r, &one, &two);
	quoit_push(r.q, quoit_fill(two, -1.0));
	from = quoit_view(r.q, one, &part, 100 * 4);
	to = quoit_view(r.q, two, &part, 7 * 4);
	cr_expect_eq(room_run(r.q, quoit_copy(to, from), NULL), 0);
	cr_assert_eq(quoit_read(r.q, one, here, LARGE), 0);
	cr_assert_eq(quoit_read(r.q, two, there, LARGE), 0);
	cr_expect_eq(memcmp(there + 7, here + 100, LARGE / 2), 0);
	cr_expect_eq(there[6], -1.0f);
	cr_expect_eq(there[7 + LARGE / 8], -1.0f);
	expect_direct(&r, 1);
	free(here);
	free(there);
	room_close(&r);
}

static void expect_shared(enum way way)
{
	struct device_room r = two_devices(way);
	quoit_tensor one[40], two[40];
	float got;

	for (int i = 0; i < 40; i++) {
		one[i] = vector_on(r.q, 1, QUOIT_F32, i % 4 ? 100 : PART / 2);
		two[i] = vector_on(r.q, 2, QUOIT_F32, i % 4 ? 100 : PART / 2);
		quoit_push(r.q, quoit_fill(one[i], i));
		quoit_push(r.q, quoit_copy(two[i], one[i]));
	}
	for (int i = 0; i < 40; i++) {
		quoit_tensor sum = vector_on(r.q, 2, QUOIT_F32, 1);

		quoit_push(r.q, quoit_amax(sum, two[i], QUOIT_AXIS_ALL));
		cr_assert_eq(quoit_read(r.q, sum, &got, sizeof got), 0);
		cr_expect_eq(got, (float)i);
		quoit_free(r.q, sum);
	}
	cr_expect_eq(quoit_count_failures(r.q, NULL), 0);
	room_close(&r);
}

Test(device_pairs, many_copies_share_the_way)
{
	for (enum way way = DIRECTLY; way < WAYS; way++)
		expect_shared(way);
}

/* Rows of a matrix are dense; its columns are not. */
Test(device_pairs, a_part_of_a_tensor_goes_where_it_lies_in_one_piece)
{
	struct device_room r = two_devices(DIRECTLY);
	struct quoit_shape rows = {
		.dtype = QUOIT_I32, .dim = {1, 1, 2, 5}, .stride = {10, 10, 5, 1}};
	struct quoit_shape columns = {
		.dtype = QUOIT_I32, .dim = {1, 1, 4, 2}, .stride = {20, 20, 5, 1}};
	quoit_tensor one, two, from, to;
	int32_t number[20], got[20];
	struct quoit_error error;

	quoit_use_device(r.q, 1);
	one = quoit_create_matrix(r.q, QUOIT_I32, 4, 5);
	quoit_use_device(r.q, 2);
	two = quoit_create_matrix(r.q, QUOIT_I32, 4, 5);
	for (int i = 0; i < 20; i++)
		number[i] = i;
	cr_assert_eq(quoit_write(r.q, one, number, sizeof number), 0);
	from = quoit_view(r.q, one, &rows, 5 * 4);
	to = quoit_view(r.q, two, &rows, 10 * 4);
	quoit_push(r.q, quoit_fill_int(two, -1));
	cr_expect_eq(room_run(r.q, quoit_copy(to, from), NULL), 0);
	cr_assert_eq(quoit_read(r.q, two, got, sizeof got), 0);
	for (int i = 0; i < 20; i++)
		cr_expect_eq(got[i], i < 10 ? -1 : i - 5, "%d at %d", got[i], i);
	from = quoit_view(r.q, one, &columns, 0);
	to = quoit_view(r.q, two, &columns, 0);
	cr_expect_eq(room_run(r.q, quoit_copy(to, from), &error), -ENOTSUP);
	cr_expect_eq(error.field, QUOIT_FIELD_STRIDE);
	room_close(&r);
}

/* Both buffers have old bytes of this session, which must not be seen. */
Test(device_pairs, what_was_never_written_is_zero_on_both_sides)
{
	struct device_room r = two_devices(DIRECTLY);
	struct quoit_shape part = {
		.dtype = QUOIT_F32, .dim = {1, 1, 1, 10}, .stride = {1, 1, 1, 1}};
	static float got[1000];

	for (unsigned to = 1; to <= 2; to++) {
		quoit_tensor old = vector_on(r.q, to, QUOIT_F32, 1000), fresh, view, from;

		quoit_push(r.q, quoit_fill(old, 5.0));
		quoit_free(r.q, old);
		old = vector_on(r.q, 3 - to, QUOIT_F32, 10);
		quoit_push(r.q, quoit_fill(old, 6.0));
		quoit_free(r.q, old);
		fresh = vector_on(r.q, to, QUOIT_F32, 1000);
		view = quoit_view(r.q, fresh, &part, 100 * 4);
		from = vector_on(r.q, 3 - to, QUOIT_F32, 10);
		cr_expect_eq(room_run(r.q, quoit_copy(view, from), NULL), 0);
		cr_assert_eq(quoit_read(r.q, fresh, got, sizeof got), 0);
		for (int i = 0; i < 1000; i++)
			cr_assert_eq(got[i], 0.0f, "%g at %d", got[i], i);
	}
	room_close(&r);
}

/* ---- order ---- */

static void expect_order(enum way way)
{
	struct device_room r = two_devices(way);
	quoit_tensor one = vector_on(r.q, 1, QUOIT_I64, PART / 4);
	quoit_tensor two = vector_on(r.q, 2, QUOIT_I64, PART / 4);
	static int64_t got[PART / 4];

	quoit_push(r.q, quoit_fill_int(one, 0));
	for (int i = 0; i < 50; i++) {
		quoit_push(r.q, quoit_copy(two, one));
		quoit_push(r.q, quoit_fill_int(one, -1)); /* after the copy has read it */
		quoit_push(r.q, quoit_add_int(two, two, 1));
		quoit_push(r.q, quoit_copy(one, two));
		quoit_push(r.q, quoit_mul_int(two, two, 3));
	}
	cr_assert_eq(quoit_read(r.q, one, got, sizeof got), 0);
	cr_expect_eq(quoit_count_failures(r.q, NULL), 0);
	cr_expect_eq(got[0], 50);
	cr_expect_eq(got[PART / 4 - 1], 50);
	room_close(&r);
}

Test(device_pairs, jobs_before_and_behind_a_copy_wait_for_it)
{
	for (enum way way = DIRECTLY; way < WAYS; way++)
		expect_order(way);
}

static void expect_one_stamp(enum way way)
{
	struct device_room r = two_devices(way);
	struct quoit_ring_params params = {.flags = QUOIT_RING_STAMPS};
	struct quoit_stamps t;
	quoit_tensor one, two;
	struct quoit_ring *q;
	quoit_job job;

	make_large(&r, &one, &two);
	cr_assert_eq(quoit_open_ring(r.s, &params, &q), 0);
	cr_assert_eq(quoit_start(q, quoit_copy(two, one), &job), 0);
	cr_assert_eq(quoit_wait_n(q, &job, 1, 1, 20000), 1);
	cr_assert(quoit_get_job_stamps(q, job, &t));
	cr_expect_gt(t.device_start, 0);
	cr_expect_lt(t.device_start, t.device_end + t.device_error);
	cr_expect_leq(t.start, t.device_start + t.device_error);
	cr_expect_leq(t.device_end, t.end + t.device_error);
	room_close(&r);
}

Test(device_pairs, a_copy_is_stamped_as_one_job)
{
	for (enum way way = DIRECTLY; way < WAYS; way++)
		expect_one_stamp(way);
}

static void expect_job_of_both(enum way way)
{
	struct device_room r = two_devices(way);
	struct quoit_device_desc before, after;
	quoit_tensor one, two;

	make_large(&r, &one, &two);
	for (unsigned device = 1; device <= 2; device++) {
		cr_assert_eq(quoit_query_device(r.s, device, &before), 0);
		cr_expect_eq(room_run(r.q, quoit_copy(two, one), NULL), 0);
		cr_assert_eq(quoit_query_device(r.s, device, &after), 0);
		cr_expect_eq(after.jobs - before.jobs, 1);
	}
	room_close(&r);
}

Test(device_pairs, a_copy_is_a_job_of_both_devices)
{
	for (enum way way = DIRECTLY; way < WAYS; way++)
		expect_job_of_both(way);
}

/* ---- failures ---- */

Test(device_pairs, poison_is_handed_on_and_written_over)
{
	struct device_room r = two_devices(DIRECTLY);
	const int32_t bad = 100;
	quoit_tensor x = vector_on(r.q, 1, QUOIT_F32, 10), index = vector_on(r.q, 1, QUOIT_I32, 1);
	quoit_tensor one = vector_on(r.q, 1, QUOIT_F32, 1), two = vector_on(r.q, 2, QUOIT_F32, 1);
	struct quoit_error error;
	float got;

	cr_assert_eq(quoit_write(r.q, index, &bad, sizeof bad), 0);
	quoit_push(r.q, quoit_fill(x, 1.0));
	quoit_push(r.q, quoit_gather(one, x, index, 3));
	cr_expect_eq(room_run(r.q, quoit_copy(two, one), &error), -QUOIT_EPOISON);
	cr_expect_eq(error.code, -ERANGE);
	cr_expect_eq(quoit_read(r.q, two, &got, sizeof got), -QUOIT_EPOISON);
	quoit_push(r.q, quoit_fill(one, 7.0));
	cr_expect_eq(room_run(r.q, quoit_copy(two, one), NULL), 0);
	cr_expect_eq(quoit_read(r.q, two, &got, sizeof got), 0);
	cr_expect_eq(got, 7.0f);
	room_close(&r);
}

/* One of the two executors is stopped in the middle of a copy. */
struct death {
	enum way way;
	unsigned stopped, killed;
};

static struct death deaths[] = {
	{DIRECTLY, 1, 1}, {DIRECTLY, 1, 2}, {DIRECTLY, 2, 1}, {DIRECTLY, 2, 2},
	{IN_PARTS, 1, 1}, {IN_PARTS, 1, 2}, {IN_PARTS, 2, 1}, {IN_PARTS, 2, 2},
};

ParameterizedTestParameters(device_pairs, a_copy_fails_when_either_side_dies)
{
	return cr_make_param_array(struct death, deaths, sizeof deaths / sizeof deaths[0]);
}

/* So many jobs of the session are with a backend, and quoitd shows it. */
static void await_running(const struct device_room *r, uint64_t jobs)
{
	struct quoit_info info;

	quoit_get_info(quoit_get_session(r->q), &info);
	for (unsigned ms = 0;
	     daemon_session_counter(&r->daemon, info.session, QUOIT_SESSION_RUNNING) != jobs;
	     ms++) {
		cr_assert_lt(ms, 20000);
		usleep(1000);
	}
}

ParameterizedTest(struct death *d, device_pairs, a_copy_fails_when_either_side_dies)
{
	struct device_room r = two_devices(d->way);
	pid_t stopped = room_executor_of(&r, d->stopped, 0);
	pid_t killed = room_executor_of(&r, d->killed, 0);
	quoit_tensor one, two, most = vector_on(r.q, 2, QUOIT_F32, 1);
	struct quoit_error error;
	quoit_job job;

	make_large(&r, &one, &two);
	cr_assert_eq(room_run(r.q, quoit_fill(two, 1.0), NULL), 0);
	await_running(&r, 0);
	process_stop(stopped);
	cr_assert_eq(quoit_start(r.q, quoit_copy(two, one), &job), 0);
	cr_assert_eq(quoit_flush(r.q), 0);
	await_running(&r, 1);
	kill(killed, SIGKILL);
	(void)room_executor_of(&r, d->killed, killed);
	kill(stopped, SIGCONT);
	cr_assert_eq(quoit_wait_n(r.q, &job, 1, 1, 20000), 1);
	cr_expect_eq(quoit_get_result(r.q, job), -QUOIT_EGPUFAULT, "%d",
		     quoit_get_result(r.q, job));
	cr_assert(quoit_get_job_error(r.q, job, &error));
	cr_expect_eq(error.field, QUOIT_FIELD_DEVICE);
	cr_expect_eq(error.value[0], d->killed);
	cr_expect_eq(room_run(r.q, quoit_amax(most, two, QUOIT_AXIS_ALL), NULL), -QUOIT_EPOISON);
	/* Both devices go on, with tensors that are written anew. */
	cr_expect_eq(room_run(r.q, quoit_uniform(one, 2, 0), NULL), 0);
	cr_expect_eq(room_run(r.q, quoit_copy(two, one), NULL), 0);
	expect_equal(&r, one, two);
	room_close(&r);
}

/* A thread that keeps the second device busy, with a ring of its own. */
struct bustle {
	struct quoit_ring *q;
	pthread_t thread;
	atomic_bool stop;
};

static void *bustle(void *arg)
{
	struct bustle *b = arg;
	quoit_tensor x = vector_on(b->q, 2, QUOIT_F32, 1000);

	while (!atomic_load(&b->stop)) {
		for (unsigned i = 0; i < 64; i++)
			(void)quoit_push(b->q, quoit_add_scalar(x, x, 1.0));
		(void)!quoit_window(b->q, 2, 1000);
	}
	return NULL;
}

/* The reading device must hear of the new process first, however busy it is. */
Test(device_pairs, what_is_read_is_the_new_process_memory)
{
	struct device_room r = two_devices(DIRECTLY);
	pid_t source = room_executor_of(&r, 1, 0), target = room_executor_of(&r, 2, 0);
	struct bustle b = {0};
	quoit_tensor one, two;
	quoit_job job;

	make_large(&r, &one, &two);
	cr_assert_eq(room_run(r.q, quoit_copy(two, one), NULL), 0);
	cr_assert_eq(quoit_open_ring(r.s, NULL, &b.q), 0);
	cr_assert_eq(pthread_create(&b.thread, NULL, bustle, &b), 0);
	usleep(20000);
	process_stop(target); /* while it is busy, and does not read its socket */
	kill(source, SIGKILL);
	(void)room_executor_of(&r, 1, source);
	cr_expect_eq(room_run(r.q, quoit_uniform(one, 2, 0), NULL), 0);
	cr_assert_eq(quoit_start(r.q, quoit_copy(two, one), &job), 0);
	cr_assert_eq(quoit_flush(r.q), 0);
	usleep(50000); /* quoitd sends the copy by then */
	kill(target, SIGCONT);
	cr_expect_eq(quoit_wait(r.q, job, 20000), 0);
	expect_equal(&r, one, two);
	atomic_store(&b.stop, true);
	pthread_join(b.thread, NULL);
	room_close(&r);
}

struct fault {
	char faults[28];
	enum way way;
	int code;
};

static struct fault faults[] = {
	{"copy:6:ENOMEM", IN_PARTS, -ENOMEM},
	{"copy:6:EGPUFAULT", IN_PARTS, -QUOIT_EGPUFAULT},
	{"host_register:1-:ENOMEM", IN_PARTS, 0}, /* goes through the executors' own buffers */
	{"copy:1:ENOMEM", DIRECTLY, -ENOMEM},
	{"copy:1:EGPUFAULT", DIRECTLY, -QUOIT_EGPUFAULT},
	{"memory_import:1:EGPUFAULT", DIRECTLY, -QUOIT_EGPUFAULT},
	/* These copies go in parts instead. */
	{"pool_export:1-:ENOTSUP", DIRECTLY, 0},
	{"pool_import:1-:EINVAL", DIRECTLY, 0},
	{"memory_export:1-:EINVAL", DIRECTLY, 0},
	{"memory_import:1-:ENOMEM", DIRECTLY, 0},
};

ParameterizedTestParameters(device_pairs, a_failed_part_fails_the_copy)
{
	return cr_make_param_array(struct fault, faults, sizeof faults / sizeof faults[0]);
}

ParameterizedTest(struct fault *f, device_pairs, a_failed_part_fails_the_copy)
{
	struct device_room r;
	static char got[LARGE];
	quoit_tensor one, two;
	int res;

	setenv("QUOIT_SOFT_FAULTS", f->faults, 1);
	r = two_devices(f->way);
	make_large(&r, &one, &two);
	res = room_run(r.q, quoit_copy(two, one), NULL);
	cr_expect_eq(res, f->code, "%s: %d", f->faults, res);
	if (!f->code)
		cr_expect_eq(room_count(&r, QUOIT_REACTOR_PEER_COPIES), 0);
	/* The other process may not have made the failing call yet. */
	(void)!quoit_read(r.q, one, got, sizeof got);
	for (int i = 0; i < 4 && res; i++) {
		(void)room_run(r.q, quoit_uniform(one, 2, 0), NULL);
		res = room_run(r.q, quoit_copy(two, one), NULL);
	}
	if (f->code != -QUOIT_EGPUFAULT) { /* every new process has these faults again */
		cr_expect_eq(res, 0);
		expect_equal(&r, one, two);
	}
	room_close(&r);
}

static void expect_late_alone(enum way way)
{
	struct device_room r = two_devices(way);
	pid_t target = room_executor_of(&r, 2, 0);
	quoit_tensor one, two;

	make_large(&r, &one, &two);
	process_stop(target);
	cr_expect_eq(room_run(r.q, quoit_with_deadline(quoit_copy(two, one), 50000), NULL), -ETIME);
	kill(target, SIGCONT);
	cr_expect_eq(room_run(r.q, quoit_copy(two, one), NULL), 0);
	expect_equal(&r, one, two);
	cr_expect_eq(room_executor_of(&r, 2, 0), target, "it was not ended for that");
	room_close(&r);
}

Test(device_pairs, a_late_copy_ends_alone)
{
	for (enum way way = DIRECTLY; way < WAYS; way++)
		expect_late_alone(way);
}

static void expect_leaving(enum way way)
{
	struct device_room r = two_devices(way);
	struct quoit_open_params p = {.socket = r.daemon.socket, .host_bytes = 64u << 20};
	quoit_tensor one, two;

	make_large(&r, &one, &two);
	for (int i = 0; i < 50; i++)
		quoit_push(r.q, i % 2 ? quoit_copy(one, two) : quoit_copy(two, one));
	cr_expect_eq(quoit_close(r.s, QUOIT_CLOSE_CANCEL), 0);
	cr_assert_eq(quoit_open(&p, &r.s), 0);
	cr_assert_eq(quoit_open_ring(r.s, NULL, &r.q), 0);
	make_large(&r, &one, &two);
	cr_expect_eq(room_run(r.q, quoit_copy(two, one), NULL), 0);
	expect_equal(&r, one, two);
	room_close(&r);
}

Test(device_pairs, a_session_leaves_in_the_middle_of_its_copies)
{
	for (enum way way = DIRECTLY; way < WAYS; way++)
		expect_leaving(way);
}
