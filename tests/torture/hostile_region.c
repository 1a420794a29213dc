/* SPDX-License-Identifier: MIT */
/*
 * hostile_region.c - clients that misuse the shared region, which is their own memory, and what
 * they acquire in it: cases 100, 105 and 106 of the threat model as far as one session goes
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scenes.h"
#include "stage.h"

#define PAGE    4096u
#define N       (3u * PAGE / 4) /* elements of a tensor */
#define TENSORS 10u
#define PAGES   (3u * TENSORS + 2) /* of the region */
#define LATE_US 50000u             /* a deadline */

static const struct raw_wish wish = {.host_bytes = 4 << 20,
				     .arena_bytes = 1 << 20,
				     .shared_bytes = PAGES * PAGE,
				     .max_tensors = 64,
				     .sq_entries = 256,
				     .cq_entries = 512};

static uint32_t handle(uint32_t index, uint32_t generation)
{
	return generation << QUOIT_HANDLE_INDEX_BITS | index;
}

static struct quoit_sqe create(uint32_t tensor, uint32_t n)
{
	struct quoit_sqe sqe = raw_vector(tensor, n, RAW_ARENA_NOT);

	sqe.arg |= QUOIT_CREATE_SHARED;
	return sqe;
}

static struct quoit_sqe fill(uint32_t tensor, double value)
{
	struct quoit_sqe sqe = raw_job(QUOIT_OP_FILL, tensor, 0, 0);

	memcpy(&sqe.scalar[0], &value, sizeof value);
	return sqe;
}

static struct quoit_sqe free_of(uint32_t tensor)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_FREE, .base = {tensor}};
}

/* The access ends that the acquire with this SQ index was granted. */
static struct quoit_sqe release(uint32_t sq_index)
{
	return (struct quoit_sqe){.opcode = QUOIT_OP_RELEASE, .scalar = {sq_index}};
}

/* Acquire; *ret_index is for the release, *ret_at the first element.  Its result. */
static int acquire(struct raw_client *c, uint8_t opcode, uint32_t tensor, uint32_t *ret_index,
		   float **ret_at)
{
	struct quoit_sqe sqe = raw_job(opcode, tensor, 0, 0);
	struct quoit_cqe cqe = {0};
	int err;

	*ret_index = c->sq.next;
	if (!raw_submit(c, &sqe))
		return -EAGAIN;
	err = raw_reap(c, 60000, &cqe, NULL);
	if (!err && cqe.res >= 0)
		*ret_at = (float *)(void *)(c->arena + QUOIT_CQE_PLACE(&cqe));
	return err ? err : cqe.res < 0 ? cqe.res : 0;
}

static bool open_with_tensors(struct stage *s, struct raw_client *c)
{
	if (!stage_open(s, c, &wish))
		return false;
	for (uint32_t i = 1; i <= TENSORS; i++)
		if (!CHECK(s, !raw_run(c, create(handle(i, 1), N))) ||
		    !CHECK(s, !raw_run(c, fill(handle(i, 1), i))))
			return false;
	return true;
}

/*
 * Jobs, acquires, frees and new tensors, so that pieces are moved together.  Stops at the end of
 * the session; returns the last result.
 */
static int work(struct stage *s, struct raw_client *c, uint32_t rounds)
{
	uint32_t generation[TENSORS + 1], index;
	float *at;
	int res = 0;

	for (uint32_t i = 0; i <= TENSORS; i++)
		generation[i] = 1;
	for (uint32_t i = 0; i < rounds && res >= 0; i++) {
		uint32_t k = 1 + stage_random(s, TENSORS), t = handle(k, generation[k]);

		switch (stage_random(s, 4)) {
		case 0:
			res = raw_run(c, fill(t, i));
			break;
		case 1:
			res = raw_run(c, raw_job(QUOIT_OP_ADD, t, t, t));
			break;
		case 2:
			res = acquire(c, QUOIT_OP_ACQUIRE_WRITE, t, &index, &at);
			if (res >= 0)
				res = raw_run(c, release(index));
			break;
		default:
			res = raw_run(c, free_of(t));
			t = handle(k, ++generation[k]);
			if (res >= 0) /* of other sizes, so that what is free lies scattered */
				res = raw_run(c, create(t, N - stage_random(s, 3) * PAGE / 4));
			if (res >= 0)
				res = raw_run(c, fill(t, i));
		}
	}
	return res;
}

/* ---- pages that go or change while quoitd uses them ---- */

struct vandal {
	const struct raw_client *client;
	bool punches;
	_Atomic bool stop;
};

static void *spoil(void *arg)
{
	struct vandal *v = arg;
	uint8_t *at = v->client->arena;

	for (uint32_t i = 0; !v->stop; i++) {
		if (v->punches)
			(void)madvise(at + i % PAGES * PAGE, PAGE, MADV_REMOVE);
		else
			memset(at, (int)i, PAGES * PAGE);
		usleep(100);
	}
	return NULL;
}

static void spoil_during_work(struct stage *s, bool punches)
{
	for (uint32_t i = 0; i < stage_times(s, 5, 200) && !s->bad; i++) {
		struct raw_client c;
		struct vandal v = {.client = &c, .punches = punches};
		pthread_t thread;
		int res;

		if (!open_with_tensors(s, &c))
			return;
		pthread_create(&thread, NULL, spoil, &v);
		res = work(s, &c, 300);
		v.stop = true;
		pthread_join(thread, NULL);
		CHECK(s, res >= 0 || (punches && (res == -EFAULT || res == -ECONNRESET)));
		res = (int)stage_leave(s, &c);
		CHECK(s, res == QUOIT_DAEMON_CLIENTS_LEFT ||
				 (punches && res == QUOIT_DAEMON_KILL_MEM_VANISHED));
	}
}

static void pages_that_are_punched_end_their_session(struct stage *s)
{
	spoil_during_work(s, true);
}

static void bytes_that_are_overwritten_are_its_own(struct stage *s)
{
	spoil_during_work(s, false);
}

static void sealed_region_loses_no_page(struct stage *s)
{
	struct raw_client c;

	if (!open_with_tensors(s, &c))
		return;
	CHECK(s, madvise(c.arena, PAGES * PAGE, MADV_REMOVE) < 0);
	CHECK(s, fallocate(c.arena_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE) < 0);
	CHECK(s, ftruncate(c.arena_fd, 0) < 0 && ftruncate(c.arena_fd, 1 << 30) < 0);
	CHECK(s, work(s, &c, stage_times(s, 300, 20000)) >= 0);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void protection_of_the_programs_mapping_is_its_own(struct stage *s)
{
	struct raw_client c;

	if (!open_with_tensors(s, &c))
		return;
	CHECK(s, !mprotect(c.arena, PAGES * PAGE, PROT_NONE));
	CHECK(s, work(s, &c, stage_times(s, 300, 20000)) >= 0);
	CHECK(s, !mprotect(c.arena, PAGES * PAGE, PROT_READ | PROT_WRITE));
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* ---- accesses ---- */

/* By a pointer that was acquired for reading, and by one that was released. */
static void writing_without_the_right_changes_its_own_data(struct stage *s)
{
	struct raw_client c;
	uint32_t index;
	float *at = NULL;

	if (!open_with_tensors(s, &c))
		return;
	for (uint32_t i = 0; i < stage_times(s, 100, 10000) && !s->bad; i++) {
		uint32_t t = handle(1 + i % TENSORS, 1);

		if (!CHECK(s, !acquire(&c, QUOIT_OP_ACQUIRE_READ, t, &index, &at)))
			break;
		at[0] = 1e9f;
		CHECK(s, raw_run(&c, release(index)) >= 0);
		CHECK(s, !raw_run(&c, fill(t, 7)));
		CHECK(s, at[0] == 7.0f && at[N - 1] == 7.0f);
		at[N - 1] = -1e9f;
		CHECK(s, !raw_run(&c, raw_job(QUOIT_OP_NOP, t, 0, 0)));
	}
	CHECK(s, work(s, &c, 100) >= 0);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

static void many_acquires_leave_nothing_behind(struct stage *s)
{
	const struct quoit_session_stats *stats;
	struct raw_client c;
	uint32_t index;
	float *at;

	if (!open_with_tensors(s, &c))
		return;
	for (uint32_t i = 0; i < stage_times(s, 2000, 100000) && !s->bad; i++) {
		uint8_t opcode = i & 1 ? QUOIT_OP_ACQUIRE_READ : QUOIT_OP_ACQUIRE_WRITE;

		if (CHECK(s, !acquire(&c, opcode, handle(1 + i % TENSORS, 1), &index, &at))) {
			CHECK(s, raw_run(&c, release(index)) >= 0);
			CHECK(s, raw_run(&c, release(index)) == -ENOENT); /* twice */
		}
	}
	stats = stage_stats(s, &c);
	CHECK(s, stats != NULL);
	for (int ms = 0; stats && stats->value[QUOIT_SESSION_HELD] && ms < 5000; ms++)
		usleep(1000);
	CHECK(s, stats && !stats->value[QUOIT_SESSION_HELD]);
	if (stats)
		munmap((void *)(uintptr_t)stats, sizeof *stats);
	CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
}

/* It waits for itself, until the deadlines of the jobs; then it leaves, or dies. */
static void program_that_holds_all_and_waits_for_a_job_behind(struct stage *s)
{
	for (uint32_t i = 0; i < stage_times(s, 4, 200) && !s->bad; i++) {
		struct quoit_sqe behind;
		struct raw_client c;
		uint32_t index;
		float *at;

		if (!open_with_tensors(s, &c))
			return;
		for (uint32_t k = 1; k <= TENSORS; k++)
			CHECK(s, !acquire(&c, QUOIT_OP_ACQUIRE_WRITE, handle(k, 1), &index, &at));
		/* Too few bytes are left, and none can come: only holds are there. */
		CHECK(s, !raw_run(&c, create(handle(TENSORS + 1, 1), N)));
		CHECK(s, raw_run(&c, fill(handle(TENSORS + 1, 1), 1)) == -ENOMEM);
		behind = fill(handle(1 + i % TENSORS, 1), 1);
		behind.deadline = LATE_US;
		CHECK(s, raw_run(&c, behind) == -ETIME);
		if (i & 1)
			stage_die(s, &c);
		else
			CHECK(s, stage_leave(s, &c) == QUOIT_DAEMON_CLIENTS_LEFT);
	}
}

static const struct stage_case sealed[] = {
	STAGE_CASE(sealed_region_loses_no_page),
	STAGE_CASE(bytes_that_are_overwritten_are_its_own),
	STAGE_CASE(protection_of_the_programs_mapping_is_its_own),
	STAGE_CASE(writing_without_the_right_changes_its_own_data),
	STAGE_CASE(many_acquires_leave_nothing_behind),
	STAGE_CASE(program_that_holds_all_and_waits_for_a_job_behind),
};

static const struct stage_case open_to_holes[] = {
	STAGE_CASE(pages_that_are_punched_end_their_session),
};

int main(int argc, char **argv)
{
	const struct stage_scene plain = {0},
				 lax = {.options = scene_lax, .prepare = scene_without_seals};
	struct stage stage;

	if (!stage_init(&stage, argc, argv))
		return 2;
	stage_play(&stage, &plain, sealed, sizeof sealed / sizeof sealed[0]);
	stage_play(&stage, &lax, open_to_holes, 1);
	return stage_end(&stage);
}
