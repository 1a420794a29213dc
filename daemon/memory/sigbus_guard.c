/* SPDX-License-Identifier: MIT */
/* sigbus_guard.c - the SIGBUS handler: maps zero pages over the hole and marks its owner */
#include "sigbus_guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "session/tensor_bits.h"

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
	/* Whose memory it is: a session's or a tensor's.  Both NULL: no owner is known. */
	struct session *session;
	struct named_tensor *tensor;
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
 * of it.  The same holds for a tensor with a name.
 */
#define PIECES 64

static struct hit in_piece(uint8_t *base, uint64_t bytes, uintptr_t at)
{
	size_t piece = (bytes / PIECES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	size_t offset = piece ? (at - (uintptr_t)base) / piece * piece : 0;

	return (struct hit){.start = (uintptr_t)base + offset,
			    .bytes = piece < bytes - offset ? piece : bytes - offset};
}

static struct hit in_shared(struct session *s, const struct shared *m, uintptr_t at)
{
	struct hit hit = in_piece(m->base, m->bytes, at);

	hit.session = s;
	return hit;
}

/*
 * A worker may be here while the session's reactor changes another entry.  An entry with this
 * address does not change, since a job of this thread uses it.  Of one that does, `base` was NULL in
 * between, and so is not the same before and after.
 */
static struct hit in_named(const struct session *s, uintptr_t at)
{
	for (unsigned i = 0; i < QUOIT_MAX_SERVICES; i++) {
		const struct named_range *r = &s->named_range[i];
		uint8_t *base = __atomic_load_n(&s->named[i], __ATOMIC_ACQUIRE);
		uint64_t bytes = __atomic_load_n(&r->bytes, __ATOMIC_ACQUIRE);
		struct named_tensor *of = __atomic_load_n(&r->of, __ATOMIC_ACQUIRE);

		if (within(base, bytes, at) &&
		    base == __atomic_load_n(&s->named[i], __ATOMIC_RELAXED)) {
			struct hit hit = in_piece(base, bytes, at);

			hit.tensor = of;
			return hit;
		}
	}
	return (struct hit){0};
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
		return (struct hit){.session = s,
				    .start = at & ~(uintptr_t)(PAGE_BYTES - 1),
				    .bytes = PAGE_BYTES};
	for (uint32_t i = 0; thread_rings && i < *thread_ring_count; i++) {
		const struct ring *r = thread_rings[i];

		if (within(r->memory.base, r->memory.bytes, at))
			return in_shared(r->session, &r->memory, at);
	}
	return s ? in_named(s, at) : (struct hit){0};
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

/* Called before the zeros are mapped: a thread that has read them finds the mark. */
static bool mark(const struct hit *hit)
{
	if (hit->session)
		__atomic_fetch_or(&hit->session->loss, LOSS_OWN, __ATOMIC_RELAXED);
	else if (hit->tensor)
		named_tensor_lose(hit->tensor);
	else
		return false;
	return true;
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
	struct hit hit;
	int saved = errno;

	(void)context;
	if (info->si_code ==
	    BUS_MCEERR_AO) /* the kernel tells of a broken page that no thread has read */
		return;
	hit = find((uintptr_t)info->si_addr);
	if (!mark(&hit) || !map_zero_pages(&hit))
		(void)signal(signal_number, SIG_DFL); /* the access repeats and ends us */
	errno = saved;
}

int sigbus_guard_init(void)
{
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, NULL) < 0 ? -errno : 0;
}

/* ---- tensors with names ---- */

void sigbus_guard_name(struct session *s, uint32_t n, struct named_tensor *t)
{
	struct named_range *r = &s->named_range[n];
	uint8_t named = 0;

	__atomic_store_n(&s->named[n], NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&r->bytes, t ? t->memory.bytes : 0, __ATOMIC_RELEASE);
	__atomic_store_n(&r->of, t, __ATOMIC_RELEASE);
	__atomic_store_n(&s->named[n], t ? t->memory.base : NULL, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < QUOIT_MAX_SERVICES; i++)
		if (s->named_range[i].of)
			named = LOSS_OF_NAMED;
	if (named)
		__atomic_fetch_or(&s->loss, LOSS_OF_NAMED, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&s->loss, (uint8_t)~LOSS_OF_NAMED, __ATOMIC_RELAXED);
}

static void tell(const struct session *s, const struct buffer *b)
{
	const struct service *service = s->services.caller[b->named]->service;

	if (__atomic_exchange_n(&s->named_range[b->named].of->told, true, __ATOMIC_RELAXED))
		return;
	log_about(
		&(struct log_about){.uid = service->uid, .level = LOG_LEVEL_WARNING},
		"the tensor '%s' of uid %u cannot be read any more: memory is broken, or could not "
		"be read from swap; jobs that use it fail",
		service->name, service->uid);
}

int sigbus_guard_look(const struct session *s, uint8_t tensors, const uint32_t *view,
		      struct quoit_error *error)
{
	if (sigbus_guard_has_hit(s))
		return -EFAULT;
	for_each_tensor (i, tensors) {
		const struct buffer *b = &s->buffers[s->views[view[i]].buffer];

		if (!sigbus_guard_buffer_is_lost(s, b))
			continue;
		tell(s, b);
		*error = (struct quoit_error){.field = (uint8_t)(QUOIT_FIELD_TENSOR0 + i),
					      .value = {QUOIT_MISFIT_LOST}};
		return -EFAULT;
	}
	return 0;
}
