/* SPDX-License-Identifier: MIT */
/* hostile_memory.c - clients that damage memory, remove it, or search it */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quoit/trace.h>

#include "ctl_client.h"
#include "scenes.h"
#include "stage.h"

#define MIB         (UINT64_C(1) << 20)
#define PATIENCE_MS 30000
#define MOST_LATE   400u
#define SIDE        512u /* a GEMM of this side is cut into tiles */
#define MATRIX      (SIDE * SIDE)

static const struct raw_wish wish = {.host_bytes = 16 * MIB,
				     .arena_bytes = 4 * MIB,
				     .max_tensors = 64,
				     .sq_entries = 64,
				     .cq_entries = 128};

static float *arena_at(const struct raw_client *c, uint64_t offset)
{
	return (float *)(void *)(c->arena + offset);
}

static void punch_arena(const struct raw_client *c)
{
	(void)madvise(c->arena, c->info.arena_bytes, MADV_REMOVE);
}

static struct quoit_sqe square(uint32_t handle, uint64_t offset)
{
	struct quoit_sqe sqe = raw_vector(handle, SIDE, offset);

	sqe.dim[2] = SIDE;
	return sqe;
}

static struct quoit_sqe with_scalars(struct quoit_sqe sqe, double a, double b)
{
	memcpy(&sqe.scalar[0], &a, sizeof a);
	memcpy(&sqe.scalar[1], &b, sizeof b);
	return sqe;
}

/* Is a tensor in quoitd's memory zero?  Uses one element of the arena to find out. */
static bool is_zero(struct raw_client *c, uint32_t handle)
{
	struct quoit_sqe sum = raw_job(QUOIT_OP_SQNORM, 60, handle, 0);
	bool good;

	sum.arg = QUOIT_AXIS_ALL;
	good = !raw_run(c, raw_vector(60, 1, 0)) && !raw_run(c, sum) && *arena_at(c, 0) == 0;
	return !raw_run(c, raw_job(QUOIT_OP_FREE, 60, 0, 0)) && good;
}

/* ---- holes in the arena ---- */

/* Make matrices 1 to 3 in the arena, and 4 in quoitd's memory. */
static bool make_squares(struct raw_client *c)
{
	bool good = true;

	for (uint32_t i = 0; i < 3; i++)
		good &= !raw_run(c, square(i + 1, i * MIB));
	return good && !raw_run(c, square(4, RAW_ARENA_NOT));
}

static bool is_refused(int result, int error)
{
	return result < 0 && errno == error;
}

/* Memory that both sides see cannot be removed. */
static void nothing_can_be_punched(struct stage *s)
{
	const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	struct raw_client c;

	if (!stage_open(s, &c, &wish) || !CHECK(s, make_squares(&c)))
		return;
	CHECK(s, !raw_run(&c, with_scalars(raw_job(QUOIT_OP_FILL, 1, 0, 0), 7, 0)));
	CHECK(s, is_refused(madvise(c.arena, c.info.arena_bytes, MADV_REMOVE), EPERM));
	CHECK(s, is_refused(madvise(c.pages, quoit_ring_bytes(&c.layout), MADV_REMOVE), EPERM));
	CHECK(s, is_refused(fallocate(c.arena_fd, how, 0, (off_t)c.info.arena_bytes), EPERM));
	CHECK(s, is_refused(fallocate(c.ring_fd, how, 0, 4096), EPERM));
	CHECK(s, *arena_at(&c, 0) == 7);
	CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_COPY, 2, 1, 0)));
	CHECK(s, *arena_at(&c, MIB) == 7);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- operations on a descriptor ---- */

static void descriptors_are_no_handle_on_quoitd(struct stage *s)
{
	struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};
	struct raw_client c;

	if (!stage_open(s, &c, &wish))
		return;
	const int fds[] = {c.arena_fd, c.ring_fd};

	for (unsigned i = 0; i < 2; i++) {
		CHECK(s, is_refused(ftruncate(fds[i], 0), EPERM));
		CHECK(s, is_refused(ftruncate(fds[i], 1 << 30), EPERM));
		CHECK(s, is_refused(fcntl(fds[i], F_ADD_SEALS, F_SEAL_WRITE), EPERM));
		CHECK(s, is_refused((int)pwrite(fds[i], "x", 1, 0), EPERM));
		CHECK(s, mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fds[i], 0) == MAP_FAILED);
		(void)fchmod(fds[i], 0);
		(void)fcntl(fds[i], F_SETLEASE, F_WRLCK);
		(void)flock(fds[i], LOCK_EX);
		(void)fcntl(fds[i], F_SETFL, O_APPEND | O_NONBLOCK);
		CHECK(s, !raw_run(&c, nop));
	}
	CHECK(s, !raw_run(&c, raw_vector(1, 1000, 0)));
	CHECK(s, !raw_run(&c, with_scalars(raw_job(QUOIT_OP_FILL, 1, 0, 0), 3, 0)));
	CHECK(s, *arena_at(&c, 0) == 3);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- freed while in use ---- */

static void tensor_freed_with_its_job_in_flight(struct stage *s)
{
	const struct raw_wish one_at_a_time = {.host_bytes = 6 * MIB,
					       .arena_bytes = 64u << 10,
					       .max_tensors = 64,
					       .sq_entries = 64};
	const struct quoit_sqe noise = raw_job(QUOIT_OP_NORMAL, 1, 0, 0);
	const struct quoit_sqe create = raw_vector(1, MIB, RAW_ARENA_NOT);
	const struct quoit_sqe end = raw_job(QUOIT_OP_FREE, 1, 0, 0);
	struct raw_client c;

	if (!stage_open(s, &c, &one_at_a_time))
		return;
	for (unsigned n = 0; n < stage_times(s, 20, 500) && !s->bad; n++) {
		struct quoit_cqe cqe;

		CHECK(s, raw_submit(&c, &create) && raw_submit(&c, &noise) && raw_submit(&c, &end));
		CHECK(s, raw_submit(&c, &create));
		for (unsigned i = 0; i < 4; i++)
			CHECK(s, !raw_reap(&c, PATIENCE_MS, &cqe, NULL) && !cqe.res);
		CHECK(s, is_zero(&c, 1));
		CHECK(s, !raw_run(&c, end));
	}
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* Running jobs end or are abandoned; only then the user gets the bytes back. */
static void client_dies_with_jobs_in_flight(struct stage *s)
{
	for (unsigned n = 0; n < stage_times(s, 20, 1000) && !s->bad; n++) {
		uint64_t leased = stage_count(s, QUOIT_DAEMON_HOST_LEASED);
		struct quoit_sqe job = raw_job(QUOIT_OP_GEMM, 3, 1, 2);
		struct raw_client c;

		if (!stage_open(s, &c, &wish) || !CHECK(s, make_squares(&c)))
			return;
		for (unsigned i = 0; i < 8; i++)
			CHECK(s, raw_submit(&c, &job));
		usleep(stage_random(s, 3000));
		stage_die(s, &c);
		for (int ms = 0; ms < PATIENCE_MS; ms++) {
			if (stage_count(s, QUOIT_DAEMON_HOST_LEASED) == leased)
				break;
			usleep(1000);
		}
		CHECK(s, stage_count(s, QUOIT_DAEMON_HOST_LEASED) == leased);
	}
}

/* ---- other users' bytes ---- */

/* Write to all memory that a session can have, then read all of a fresh tensor. */
static void bytes_used_again_are_zero(struct stage *s)
{
	struct quoit_sqe fill = with_scalars(raw_job(QUOIT_OP_FILL, 1, 0, 0), 1234, 0);
	const uint32_t most = (uint32_t)(2 * MIB); /* elements: 8 MiB */

	for (unsigned n = 0; n < stage_times(s, 4, 60) && !s->bad; n++) {
		struct raw_client c;

		if (!stage_open(s, &c, &wish))
			return;
		for (uint64_t i = 0; i < c.info.arena_bytes; i++)
			if (c.arena[i] && !CHECK(s, !c.arena[i]))
				break;
		for (unsigned i = 0; i < 3; i++) {
			CHECK(s, !raw_run(&c, raw_vector(1, most >> i, RAW_ARENA_NOT)));
			CHECK(s, is_zero(&c, 1));
			CHECK(s, !raw_run(&c, fill));
			CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_FREE, 1, 0, 0)));
		}
		memset(c.arena, 0x55, c.info.arena_bytes);
		CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

static bool all_zero(const void *from, size_t size)
{
	const uint8_t *p = from;

	while (size && !*p)
		p++, size--;
	return !size;
}

static void check_reply(struct stage *s, const struct quoit_ctl *m, size_t body)
{
	size_t used = strnlen(m->text, sizeof m->text);

	CHECK(s, all_zero(m->bytes + body, sizeof m->bytes - body));
	CHECK(s, all_zero(m->text + used, sizeof m->text - used));
	CHECK(s, !m->flags);
}

/* quoitd's messages and CQEs contain no byte that it did not set. */
static void nothing_leaks_through_padding(struct stage *s)
{
	struct quoit_ctl ring = {.type = QUOIT_CTL_RING_OPEN, .ring_open = {7, 0, 0, 1}};
	struct quoit_ctl cancel = {.type = QUOIT_CTL_CANCEL, .job = {99, 0}};
	struct raw_wish stamped = wish;
	struct quoit_sqe bad = {.opcode = 255, .user_data = 17};
	const uint8_t *page;
	struct raw_client c;
	unsigned count;

	stamped.flags = QUOIT_RING_STAMPS;
	if (!stage_open(s, &c, &stamped))
		return;
	page = (const uint8_t *)c.daemon;
	CHECK(s, all_zero(page + sizeof *c.daemon, c.layout.daemon_bytes - sizeof *c.daemon));
	CHECK(s, raw_call(&c, &ring, NULL, 0, &count) == -EINVAL);
	check_reply(s, &ring, 0);
	CHECK(s, raw_call(&c, &cancel, NULL, 0, &count) == -EINVAL);
	check_reply(s, &cancel, 0);
	CHECK(s, raw_run(&c, bad) == -EINVAL);
	CHECK(s, c.errors[0].user_data == 17 && c.errors[0].cause == 17 && !c.errors[0].ring);
	CHECK(s, !c.stamps[0].device_start && !c.stamps[0].device_end && !c.stamps[0].device_error);
	CHECK(s, all_zero(&c.cqes[1], sizeof c.cqes[1] * (c.layout.cq_entries - 1)));
	CHECK(s, all_zero(&c.errors[1], sizeof c.errors[1] * (c.layout.cq_entries - 1)));
	CHECK(s, all_zero(&c.stamps[1], sizeof c.stamps[1] * (c.layout.cq_entries - 1)));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- memory that vanishes: a test without the seal that prevents it ---- */

/* Jobs that are short (in the reactor) and long (in the workers). */
static void arena_vanishes_under_a_job(struct stage *s)
{
	static const uint32_t sizes[] = {1000, MIB};

	for (unsigned i = 0; i < 2; i++) {
		struct quoit_sqe fill = raw_job(QUOIT_OP_FILL, 1, 0, 0);
		struct raw_client c;
		int res;

		if (!stage_open(s, &c, &wish))
			return;
		CHECK(s, !raw_run(&c, raw_vector(1, sizes[i], 0)));
		punch_arena(&c);
		res = raw_run(&c, fill);
		/* The session may end while a long job still runs. */
		CHECK(s, res == -EFAULT || (res == -ECONNRESET && sizes[i] == MIB));
		stage_await_end(s, &c, QUOIT_DAEMON_KILL_MEM_VANISHED);
	}
}

static void ring_vanishes(struct stage *s)
{
	struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};

	for (unsigned jobs = 0; jobs < 8; jobs++) {
		struct raw_client c;

		if (!stage_open(s, &c, &wish))
			return;
		for (unsigned i = 0; i < jobs; i++)
			CHECK(s, !raw_run(&c, nop));
		usleep(stage_random(s, 1000));
		CHECK(s, !madvise(c.pages, c.layout.client_bytes, MADV_REMOVE));
		raw_ring_bell(&c);
		stage_await_end(s, &c, QUOIT_DAEMON_KILL_MEM_VANISHED);
	}
}

/* The pages with clients' notes: quoitd looks there even if no bell is rung. */
static void ring_vanishes_while_it_is_recorded(struct stage *s)
{
	struct raw_client c, recorder;

	for (unsigned i = 0; i < stage_times(s, 4, 40) && !s->bad; i++) {
		if (!stage_open(s, &c, &wish) || !ctl_record(s, &recorder, QUOIT_TRACE_LEAST))
			return;
		raw_submit_nops(&c, i);
		CHECK(s, raw_reap_good(&c, i));
		CHECK(s, !madvise(c.pages + (c.layout.events & ~4095u), 4096, MADV_REMOVE));
		stage_await_end(s, &c, QUOIT_DAEMON_KILL_MEM_VANISHED);
		ctl_leave(s, &recorder);
	}
}

/*
 * Publish jobs and NOPs whose session's memory may be gone, until CLOSE is answered; at most as
 * many as end in time.
 */
static void publish_until_closed(struct stage *s, struct raw_client *c, const struct quoit_sqe *job)
{
	struct pollfd answered = {.fd = c->socket, .events = POLLIN};
	const struct quoit_sqe nop = {.opcode = QUOIT_OP_NOP};
	uint32_t head = raw_cq_tail(c);

	for (unsigned i = 0; i < MOST_LATE && poll(&answered, 1, 0) == 0; i++) {
		if (stage_random(s, 8) == 0)
			usleep(stage_random(s, 500));
		if (raw_sq_head(c) + 32 > c->sq.next)
			(void)raw_submit(c, i & 1 ? job : &nop);
		if (raw_cq_tail(c) != head)
			raw_set_cq_head(c, head = raw_cq_tail(c));
	}
}

static void jobs_that_come_after_close(struct stage *s)
{
	const struct raw_wish large = {.host_bytes = 96 * MIB,
				       .arena_bytes = 64u << 10,
				       .max_tensors = 64,
				       .sq_entries = 64};
	const struct quoit_sqe fill = with_scalars(raw_job(QUOIT_OP_FILL, 1, 0, 0), 3, 0);
	const struct quoit_sqe late = with_scalars(raw_job(QUOIT_OP_FILL, 2, 0, 0), 4, 0);
	struct quoit_ctl m = ctl_request(QUOIT_CTL_CLOSE), answer;
	struct raw_client c;

	for (unsigned i = 0; i < stage_times(s, 20, 100) && !s->bad; i++) {
		if (!stage_open(s, &c, &large))
			return;
		CHECK(s, !raw_run(&c, raw_vector(1, 16 * MIB, RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&c, raw_vector(2, 4096, RAW_ARENA_NOT)));
		CHECK(s, !raw_run(&c, fill) && !raw_run(&c, late));
		CHECK(s, !ctl_put(c.socket, &m, sizeof m, NULL, 0));
		usleep(stage_random(s, 3000));
		publish_until_closed(s, &c, &late);
		CHECK(s, !ctl_get(c.socket, &answer) && answer.type == QUOIT_CTL_CLOSE);
		stage_expect(s, QUOIT_DAEMON_CLIENTS_LEFT, 1);
		raw_close(&c);
	}
}

static const struct stage_case ordinary[] = {
	{"nothing can be punched", nothing_can_be_punched},
	{"descriptors are no handle on quoitd", descriptors_are_no_handle_on_quoitd},
	{"tensor freed with its job in flight", tensor_freed_with_its_job_in_flight},
	{"client dies with jobs in flight", client_dies_with_jobs_in_flight},
	{"bytes used again are zero", bytes_used_again_are_zero},
	{"nothing leaks through padding", nothing_leaks_through_padding},
	{"jobs that come after CLOSE", jobs_that_come_after_close},
};
static const struct stage_case vanishing[] = {
	{"arena vanishes under a job", arena_vanishes_under_a_job},
	{"ring vanishes", ring_vanishes},
	{"ring vanishes while it is recorded", ring_vanishes_while_it_is_recorded},
};
#define COUNT(cases) (sizeof cases / sizeof cases[0])

int main(int argc, char **argv)
{
	const struct stage_scene plain = {0};
	const struct stage_scene unsealed = {.options = scene_lax, .prepare = scene_without_seals};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &plain, ordinary, COUNT(ordinary));
	stage_play(&stage, &unsealed, vanishing, COUNT(vanishing));
	return stage_end(&stage);
}
