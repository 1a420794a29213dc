/* SPDX-License-Identifier: MIT */
/* test_deps.c - which job waits for which: bytes, links, AFTER_ALL, and limits. */
#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>

#include "core_case.h"
#include "job/deps.h"

#define SIZE 100 /* bytes of the buffer; elements do not matter here */

static struct session *session;
static struct ring *ring;
static uint32_t buffer;
static uint32_t now_ready[64];
static unsigned ready_count;

static void open_session(void)
{
	session = core_session(256);
	ring = core_ring(session);
	core_create(session, 1, QUOIT_I32, 1, 1, 1, SIZE / 4);
	buffer = core_view_of(session, 1)->buffer;
}

static void close_session(void)
{
	core_session_free(session);
}

TestSuite(deps, .init = open_session, .fini = close_session);

/* A job's use of the buffer: 'r' or 'w' [lo, hi). */
struct use {
	char how;
	uint64_t lo, hi;
};

static struct job *make_job(const struct use *uses, unsigned count)
{
	struct job *job = tables_take_job(session);

	cr_assert_not_null(job);
	memset(job, 0, sizeof *job);
	job->state = JOB_WAITING;
	job->executor = NO_EXECUTOR;
	job->edges = NIL;
	for (unsigned i = 0; i < count; i++) {
		job->tensors |= (uint8_t)(1u << i);
		job->access[i] = (struct access){.buffer = buffer,
						 .write = uses[i].how == 'w',
						 .lo = uses[i].lo,
						 .hi = uses[i].hi};
	}
	return job;
}

static struct job *add_two(struct use a, struct use b)
{
	const struct use uses[] = {a, b};
	struct job *job = make_job(uses, 2);

	cr_assert_eq(deps_add(session, job, NIL), 0);
	return job;
}

static struct job *add(char how, uint64_t lo, uint64_t hi)
{
	const struct use use = {how, lo, hi};
	struct job *job = make_job(&use, 1);

	cr_assert_eq(deps_add(session, job, NIL), 0);
	return job;
}

static void on_ready(struct session *s, struct job *job)
{
	now_ready[ready_count++] = job_index(s, job);
}

static void end(struct job *job)
{
	deps_remove(session, job, 0, on_ready);
	tables_give_job(session, job);
}

/* Ending `before` makes exactly `after` ready. */
static void expect_frees(struct job *before, const struct job *after)
{
	ready_count = 0;
	end(before);
	cr_expect_eq(ready_count, 1);
	cr_expect_eq(now_ready[0], job_index(session, after));
}

/* ---- two jobs ---- */

struct pair {
	struct use first, second;
	unsigned waits;
};

Test(deps, the_second_job_waits_where_bytes_conflict)
{
	static const struct pair pairs[] = {
		{{'w', 0, 8}, {'r', 0, 8}, 1},  /* read after write */
		{{'r', 0, 8}, {'w', 0, 8}, 1},  /* write after read */
		{{'w', 0, 8}, {'w', 0, 8}, 1},  /* write after write */
		{{'r', 0, 8}, {'r', 0, 8}, 0},  /* two readers are independent */
		{{'w', 0, 8}, {'r', 8, 16}, 0}, /* side by side */
		{{'w', 8, 16}, {'r', 0, 8}, 0},
		{{'w', 0, 8}, {'w', 8, 16}, 0},
		{{'w', 0, 9}, {'r', 8, 16}, 1}, /* one byte */
		{{'w', 8, 16}, {'r', 0, 9}, 1},
		{{'w', 0, SIZE}, {'r', 50, 51}, 1}, /* one inside the other */
		{{'w', 50, 51}, {'r', 0, SIZE}, 1},
		{{'r', 50, 51}, {'w', 0, SIZE}, 1},
		{{'r', 0, SIZE}, {'w', 50, 51}, 1},
		{{'w', 0, 8}, {'r', 8, 8}, 0}, /* no bytes */
		{{'w', 0, 8}, {'w', 0, 0}, 0},
	};

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		const struct pair *p = &pairs[i];
		struct job *first = add(p->first.how, p->first.lo, p->first.hi);
		struct job *second = add(p->second.how, p->second.lo, p->second.hi);

		cr_expect_eq(first->waits, 0, "row %zu", i);
		cr_expect_eq(second->waits, p->waits, "row %zu waits for %u", i, second->waits);
		ready_count = 0;
		end(first);
		cr_expect_eq(ready_count, p->waits, "row %zu", i);
		end(second);
	}
	cr_expect_eq(session->edges_open, 0);
}

/* A session with many open jobs pays for walking through their list. */
Test(deps, each_look_at_an_open_job_is_counted)
{
	struct job *job[4], *behind;

	for (unsigned i = 0; i < 4; i++)
		job[i] = add('w', 40 + 4 * i, 44 + 4 * i);
	core_view(session, 2, 1, 0, 10, 1); /* [0, 40): touches none of them */
	session->looks = 0;
	cr_expect_not(deps_conflict(session, core_view_of(session, 2), false));
	cr_expect_eq(session->looks, 4);
	behind = add('r', 0, 40);
	cr_expect_eq(session->looks, 8);
	end(behind);
	for (unsigned i = 0; i < 4; i++)
		end(job[i]);
}

Test(deps, a_view_conflicts_as_a_job_on_it_would)
{
	struct job *writer = add('w', 40, 60);

	core_view(session, 2, 1, 0, 10, 1); /* [0, 40) */
	core_view(session, 3, 1, 10, 5, 1); /* [40, 60) */
	cr_expect_not(deps_conflict(session, core_view_of(session, 2), true));
	cr_expect(deps_conflict(session, core_view_of(session, 3), false));
	end(writer);
	cr_expect_not(deps_conflict(session, core_view_of(session, 3), true));
}

/* ---- more jobs ---- */

Test(deps, a_write_waits_for_every_reader_before_it)
{
	struct job *reader[5], *writer;

	for (unsigned i = 0; i < 5; i++)
		reader[i] = add('r', 10 * i, 10 * i + 20);
	writer = add('w', 0, SIZE);
	cr_expect_eq(writer->waits, 5);
	ready_count = 0;
	for (unsigned i = 0; i < 4; i++)
		end(reader[i]);
	cr_expect_eq(ready_count, 0);
	expect_frees(reader[4], writer);
}

Test(deps, a_covering_write_hides_what_is_before_it)
{
	struct job *old = add('w', 20, 40), *reader = add('r', 30, 50);
	struct job *cover = add('w', 0, SIZE), *late = add('r', 25, 45);

	cr_expect_eq(cover->waits, 2);
	cr_expect_eq(late->waits, 1, "it waits for the covering write alone");
	end(old);
	expect_frees(reader, cover);
	expect_frees(cover, late);
}

Test(deps, what_a_write_covers_in_part_stays_visible)
{
	struct job *old = add('w', 20, 40), *part = add('w', 30, 50), *late = add('r', 20, 25);

	cr_expect_eq(part->waits, 1);
	cr_expect_eq(late->waits, 1);
	ready_count = 0;
	end(old);
	cr_expect_eq(ready_count, 2, "the reader waits for the old write, not for the new");
	end(part);
}

Test(deps, a_hidden_access_can_end_before_and_after_the_write_that_hides_it)
{
	struct job *a = add('r', 0, 8), *b = add('r', 0, 8), *cover = add('w', 0, 8);

	end(a);
	expect_frees(b, cover);
	end(cover);
	cr_expect_eq(session->buffers[buffer].readers, NIL);
	cr_expect_eq(session->buffers[buffer].writers, NIL);
}

Test(deps, a_job_in_place_does_not_wait_for_itself)
{
	struct job *job = add_two((struct use){'w', 0, 8}, (struct use){'r', 0, 8});
	struct job *next = add_two((struct use){'w', 0, 8}, (struct use){'r', 0, 8});

	cr_expect_eq(job->waits, 0);
	cr_expect_gt(next->waits, 0);
	expect_frees(job, next);
	end(next);
	cr_expect_eq(session->edges_open, 0);
}

Test(deps, a_chain_goes_one_by_one)
{
	struct job *chain[10];

	for (unsigned i = 0; i < 10; i++)
		chain[i] = add('w', 0, 8);
	for (unsigned i = 0; i < 9; i++)
		expect_frees(chain[i], chain[i + 1]);
	end(chain[9]);
}

/* ---- order on a device ---- */

static struct job *add_on(uint8_t executor, char how, uint64_t lo, uint64_t hi, struct job *before)
{
	const struct use use = {how, lo, hi};
	struct job *job = make_job(&use, 1);

	job->executor = executor;
	cr_assert_eq(deps_add(session, job, before ? job_index(session, before) : NIL), 0);
	return job;
}

/* Note that a device has the job, in this slot. */
static void send(struct job *job, uint32_t slot)
{
	job->work = slot;
	job_become(session, job, JOB_RUNNING);
	ready_count = 0;
	deps_in_stream(session, job, on_ready);
}

Test(deps, a_job_may_follow_into_its_device_once_all_before_it_are_there)
{
	struct job *a = add_on(1, 'r', 0, 8, NULL), *b = add_on(1, 'r', 0, 8, NULL);
	struct job *c = add_on(1, 'w', 0, 8, NULL);

	cr_expect_not(job_may_start(c));
	send(a, 7);
	cr_expect_eq(ready_count, 0, "it waits for b");
	send(b, 9);
	cr_expect(ready_count == 1 && now_ready[0] == job_index(session, c));
	cr_expect(c->waits == 2 && c->waits_in_stream == 2);
	cr_expect(c->after[0] + c->after[1] == 16 && c->after[0] != c->after[1]);
	end(a);
	cr_expect(c->waits == 1 && c->waits_in_stream == 1 && c->after[0] == 9);
	end(b);
	cr_expect(c->waits == 0 && c->waits_in_stream == 0);
	end(c);
}

Test(deps, a_job_that_comes_later_follows_at_once)
{
	struct job *a = add_on(1, 'w', 0, 8, NULL), *b;

	send(a, 3);
	b = add_on(1, 'r', 0, 8, a); /* by a link, too: one job to wait for */
	cr_expect(b->waits == 1 && b->waits_in_stream == 1 && b->after[0] == 3);
	cr_expect(job_may_start(b));
	end(a);
	end(b);
}

/* The same for a device's direct ring. */
static void send_directly(struct job *job)
{
	job->work = QUOIT_EXEC_ENTRIES;
	job_become(session, job, JOB_RUNNING);
	ready_count = 0;
	deps_in_direct(session, job, on_ready);
}

Test(deps, a_small_job_may_follow_into_the_direct_ring_of_its_device)
{
	struct job *a = add_on(1, 'w', 0, 8, NULL), *small = add_on(1, 'r', 0, 8, NULL);
	struct job *large = add_on(1, 'r', 0, 8, NULL), *there = add_on(2, 'r', 0, 8, NULL);
	struct job *later;

	small->direct = true;
	send_directly(a);
	cr_expect(ready_count == 1 && now_ready[0] == job_index(session, small));
	cr_expect(small->waits_in_direct_ring == 1 && !small->waits_in_stream);
	cr_expect(!job_may_start(large) && !job_may_start(there) && !there->waits_in_direct_ring);
	later = add_on(1, 'r', 0, 8, NULL);
	later->direct = true;
	cr_expect(job_may_start(later));
	small->failed = -ECANCELED;
	cr_expect(!job_may_start(small), "who has failed ends behind what it waits for");
	end(a);
	cr_expect(!small->waits_in_direct_ring && !later->waits_in_direct_ring);
	cr_expect(job_may_start(small) && job_may_start(large) && job_may_start(there));
	end(small);
	end(large);
	end(there);
	end(later);
}

Test(deps, a_job_behind_a_stream_and_the_direct_ring_waits_for_one_of_them)
{
	struct job *a = add_on(1, 'r', 0, 8, NULL), *b = add_on(1, 'r', 0, 8, NULL);
	struct job *c = add_on(1, 'w', 0, 8, NULL);

	c->direct = true;
	send(a, 7);
	send_directly(b);
	cr_expect(c->waits == 2 && c->waits_in_stream == 1 && c->waits_in_direct_ring == 1 &&
		  !job_may_start(c));
	end(b);
	cr_expect(c->waits == 1 && c->waits_in_stream == 1 && !c->waits_in_direct_ring &&
		  job_may_start(c));
	end(a);
	end(c);
}

Test(deps, a_job_on_another_device_or_on_cores_waits_for_the_end)
{
	struct job *a = add_on(1, 'w', 0, 8, NULL);
	struct job *there = add_on(2, 'r', 0, 8, NULL);
	struct job *here = add_on(NO_EXECUTOR, 'r', 0, 8, NULL);

	send(a, 0);
	cr_expect_eq(ready_count, 0);
	cr_expect(!there->waits_in_stream && !here->waits_in_stream);
	ready_count = 0;
	end(a);
	cr_expect_eq(ready_count, 2);
	end(there);
	end(here);
}

/* Slots are numbers of one device. */
Test(deps, the_end_of_a_job_in_the_same_slot_of_another_device_is_no_others)
{
	struct job *other = add_on(2, 'w', 40, 48, NULL), *a = add_on(1, 'w', 0, 8, NULL);
	struct job *b;

	send(other, 5);
	send(a, 5);
	b = add_on(1, 'r', 0, 8, other);
	cr_expect(b->waits == 2 && b->waits_in_stream == 1 && !job_may_start(b));
	expect_frees(other, b);
	cr_expect(b->waits == 1 && b->waits_in_stream == 1 && b->after[0] == 5);
	end(a);
	cr_expect_eq(b->waits_in_stream, 0);
	end(b);
}

Test(deps, a_job_behind_more_than_a_request_can_name_waits_for_the_others)
{
	struct job *reader[QUOIT_EXEC_AFTER + 2], *writer;

	for (unsigned i = 0; i < QUOIT_EXEC_AFTER + 2; i++) {
		reader[i] = add_on(1, 'r', 0, 8, NULL);
		send(reader[i], i);
	}
	writer = add_on(1, 'w', 0, 8, NULL);
	cr_expect(writer->waits == QUOIT_EXEC_AFTER + 2 &&
		  writer->waits_in_stream == QUOIT_EXEC_AFTER);
	for (unsigned i = 0; i < 2; i++) { /* it is not said which of them have no name there */
		cr_expect_not(job_may_start(writer));
		end(reader[writer->after[0] == QUOIT_EXEC_AFTER + 1 ? i
								    : QUOIT_EXEC_AFTER + 1 - i]);
	}
	for (unsigned i = 0; i < QUOIT_EXEC_AFTER + 2; i++)
		if (reader[i]->state != JOB_FREE)
			end(reader[i]);
	cr_expect(writer->waits == 0 && writer->waits_in_stream == 0);
	end(writer);
}

/* A failed job has no work on the device, and ends here when all jobs before it have ended. */
Test(deps, a_job_that_has_failed_follows_nobody)
{
	struct job *a = add_on(1, 'w', 0, 8, NULL), *b = add_on(1, 'w', 0, 8, NULL);

	b->failed = -ECANCELED;
	send(a, 0);
	cr_expect_eq(ready_count, 0);
	cr_expect_not(job_may_start(b));
	expect_frees(a, b);
	end(b);
}

/* ---- links ---- */

Test(deps, a_link_is_one_more_job_to_wait_for)
{
	struct job *before = add('r', 0, 8), *after;
	const struct use use = {'r', 0, 8};

	after = make_job(&use, 1);
	cr_assert_eq(deps_add(session, after, job_index(session, before)), 0);
	cr_expect_eq(after->waits, 1);
	expect_frees(before, after);
}

Test(deps, a_job_is_found_by_its_sq_index_until_it_is_removed)
{
	static const uint32_t indices[] = {0, 16, 32, UINT32_MAX, 15};
	struct job *job[5];

	for (unsigned i = 0; i < 5; i++) {
		job[i] = make_job(NULL, 0);
		job[i]->sq_index = indices[i];
		deps_ring_insert(ring, job[i]);
	}
	for (unsigned i = 0; i < 5; i++)
		cr_expect_eq(deps_ring_find(ring, indices[i]), job[i]);
	cr_expect_null(deps_ring_find(ring, 48));
	deps_ring_remove(ring, job[1]);
	cr_expect_null(deps_ring_find(ring, 16));
	cr_expect_eq(deps_ring_find(ring, 0), job[0]);
	cr_expect_eq(deps_ring_find(ring, 32), job[2]);
}

/* ---- limits ---- */

/* deps_add refuses, and everything stays as before. */
static void expect_refused(struct job *job)
{
	uint32_t writers = session->buffers[buffer].writers;
	uint32_t readers = session->buffers[buffer].readers;
	uint32_t edges = session->edges_open;

	cr_expect_eq(deps_add(session, job, NIL), -EAGAIN);
	cr_expect_eq(job->waits, 0);
	cr_expect_eq(session->edges_open, edges);
	cr_expect_eq(session->buffers[buffer].writers, writers);
	cr_expect_eq(session->buffers[buffer].readers, readers);
}

Test(deps, a_job_that_waits_for_too_many_is_not_taken_and_nothing_has_changed)
{
	const struct use all = {'w', 0, SIZE};
	struct job *reader[DEPS_MAX_EDGES + 1], *writer;

	for (unsigned i = 0; i <= DEPS_MAX_EDGES; i++)
		reader[i] = add('r', 0, 8);
	writer = make_job(&all, 1);
	expect_refused(writer);
	end(reader[0]);
	cr_expect_eq(deps_add(session, writer, NIL), 0);
	cr_expect_eq(writer->waits, DEPS_MAX_EDGES);
}

Test(deps, without_edges_left_a_job_is_not_taken_and_nothing_has_changed)
{
	const struct use use = {'r', 0, 8};
	struct job *writer = add('w', 0, 8), *reader;

	session->edges_room = 1;
	reader = add('r', 0, 8);
	expect_refused(make_job(&use, 1));
	expect_frees(writer, reader);
	cr_expect_eq(session->edges_open, 0);
}

/* ---- AFTER_ALL ---- */

static struct job *join(void)
{
	struct job *job = make_job(NULL, 0);

	deps_segment_join(ring, job);
	return job;
}

static struct job *after_all(void)
{
	struct job *job = make_job(NULL, 0);

	deps_segment_end(ring, job);
	return job;
}

Test(deps, an_after_all_job_waits_for_its_segment_alone)
{
	struct job *a = join(), *b = join(), *first = after_all(), *c = join();

	cr_expect_eq(first->waits, 1);
	cr_expect_null(deps_segment_next(ring));
	deps_segment_leave(ring, b);
	cr_expect_null(deps_segment_next(ring));
	deps_segment_leave(ring, a);
	cr_expect_eq(deps_segment_next(ring), first);
	cr_expect_null(deps_segment_next(ring));
	deps_segment_leave(ring, c);
	cr_expect_null(deps_segment_next(ring));
}

Test(deps, after_all_jobs_end_in_order_whatever_ends_first)
{
	struct job *a = join(), *first = after_all(), *b = join(), *second = after_all();

	deps_segment_leave(ring, b);
	cr_expect_null(deps_segment_next(ring), "the older segment is still open");
	deps_segment_leave(ring, a);
	cr_expect_eq(deps_segment_next(ring), first);
	cr_expect_null(deps_segment_next(ring), "the first AFTER_ALL has not ended");
	deps_segment_leave(ring, first);
	cr_expect_eq(deps_segment_next(ring), second);
}

Test(deps, after_all_of_nothing_is_ready)
{
	struct job *job = after_all();

	cr_expect_eq(deps_segment_next(ring), job);
}

Test(deps, segments_end_before_they_would_meet_themselves)
{
	struct job *held = join(), *job;
	unsigned n = 0;

	while (!deps_segments_full(ring)) {
		after_all();
		n++;
	}
	cr_expect_geq(n, ring->layout.cq_entries);
	deps_segment_leave(ring, held);
	while ((job = deps_segment_next(ring)) != NULL) {
		deps_segment_leave(ring, job);
		n--;
	}
	cr_expect_eq(n, 0);
	cr_expect_not(deps_segments_full(ring));
}

/* ---- what the program holds ---- */

/* Adds a job that was fetched before the buffer had bytes; it uses the view of this tensor. */
static struct job *add_early(uint32_t tensor)
{
	const struct use all = {'w', 0, SIZE};
	struct job *job = make_job(&all, 1);

	job->view[0] = session_view(session, CORE_HANDLE(tensor));
	job->writes = 1;
	cr_assert_eq(deps_add(session, job, NIL), 0);
	return job;
}

static struct job *add_held(uint32_t tensor)
{
	struct job *job = add_early(tensor);

	job->sqe.opcode = QUOIT_OP_ACQUIRE_WRITE;
	return job;
}

static void open_halves(void)
{
	core_view(session, 2, 1, 0, 12, 1);
	core_view(session, 3, 1, 12, 12, 1);
}

Test(deps, job_on_other_bytes_than_the_program_holds_goes_on_though_fetched_before_they_were_there)
{
	struct job *held, *other, *later;

	open_halves();
	held = add_held(2);
	other = add_early(3);
	ready_count = 0;
	deps_hold(session, held, 1, 0, on_ready);
	cr_expect_eq(ready_count, 1);
	cr_expect_eq(now_ready[0], job_index(session, other));
	later = add('r', 0, 4);
	end(other);
	cr_expect_eq(later->waits, 1, "for what the program holds, which had been hidden");
	expect_frees(held, later);
	end(later);
	cr_expect_eq(session->edges_open, 0);
}

Test(deps, job_goes_on_waiting_for_the_program_if_others_do_so_by_it)
{
	struct job *held, *other, *last;

	open_halves();
	held = add_held(2);
	other = add_early(3);
	last = add_early(2);
	ready_count = 0;
	deps_hold(session, held, 1, 0, on_ready);
	cr_expect_eq(ready_count, 0);
	expect_frees(held, other);
	expect_frees(other, last);
	end(last);
	cr_expect_eq(session->edges_open, 0);
}

Test(deps, job_on_the_bytes_that_the_program_holds_waits)
{
	struct job *held, *other;

	open_halves();
	held = add_held(2);
	other = add_early(2);
	ready_count = 0;
	deps_hold(session, held, 1, 0, on_ready);
	cr_expect_eq(ready_count, 0);
	expect_frees(held, other);
	end(other);
}
