/* SPDX-License-Identifier: MIT */
/* sigbus_guard.c - the SIGBUS handler: maps zero pages over the hole and marks the session */
#include "sigbus_guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct session *sigbus_guard_session, *sigbus_guard_source;
static _Thread_local struct ring *const *thread_rings;
static _Thread_local const uint32_t *thread_ring_count;

void sigbus_guard_rings(struct ring *const *rings, const uint32_t *count)
{
	thread_rings = rings;
	thread_ring_count = count;
}

/* What a fault has hit, and the range over which zero pages are mapped. */
struct hit {
	struct session *session; /* NULL: it hit no session's memory */
	uintptr_t start;
	size_t bytes;
};

static bool within(const void *map, uint64_t bytes, uintptr_t at)
{
	return map && at >= (uintptr_t)map && at - (uintptr_t)map < bytes;
}

/*
 * A client can take away every other page of its memory, and the kernel limits mappings (65,530).
 * So its memory is replaced in at most so many pieces; the session is over, and may lose any part
 * of it.
 */
#define PIECES 64

static struct hit in_shared(struct session *s, const struct shared *m, uintptr_t at)
{
	size_t piece = (m->bytes / PIECES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	size_t offset = piece ? (at - (uintptr_t)m->base) / piece * piece : 0;

	return (struct hit){s, (uintptr_t)m->base + offset,
			    piece < m->bytes - offset ? piece : m->bytes - offset};
}

static bool is_our_memory(const struct session *s, uintptr_t at)
{
	return within(s->pinned, s->pinned_bytes, at) ||
	       within(s->region.base, s->region.bytes, at);
}

/* Find the memory that this thread may touch at this address. */
static struct hit find(uintptr_t at)
{
	struct session *s = sigbus_guard_session, *from = sigbus_guard_source;

	if (from && within(from->arena_memory.base, from->arena_memory.bytes, at))
		return in_shared(from, &from->arena_memory, at);
	if (s && within(s->arena_memory.base, s->arena_memory.bytes, at))
		return in_shared(s, &s->arena_memory, at);
	if (s && is_our_memory(s, at))
		return (struct hit){s, at & ~(uintptr_t)(PAGE_BYTES - 1), PAGE_BYTES};
	for (uint32_t i = 0; thread_rings && i < *thread_ring_count; i++) {
		const struct ring *r = thread_rings[i];

		if (within(r->memory.base, r->memory.bytes, at))
			return in_shared(r->session, &r->memory, at);
	}
	return (struct hit){0};
}

/*
 * By the bare system call, which is safe in a handler.  Two workers may map zero pages over the
 * same hole; a race detector that knows mmap would report that as a race.
 */
static bool map_zero_pages(const struct hit *hit)
{
	return syscall(SYS_mmap, hit->start, hit->bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != -1;
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	struct hit hit = find((uintptr_t)info->si_addr);
	int saved = errno;

	(void)context;
	if (!hit.session || !map_zero_pages(&hit)) {
		(void)signal(signal_number, SIG_DFL); /* the access repeats and ends us */
		return;
	}
	__atomic_store_n(&hit.session->vanished, true, __ATOMIC_RELAXED);
	errno = saved;
}

int sigbus_guard_init(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, NULL) < 0 ? -errno : 0;
}
