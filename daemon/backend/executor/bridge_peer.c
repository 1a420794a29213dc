/* SPDX-License-Identifier: MIT */
/* bridge_peer.c - copies that the target's process itself reads from the source's memory */
#include <errno.h>
#include <string.h>

#include "backend_device.h"
#include "bridge_private.h"
#include "exec_port.h"
#include "memory/memory.h"
#include "session/session.h"

bool bridge_peer_reaches(struct reactor *r, struct session *s, const struct job *job)
{
	const struct exec_port *from = bridge_port(r, s, job, SOURCE);
	const struct exec_port *to = bridge_port(r, s, job, TARGET);

	return bridge_bytes(s, job) >= BRIDGE_PEER_LEAST && from->open && to->open &&
	       atomic_load_explicit(&to->peer[from->device - 1], memory_order_acquire) == from->pid;
}

/* Have the source's process name the buffer. */
static int ask(struct reactor *r, struct session *s, const struct job *job)
{
	struct quoit_exec_request q = {.type = QUOIT_EXEC_EXPORT, .op = QUOIT_OP_NOP};
	int err;

	device_fill_view(s, job->view[SOURCE], 0, &q);
	err = bridge_send_leg(r, s, job, SOURCE, LEG_PEER, &q);
	s->bridge.export_id = q.id;
	return err;
}

static int copy(struct reactor *r, struct session *s, const struct job *job)
{
	struct quoit_exec_request q = {.op = QUOIT_OP_COPY, .from = s->bridge.from};

	device_fill_view(s, job->view[TARGET], TARGET, &q);
	device_fill_view(s, job->view[SOURCE], SOURCE, &q);
	q.view[TARGET].whole = memory_is_overwritten(s, job, TARGET);
	q.view[SOURCE].region = QUOIT_EXEC_ON_PEER;
	q.view[SOURCE].buffer = bridge_view(s, job, SOURCE)->device;
	return bridge_send_leg(r, s, job, TARGET, LEG_PEER, &q);
}

bool bridge_peer_advance(struct reactor *r, struct session *s, struct job *job)
{
	struct bridge *b = &s->bridge;
	int err;

	if (b->peer != BRIDGE_PEER_ASKS && b->peer != BRIDGE_PEER_KNOWS)
		return false; /* it waits for an answer, or for a death */
	if (job->failed) {
		b->peer = BRIDGE_PEER_DONE;
		return true;
	}
	err = b->peer == BRIDGE_PEER_ASKS ? ask(r, s, job) : copy(r, s, job);
	if (err == -EBUSY)
		return false;
	if (err)
		bridge_fail_for_want(
			job, err,
			bridge_view(s, job, b->peer == BRIDGE_PEER_ASKS ? SOURCE : TARGET)->device);
	else
		b->peer++;
	return true;
}

/* Does it mean only that one device cannot reach the other?  Then the copy goes in parts. */
static bool is_out_of_reach(int32_t res)
{
	return res == -ENOTSUP;
}

void bridge_peer_end_leg(struct reactor *r, struct session *s, struct job *job, int32_t res,
			 const struct quoit_error *error)
{
	struct bridge *b = &s->bridge;

	if (is_out_of_reach(res)) {
		b->peer = BRIDGE_PEER_NONE;
	} else if (res < 0) {
		bridge_fail(job, res, error);
		b->peer = BRIDGE_PEER_DONE;
	} else if (b->peer == BRIDGE_PEER_ASKED) {
		const struct exec_port *p = bridge_port(r, s, job, SOURCE);

		quoit_ring_copy(b->from.word, p->exec->exported[b->export_id].word,
				sizeof b->from.word / sizeof b->from.word[0]);
		b->peer = BRIDGE_PEER_KNOWS;
	} else {
		r->count[QUOIT_REACTOR_PEER_COPIES]++;
		b->peer = BRIDGE_PEER_DONE;
	}
}
