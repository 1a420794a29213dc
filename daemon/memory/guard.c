/* SPDX-License-Identifier: MIT */
/* guard.c - SIGBUS: a zero page over the hole, a mark on the session */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct session *guard_session;
static _Thread_local struct ring *const *thread_rings;
static _Thread_local const uint32_t *thread_ring_count;

void guard_rings(struct ring *const *rings, const uint32_t *count)
{
	thread_rings = rings;
	thread_ring_count = count;
}

static bool within(const void *map, uint64_t bytes, uintptr_t at)
{
	return map && at >= (uintptr_t)map && at - (uintptr_t)map < bytes;
}

static bool is_session_memory(const struct session *s, uintptr_t at)
{
	return within(s->arena, s->arena_bytes, at) || within(s->pinned, s->pinned_bytes, at) ||
	       within(s->region.base, s->region.bytes, at);
}

/* Whose memory is it that this thread may touch?  NULL: nobody's. */
static struct session *find_session(uintptr_t at)
{
	struct session *s = guard_session;

	if (s && is_session_memory(s, at))
		return s;
	for (uint32_t i = 0; thread_rings && i < *thread_ring_count; i++) {
		const struct ring *r = thread_rings[i];

		if (within(r->client, r->layout.client_bytes, at))
			return r->session;
	}
	return NULL;
}

/*
 * By the bare system call: it is safe in a handler, and two workers may put their zero page
 * over the same hole, which a race detector that knows mmap would call a race.
 */
static bool map_zero_page(uintptr_t page)
{
	return syscall(SYS_mmap, page, (size_t)PAGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != -1;
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	uintptr_t page = at & ~(uintptr_t)(PAGE_BYTES - 1);
	struct session *s = find_session(at);
	int saved = errno;

	(void)context;
	if (!s || !map_zero_page(page)) {
		(void)signal(signal_number, SIG_DFL); /* the access is repeated and ends us */
		return;
	}
	__atomic_store_n(&s->vanished, true, __ATOMIC_RELAXED);
	errno = saved;
}

int guard_init(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, NULL) < 0 ? -errno : 0;
}
