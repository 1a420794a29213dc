/* SPDX-License-Identifier: MIT */
/* backend_exec_memory.c - map sessions' memory in executors, and take it back */
#include "backend_exec_memory.h"

#include <assert.h>
#include <errno.h>

#include "backend_exec.h"
#include "backend_kernels.h"
#include "base/tsc.h"

/* ---- time used ---- */

static uint64_t load_had(const struct exec_port *p, uint32_t slot)
{
	return __atomic_load_n(&p->exec->had[slot], __ATOMIC_RELAXED);
}

/*
 * Count what the executor claims, but no more than the time since the session came.  An executor
 * reports a job's time when the job ends: that may be more than the time since the last look.
 */
static void count_time(struct exec_port *p, uint32_t slot, uint64_t now)
{
	struct exec_slot *o = &p->slot[slot];
	uint64_t had = load_had(p, slot) - o->had;
	uint64_t most = (now - o->begun) * (p->device ? QUOIT_EXEC_STREAMS : 1);

	had = had < most ? had : most;
	if (!o->session || had <= o->counted)
		return;
	o->session->exec.ticks_used += had - o->counted;
	o->counted = had;
}

void exec_count_time(struct reactor *r, const struct session *s)
{
	for (uint32_t i = 0; i < r->executors; i++)
		if (s->exec.slot[i])
			count_time(r->executor[i], s->exec.slot[i] - 1, tsc_now());
}

/* ---- mapping ---- */

static bool send_memory(struct exec_port *p, const struct session *s, uint32_t slot)
{
	struct quoit_exec_memory message = {.slot = slot,
					    .bytes = {[PLACE_PAGEABLE] = s->region.bytes,
						      [PLACE_PINNED] = s->pinned_bytes,
						      [PLACE_ARENA] = s->arena_most}};
	const int have[QUOIT_EXEC_REGIONS] = {[PLACE_PAGEABLE] = s->region.fd,
					      [PLACE_PINNED] = s->pinned_fd,
					      [PLACE_ARENA] = s->arena_memory.fd,
					      [QUOIT_EXEC_BRIDGE] = s->bridge.fd};
	int fds[QUOIT_EXEC_REGIONS];
	unsigned n = 0;

	if (p->device && s->bridge.fd >= 0)
		message.bytes[QUOIT_EXEC_BRIDGE] = BRIDGE_BYTES;
	for (unsigned i = 0; i < QUOIT_EXEC_REGIONS; i++)
		if (message.bytes[i])
			fds[n++] = have[i];
	return exec_port_send(p, &message, sizeof message, fds, n);
}

static void unmap(struct exec_port *p, uint32_t slot, uint64_t now)
{
	struct quoit_exec_request q = {.type = QUOIT_EXEC_UNMAP, .id = slot, .slot = slot};

	if (!exec_port_has_room(p))
		return;
	exec_port_request(p, &q);
	exec_port_flush(p);
	p->slot[slot].leaving = true;
	p->slot[slot].since = now;
}

/* Has the session no jobs there, and no device memory, which would end with the slot? */
static bool is_idle(const struct exec_port *p, const struct session *s)
{
	return !s->exec.in_flight[p->number] && (!p->device || !s->device[p->device - 1].used);
}

/* All slots are taken: unmap a session that has nothing there. */
static void unmap_idle(struct exec_port *p)
{
	for (uint32_t i = 0; i < QUOIT_EXEC_SLOTS; i++) {
		const struct session *s = p->slot[i].session;

		if (p->slot[i].leaving || !is_idle(p, s))
			continue;
		unmap(p, i, s->reactor->now);
		return;
	}
}

int exec_map(struct exec_port *p, struct session *s)
{
	uint32_t slot = 0;

	if (!exec_is_for(p, s))
		return -EBUSY;
	if (s->exec.slot[p->number])
		return p->slot[s->exec.slot[p->number] - 1].leaving ? -EBUSY : 0;
	while (slot < QUOIT_EXEC_SLOTS && p->slot[slot].used)
		slot++;
	if (slot == QUOIT_EXEC_SLOTS) {
		unmap_idle(p);
		return -EBUSY;
	}
	if (!send_memory(p, s, slot))
		return -EBUSY;
	p->slot[slot] = (struct exec_slot){
		.used = true, .session = s, .had = load_had(p, slot), .begun = tsc_now()};
	s->exec.slot[p->number] = slot + 1;
	return 0;
}

static void forget(struct exec_port *p, uint32_t slot)
{
	struct session *s = p->slot[slot].session;

	if (s) {
		count_time(p, slot, tsc_now());
		s->exec.slot[p->number] = 0;
		kernels_forget(p, s);
		if (p->device)
			s->device[p->device - 1].slab_address = 0;
	}
	p->slot[slot] = (struct exec_slot){0};
}

bool exec_unmapped(struct exec_port *p, uint32_t slot)
{
	if (slot >= QUOIT_EXEC_SLOTS || !p->slot[slot].leaving)
		return false;
	assert(p->pending > 0);
	p->pending--;
	forget(p, slot);
	return true;
}

void exec_forget_all(struct exec_port *p)
{
	for (uint32_t i = 0; i < QUOIT_EXEC_SLOTS; i++)
		forget(p, i);
}

/* ---- leaving ---- */

/* True: the executor no longer has the session's memory, or is not waited for. */
static bool leave(struct exec_port *p, struct session *s, uint64_t now)
{
	uint32_t slot = s->exec.slot[p->number] - 1;

	if (!s->exec.slot[p->number])
		return true;
	if (!p->slot[slot].leaving)
		unmap(p, slot, now);
	if (!p->slot[slot].leaving || now - p->slot[slot].since < tsc_hz())
		return false;
	if (!exec_port_works(p)) {
		exec_port_kill(p, KILL_SILENT);
		return false;
	}
	count_time(p, slot, now);
	p->slot[slot].session = NULL; /* it answers when that job is done */
	kernels_forget(p, s);
	s->exec.slot[p->number] = 0;
	return true;
}

bool exec_leave(struct reactor *r, struct session *s)
{
	bool gone = true;

	for (uint32_t i = 0; i < r->executors; i++)
		gone &= leave(r->executor[i], s, r->now);
	return gone;
}
