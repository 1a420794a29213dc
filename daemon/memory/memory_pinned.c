/* SPDX-License-Identifier: MIT */
/* memory_pinned.c - gives the pinned region pages, and moves its pieces together */
#include "memory_pinned.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "io_buffers.h"
#include "machine/features.h"
#include "session/owner.h"
#include "sigbus_guard.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

static bool send(struct session *s, struct memory_message m)
{
	m.session = s;
	if (!reactor_send_memory(s->reactor, &m))
		return false;
	s->requests++;
	return true;
}

/* Once locking or registering a part was refused, later parts are not tried. */
static bool fill_from(struct session *s, uint64_t offset)
{
	return send(s, (struct memory_message){.op = MEMORY_FILL,
					       .offset = offset,
					       .lock = s->pinned_locked == offset,
					       .enrol = s->pinned_buffer != IO_NO_BUFFER &&
							s->pinned_registered == offset});
}

void memory_pinned_fill(struct session *s)
{
	struct io_buffers *buffers = s->reactor->io_buffers;

	s->pinned_buffer = IO_NO_BUFFER;
	if (s->pinned_bytes && buffers)
		s->pinned_buffer = io_buffers_take(buffers, s->pinned_bytes);
	/* without the thread, pages come when they are touched */
	s->pinned_filled = !s->pinned_bytes || !fill_from(s, 0);
}

void memory_pinned_forget(struct session *s)
{
	if (s->pinned_buffer != IO_NO_BUFFER)
		io_buffers_give(s->reactor->io_buffers, s->pinned_buffer, s->pinned_bytes);
	s->pinned_buffer = IO_NO_BUFFER;
}

/* What waits at a lock or for a message, perhaps for ever, has no address. */
static bool has_address(const struct job *job)
{
	return job->state == JOB_RUNNING && !job->orders_only &&
	       (!job->is_message || job->collects);
}

static bool any_has_address(const struct session *s)
{
	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer)
		if (has_address(&s->jobs[i]))
			return true;
	return false;
}

void memory_pinned_tidy(struct session *s)
{
	uint8_t *state = &s->memory.tidying;

	if (*state == TIDY_NONE)
		*state = TIDY_WAITS;
	if (*state == TIDY_WAITS && !any_has_address(s)) {
		for (unsigned i = FIXED_PINNED; i < FIXED_REGIONS; i++)
			pinned_tidy_begin(&s->pieces[i]);
		*state = TIDY_READY;
	}
	if (*state == TIDY_READY && send(s, (struct memory_message){.op = MEMORY_TIDY}))
		*state = TIDY_RUNS;
}

static bool fill_answer(struct session *s, const struct memory_message *m)
{
	if (m->result < 0) { /* use what there is; the charge stays */
		log_session(s, "session %llu: got only %llu of %llu KiB of pinned memory: %s",
			    (unsigned long long)s->id, (unsigned long long)m->offset >> 10,
			    (unsigned long long)s->pinned_bytes >> 10, strerror(-m->result));
		s->pieces[FIXED_PINNED].bytes = m->offset;
	}
	s->pinned_locked += m->lock ? m->bytes : 0;
	s->pinned_registered += m->enrol ? m->bytes : 0;
	s->pinned_filled = m->result || s->dead || !fill_from(s, m->offset + m->bytes);
	return s->pinned_filled;
}

static bool tidy_answer(struct session *s, const struct memory_message *m)
{
	s->memory.tidying = m->result || s->dead ? TIDY_NONE : TIDY_READY;
	if (s->memory.tidying == TIDY_NONE) {
		if (s->memory.head != NIL)
			s->memory.tidied_for = s->jobs[s->memory.head].order;
		return true;
	}
	memory_pinned_tidy(s);
	return false;
}

bool memory_pinned_answer(struct session *s, const struct memory_message *m)
{
	return m->op == MEMORY_FILL ? fill_answer(s, m) : tidy_answer(s, m);
}

/* ---- on the memory thread ---- */

/* Locking and registering count against the same limit, so the same advice helps. */
static void say_refused(const struct session *s, const char *what, uint64_t bytes, int err)
{
	log_session(
		s,
		"session %llu: %llu of its %llu KiB of pinned memory are %s: %s; " FEATURES_MORE_MEMLOCK,
		(unsigned long long)s->id, (unsigned long long)bytes >> 10,
		(unsigned long long)s->pinned_bytes >> 10, what, strerror(-err));
}

static bool lock_part(const struct session *s, uint64_t offset, uint64_t bytes)
{
	int err = mlock(s->pinned + offset, bytes) < 0 ? -errno : 0;

	if (err < 0)
		say_refused(s, "locked", offset, err);
	return !err;
}

static bool register_part(const struct session *s, uint64_t offset, uint64_t bytes)
{
	uint32_t number = s->pinned_buffer + (uint32_t)(offset / IO_BUFFER_BYTES);
	int err = io_buffers_register(s->reactor->io_buffers, number, s->pinned + offset, bytes);

	if (err < 0)
		say_refused(s, "registered with io_uring", offset, err);
	return !err;
}

int memory_pinned_fill_part(struct memory_message *m, struct memory_huge *huge)
{
	const struct session *s = m->session;
	uint64_t left = s->pinned_bytes - m->offset;
	bool lock = m->lock, enrol = m->enrol;

	m->bytes = left < MEMORY_PART_BYTES ? left : MEMORY_PART_BYTES;
	m->lock = m->enrol = false;
	memory_pages_take_huge(huge, s->pinned, m->offset, m->bytes);
	while (fallocate(s->pinned_fd, 0, (off_t)m->offset, (off_t)m->bytes) < 0)
		if (errno != EINTR)
			return errno == ENOSPC ? -ENOMEM : -errno;
	m->lock = lock && lock_part(s, m->offset, m->bytes);
	m->enrol = enrol && register_part(s, m->offset, m->bytes);
	return m->bytes == left;
}

static uint64_t size_of(void *arg, uint32_t buffer)
{
	return ((const struct buffer *)arg)[buffer].size;
}

static void has_moved(void *arg, uint32_t buffer, uint64_t offset)
{
	((struct buffer *)arg)[buffer].offset = offset;
}

static bool stays(void *arg, uint32_t buffer)
{
	return ((const struct buffer *)arg)[buffer].holds;
}

int memory_pinned_tidy_part(struct session *s)
{
	const struct pinned_owners owners = {
		.size = size_of, .stays = stays, .moved = has_moved, .arg = s->buffers};
	uint8_t *const base[FIXED_REGIONS] = {
		[FIXED_PINNED] = s->pinned, [FIXED_SHARED] = s->arena};
	struct session *outer = sigbus_guard_enter(s);
	bool done = true;

	for (unsigned i = FIXED_PINNED; done && i < FIXED_REGIONS; i++)
		if (s->memory.tidy_regions & 1u << i)
			done = pinned_tidy(&s->pieces[i], base[i], &owners, MEMORY_PART_BYTES);

	sigbus_guard_leave(outer);
	return done;
}

void memory_pinned_withdraw(struct session *s)
{
	for (uint64_t at = 0; at < s->pinned_registered; at += IO_BUFFER_BYTES)
		io_buffers_unregister(s->reactor->io_buffers,
				      s->pinned_buffer + (uint32_t)(at / IO_BUFFER_BYTES));
}
