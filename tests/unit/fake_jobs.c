/* SPDX-License-Identifier: MIT */
/* fake_jobs.c - the fake quoitd's jobs: tensors, copies, completions */
#include "fake_jobs.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>

static struct fake_tensor *tensor(struct fake_daemon *f, uint32_t handle)
{
	struct fake_tensor *t = &f->tensor[(handle & QUOIT_HANDLE_INDEX_MASK) % FAKE_TENSORS];

	return handle && t->handle == handle ? t : NULL;
}

static int bind_tensor(struct fake_daemon *f, const struct quoit_sqe *e)
{
	static const uint32_t bytes_of[] = {4, 8, 4, 8, 2, 2};
	struct fake_tensor *t = &f->tensor[(e->base[0] & QUOIT_HANDLE_INDEX_MASK) % FAKE_TENSORS];
	const struct fake_tensor *of = tensor(f, e->base[1]);
	uint64_t size;
	bool dense = e->opcode == QUOIT_OP_CREATE &&
		     !(e->stride[0] | e->stride[1] | e->stride[2] | e->stride[3]);

	if (t->handle || (e->opcode == QUOIT_OP_VIEW && (!of || e->arg)))
		return -EINVAL; /* an index in use, or a view on nothing or with a type */
	t->element = of ? of->element : bytes_of[e->arg & QUOIT_CREATE_DTYPE_MASK];
	size = t->element;
	for (int i = 3; i >= 0; i--) {
		t->dim[i] = e->dim[i];
		t->stride[i] = dense ? (int64_t)size : e->stride[i] * (int64_t)t->element;
		size *= e->dim[i];
	}
	if (e->opcode == QUOIT_OP_VIEW) {
		t->data = of->data + e->offset;
	} else if (e->arg & QUOIT_CREATE_ARENA) {
		t->data = f->arena + e->offset;
	} else {
		t->data = f->bytes + f->bytes_used;
		f->bytes_used += size;
		cr_assert(f->bytes_used <= FAKE_BYTES);
	}
	t->handle = e->base[0];
	f->alive++;
	return 0;
}

static int copy(struct fake_daemon *f, const struct quoit_sqe *e)
{
	struct fake_tensor *to = tensor(f, e->tensor[0]), *from = tensor(f, e->tensor[1]);
	uint64_t n = 1;

	if (!to || !from)
		return -EINVAL;
	for (int i = 0; i < 4; i++)
		n *= to->dim[i];
	for (uint64_t k = 0; k < n; k++) {
		uint8_t *a = to->data, *b = from->data;
		uint64_t rest = k;

		for (int i = 3; i >= 0; i--) {
			a += (int64_t)(rest % to->dim[i]) * to->stride[i];
			b += (int64_t)(rest % to->dim[i]) * from->stride[i];
			rest /= to->dim[i];
		}
		memcpy(a, b, to->element);
	}
	return 0;
}

static int run(struct fake_daemon *f, const struct quoit_sqe *e)
{
	if (f->fail_error && e->opcode == f->fail_opcode)
		return -f->fail_error;
	switch (e->opcode) {
	case QUOIT_OP_CREATE:
	case QUOIT_OP_VIEW:
		return bind_tensor(f, e);
	case QUOIT_OP_FREE:
		if (!tensor(f, e->tensor[0]))
			return -EINVAL;
		tensor(f, e->tensor[0])->handle = 0;
		f->alive--;
		return 0;
	case QUOIT_OP_COPY:
		return copy(f, e);
	}
	return 0;
}

static void post(struct fake_ring *r, const struct quoit_sqe *e, int res)
{
	struct quoit_client_words *c = (struct quoit_client_words *)r->client;
	uint32_t flags = res < 0 ? QUOIT_CQE_ERROR : 0, index = 0, slot;
	uint64_t alone[QUOIT_CQ_CARRIES] = {flags, e->user_data, (uint32_t)res};

	if (res == 0 && e->flags & QUOIT_SQE_QUIET)
		return;
	cr_assert(quoit_ring_reserve(&r->cq, &index), "the client owes the credit");
	slot = index & (r->layout.cq_entries - 1);
	((struct quoit_cqe *)(r->daemon + r->layout.cqes))[slot] =
		r->spoil_cqes ? (struct quoit_cqe){.res = -EIO}
			      : (struct quoit_cqe){e->user_data, res, flags};
	((struct quoit_error *)(r->daemon + r->layout.errors))[slot] = (struct quoit_error){
		.user_data = e->user_data, .cause = e->user_data, .code = res, .opcode = e->opcode};
	if (r->stamps)
		((struct quoit_stamps *)(r->daemon + r->layout.stamps))[slot] =
			(struct quoit_stamps){.submit = 1, .end = 4};
	if (quoit_ring_submit_line(&r->cq, alone, QUOIT_CQ_CARRIES, &c->cq_wait))
		syscall(SYS_futex, r->cq.tail, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	if (QUOIT_RING_LOAD(&c->arm, QUOIT_RING_SEQ_CST))
		(void)send(r->socket, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Is there a slot in the CQ for every job that may need one? */
static bool has_credit(struct fake_ring *r)
{
	return quoit_ring_refresh(&r->cq) && quoit_ring_space(&r->cq) > r->held_count;
}

void fake_serve_ring(struct fake_daemon *f, struct fake_ring *r)
{
	const struct quoit_sqe *sqes = (const struct quoit_sqe *)(r->client + r->layout.sqes);
	struct quoit_sqe e;
	char byte;

	while (recv(r->socket, &byte, 1, MSG_DONTWAIT) == 1)
		f->kicks++;
	((struct quoit_daemon_words *)r->daemon)->need_wake = f->asleep;
	while (!f->hold_jobs && r->held_count) {
		post(r, &r->held[0], run(f, &r->held[0]));
		memmove(r->held, r->held + 1, --r->held_count * sizeof e);
	}
	while (!f->hold_fetch && has_credit(r) && quoit_ring_peek(&r->sq)) {
		e = sqes[r->sq.next & (r->layout.sq_entries - 1)];
		quoit_ring_release(&r->sq, 1);
		f->log[f->fetched++ % FAKE_LOG] = e;
		if (f->hold_jobs && !(e.flags & QUOIT_SQE_QUIET))
			r->held[r->held_count++] = e;
		else
			post(r, &e, run(f, &e));
	}
}

int fake_cancel(struct fake_ring *r, uint32_t sq_index)
{
	const struct quoit_sqe *sqes = (const struct quoit_sqe *)(r->client + r->layout.sqes);
	uint64_t name = sqes[sq_index & (r->layout.sq_entries - 1)].user_data;

	for (uint32_t i = 0; i < r->held_count; i++)
		if (r->held[i].user_data == name) {
			post(r, &r->held[i], -ECANCELED);
			r->held[i].flags |= QUOIT_SQE_QUIET; /* it has its CQE already */
			return 0;
		}
	return -EALREADY;
}
