/* SPDX-License-Identifier: MIT */
/* guard.c - SIGBUS: a zero page over the hole, a mark on the session */
#include "guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

_Thread_local struct session *guard_session;

static bool within(const void *map, uint64_t bytes, uintptr_t at)
{
	return map && at >= (uintptr_t)map && at - (uintptr_t)map < bytes;
}

static bool is_session_memory(const struct session *s, uintptr_t at)
{
	if (within(s->arena, s->arena_bytes, at) || within(s->pinned, s->pinned_bytes, at) ||
	    within(s->region.base, s->region.bytes, at))
		return true;
	for (unsigned i = 0; i < s->ring_count; i++) {
		const struct ring *r = s->rings[i];

		if (r && within(r->client, r->layout.client_bytes, at))
			return true;
	}
	return false;
}

/* Only async-signal-safe calls: mmap is a bare system call. */
static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;
	uintptr_t page = at & ~(uintptr_t)(PAGE_BYTES - 1);
	struct session *s = guard_session;
	int saved = errno;

	(void)context;
	if (!s || !is_session_memory(s, at) ||
	    mmap((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
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
