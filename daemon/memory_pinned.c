/* SPDX-License-Identifier: MIT */
/* memory_pinned.c - pages for the pinned region, and its pieces moved together */
#include "memory_pinned.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "guard.h"
#include "log.h"
#include "reactor.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

static bool send(struct session *s, enum memory_op op, uint64_t offset)
{
	struct memory_message m = {.op = (uint8_t)op, .session = s, .offset = offset};

	if (!reactor_send_memory(s->reactor, &m))
		return false;
	s->requests++;
	return true;
}

void memory_pinned_fill(struct session *s)
{
	/* Without the thread the pages come when they are touched. */
	s->pinned_filled = !s->pinned_bytes || !send(s, MEMORY_FILL, 0);
}

static bool any_running(const struct session *s)
{
	for (uint32_t i = s->oldest; i != NIL; i = s->jobs[i].newer)
		if (s->jobs[i].state == JOB_RUNNING)
			return true;
	return false;
}

void memory_pinned_tidy(struct session *s)
{
	uint8_t *state = &s->memory.tidying;

	if (*state == TIDY_NONE)
		*state = TIDY_WAITS;
	if (*state == TIDY_WAITS && !any_running(s)) {
		pinned_tidy_begin(&s->pieces);
		*state = TIDY_READY;
	}
	if (*state == TIDY_READY && send(s, MEMORY_TIDY, 0))
		*state = TIDY_RUNS;
}

static bool fill_answer(struct session *s, const struct memory_message *m)
{
	if (m->result < 0) { /* as much as there is; its charge stays */
		log_client(s->uid, "session %llu: only %llu of %llu KiB of pinned memory: %s",
			   (unsigned long long)s->id, (unsigned long long)m->offset >> 10,
			   (unsigned long long)s->pinned_bytes >> 10, strerror(-m->result));
		s->pieces.bytes = m->offset;
	}
	s->pinned_filled = m->result || s->dead || !send(s, MEMORY_FILL, m->offset + m->bytes);
	return s->pinned_filled;
}

static bool tidy_answer(struct session *s, const struct memory_message *m)
{
	s->memory.tidying = m->result || s->dead ? TIDY_NONE : TIDY_READY;
	if (s->memory.tidying == TIDY_NONE)
		return true;
	memory_pinned_tidy(s);
	return false;
}

bool memory_pinned_answer(struct session *s, const struct memory_message *m)
{
	return m->op == MEMORY_FILL ? fill_answer(s, m) : tidy_answer(s, m);
}

/* ---- on the memory thread ---- */

static void say_unlocked(const struct session *s, int err)
{
	log_client(s->uid, "session %llu: its %llu KiB of pinned memory are not all locked: %s",
		   (unsigned long long)s->id, (unsigned long long)s->pinned_bytes >> 10,
		   strerror(err));
}

int memory_pinned_fill_part(struct session *s, uint64_t offset, uint64_t most)
{
	uint64_t n = s->pinned_bytes - offset < most ? s->pinned_bytes - offset : most;

	/* First, since only this takes huge pages; what it leaves out is for the first touch. */
	(void)madvise(s->pinned + offset, n, MADV_POPULATE_WRITE);
	while (fallocate(s->pinned_fd, 0, (off_t)offset, (off_t)n) < 0)
		if (errno != EINTR)
			return errno == ENOSPC ? -ENOMEM : -errno;
	if (!s->pinned_unlocked && mlock(s->pinned + offset, n) < 0) {
		s->pinned_unlocked = true;
		say_unlocked(s, errno);
	}
	return offset + n == s->pinned_bytes;
}

int memory_pinned_tidy_part(struct session *s, uint64_t most)
{
	struct session *outer = guard_enter(s);
	bool done = pinned_tidy(&s->pieces, s->pinned, s->buffers, most);

	guard_leave(outer);
	return done;
}
