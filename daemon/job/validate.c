/* SPDX-License-Identifier: MIT */
/* validate.c - checks the words of a job's SQE that every job has, and overlaps of tensors */
#include "validate.h"

#include <errno.h>

#include "cost.h"
#include "ops/optable.h"
#include "rules.h"
#include "session/extent.h"
#include "session/kernels.h"
#include "session/session_team.h"
#include "session/tensor_bits.h"
#include "sqe_header.h"

/* The first word of nearly every job: plain, or with INT, which says the kind of its scalars. */
#define PLAIN_JOB (SQE_HEADER_PLAIN | (uint64_t)QUOIT_SQE_INT << 8)

bool validate_is_plain(const struct quoit_sqe *sqe)
{
	return !(*(const uint64_t *)sqe & ~PLAIN_JOB) && !(sqe->link | sqe->word[5]);
}

/* A job's predicted cost is for one core; a device is about so much faster. */
#define DEVICE_SPEED 64u

/*
 * A job that holds a device for too long is ended together with the device's process, and every
 * session's memory there is lost.  A kernel of a client's own runs in its user's process instead.
 */
static int check_device_time(const struct session *s, const struct plan *p, struct fault *f)
{
	uint64_t ns;

	if (!p->device || p->row->flags & OP_LAUNCH)
		return 0;
	ns = cost_on_device(&s->device[p->device - 1].speed, p);
	return ns > s->device_job_ns ? refuse(f, -E2BIG, QUOIT_FIELD_DIM, ns, s->device_job_ns) : 0;
}

/*
 * All tensors of a device's job must be on that device.  A copy may go from any place to any
 * other.  A NOP, which only waits, may name any tensors.
 */
static int check_devices(const struct session *s, struct plan *p, struct fault *f)
{
	const struct op_row *row = p->row;
	bool is_copy = row == optable_row(QUOIT_OP_COPY);

	for_each_tensor (i, p->tensors)
		if (p->t[i]->device) {
			p->on_device |= (uint8_t)(1u << i);
			p->device = p->t[i]->device;
		}
	if (row->types == QUOIT_TYPES_X)
		return 0;
	for_each_tensor (i, p->tensors) {
		uint8_t device = p->t[i]->device;

		if (device && row->flags & (OP_FILE | OP_MODULE | OP_CALL))
			return refuse_tensor(f, -ENOTSUP, i, QUOIT_MISFIT_PLACE + device, 0);
		if (device != p->device && !is_copy)
			return refuse_tensor(f, -EXDEV, i, device, p->device);
	}
	p->executor = (uint8_t)(s->first_device + p->device - 1);
	if (is_copy && p->on_device == p->tensors && p->t[0]->device != p->t[1]->device)
		p->executor = BRIDGE_EXECUTOR;
	return 0;
}

/*
 * All tensors of a kernel are on its device; it may have none.  A scalar that the kernel does not
 * take must be zero.
 */
static int check_launch(const struct session *s, const struct quoit_sqe *sqe, struct plan *p,
			struct fault *f)
{
	const struct kernel *kernel = kernels_find(s, sqe->arg);

	for (unsigned i = 0; i < 2; i++)
		if (sqe->scalar[i] && !(kernel->scalars & 1u << i))
			return refuse(f, -EINVAL, (uint8_t)(QUOIT_FIELD_SCALAR0 + i),
				      sqe->scalar[i], 0);
	p->device = kernels_device(s, kernel);
	for_each_tensor (i, p->tensors)
		if (p->t[i]->device != p->device)
			return refuse_tensor(f, -EXDEV, i, p->t[i]->device, p->device);
	p->on_device = p->tensors;
	p->executor = (uint8_t)(s->first_device + p->device - 1);
	return 0;
}

/* A copy between two places moves whole pieces: its tensors are dense and equally long. */
static int check_transfer(const struct plan *p, struct fault *f)
{
	bool in_one_place = p->on_device == p->tensors && p->executor != BRIDGE_EXECUTOR;

	if (in_one_place || p->executor == NO_EXECUTOR)
		return 0;
	for_each_tensor (i, p->tensors) {
		if (!p->t[i]->dense)
			return refuse(f, -ENOTSUP, QUOIT_FIELD_STRIDE, i, 0);
		if (p->t[i]->elements != p->t[0]->elements)
			return refuse_tensor(f, -ENOTSUP, i, QUOIT_MISFIT_SIZE, p->t[i]->elements);
	}
	return 0;
}

/* A job waits for one other job by its SQ index. */
#define WAITS (QUOIT_SQE_LINK | QUOIT_SQE_EVENT)

/*
 * What the last word of an SQE may hold: its priority; of a CALL also the function and the team; the
 * ring of an event.
 */
#define PRIORITY_WORD UINT64_C(0xff)
#define CALL_WORD     UINT64_C(0xffffff)
#define EVENT_WORD    UINT64_C(0xff000000)

static int check_words(const struct quoit_sqe *sqe, struct fault *f)
{
	const uint64_t known = (sqe->opcode == QUOIT_OP_CALL ? CALL_WORD : PRIORITY_WORD) |
			       (sqe->flags & QUOIT_SQE_EVENT ? EVENT_WORD : 0);
	uint64_t reserved;

	if (sqe->device)
		return refuse(f, -ENODEV, QUOIT_FIELD_DEVICE, sqe->device, 0);
	if ((sqe->flags & WAITS) == WAITS)
		return refuse(f, -EINVAL, QUOIT_FIELD_FLAGS, sqe->flags,
			      QUOIT_SQE_FLAGS & ~QUOIT_SQE_EVENT);
	if (!(sqe->flags & QUOIT_SQE_EVENT) && !(sqe->flags & QUOIT_SQE_LINK) != !sqe->link)
		return refuse(f, -EINVAL, QUOIT_FIELD_LINK, sqe->link, sqe->flags & QUOIT_SQE_LINK);
	if (sqe->priority >= QUOIT_PRIO_NR)
		return refuse(f, -EINVAL, QUOIT_FIELD_PRIORITY, sqe->priority, QUOIT_PRIO_NR - 1);
	reserved = sqe->word[5] & ~known;
	if (reserved)
		return refuse(f, -EINVAL, QUOIT_FIELD_RESERVED, reserved, 0);
	return 0;
}

/* An executor has the session's memory, and that of no tensor with a name. */
static int check_reach(const struct session *s, const struct plan *p, struct fault *f)
{
	for_each_tensor (i, p->tensors)
		if (s->buffers[p->t[i]->buffer].place == PLACE_NAMED)
			return refuse_tensor(f, -ENOTSUP, i, QUOIT_MISFIT_NAMED, 0);
	return 0;
}

/* Resolve the handles; the operation's row says how each tensor is accessed. */
static int check_tensors(const struct session *s, const struct quoit_sqe *sqe, struct plan *p,
			 struct fault *f)
{
	const struct op_row *row = p->row;
	unsigned tensors = 0, devices = 0;
	int err;

	for_each_tensor (i, QUOIT_ALL_TENSORS & ~row->takes)
		if (sqe->tensor[i])
			return refuse_tensor(f, -EINVAL, i, QUOIT_MISFIT_UNUSED, 0);
	for_each_tensor (i, row->takes) {
		uint32_t handle = sqe->tensor[i], view;

		if (!handle && !(row->needs & 1u << i))
			continue;
		view = session_view(s, handle);
		if (view == NIL)
			return refuse_tensor(f, -EBADF, i, handle, s->max_tensors);
		p->view[i] = view;
		p->t[i] = &s->views[view];
		devices |= p->t[i]->device;
		tensors |= 1u << i;
	}
	p->tensors = (uint8_t)tensors;
	p->reads = (uint8_t)(tensors & row->reads);
	p->writes = (uint8_t)(tensors & row->writes);
	p->executor = row->module;
	if (row->flags & OP_LAUNCH)
		return check_launch(s, sqe, p, f);
	err = devices ? check_devices(s, p, f) : 0;
	return !err && p->executor != NO_EXECUTOR ? check_reach(s, p, f) : err;
}

static bool same_view(const struct view *a, const struct view *b)
{
	for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
		if (a->dim[d] != b->dim[d] || (a->dim[d] > 1 && a->stride[d] != b->stride[d]))
			return false;
	return a->offset == b->offset && a->dtype == b->dtype;
}

static int refuse_writing(const struct session *s, const struct view *out, unsigned tensor,
			  struct fault *f)
{
	if (s->buffers[out->buffer].read_only)
		return refuse_tensor(f, -EACCES, tensor, QUOIT_MISFIT_READ_ONLY, 0);
	return refuse(f, -EINVAL, QUOIT_FIELD_STRIDE, tensor, 0);
}

/* A SEND counts as a writer of the tensor behind which it comes, and does not write it. */
static bool is_for_order(const struct op_row *row, unsigned tensor)
{
	return row->shape == SHAPE_MESSAGE && tensor == 1;
}

/*
 * Where elements are computed one by one, an output may be the very same view as an input.  Any
 * other overlap has no defined result and is refused.
 */
static int check_overlap(const struct session *s, const struct plan *p, struct fault *f)
{
	uint8_t shape = p->row->shape;
	bool elementwise = shape == SHAPE_SAME || shape == SHAPE_SELECT || shape == SHAPE_COMPARE ||
			   shape == SHAPE_LOSS;

	for_each_tensor (w, p->writes) {
		const struct view *out = p->t[w];

		if (!out->writable && !is_for_order(p->row, w))
			return refuse_writing(s, out, w, f);
		for_each_tensor (i, p->tensors & ~(1u << w)) {
			const struct view *in = p->t[i];

			if (in->buffer != out->buffer || !extent_views_overlap(in, out))
				continue;
			if (!elementwise || p->writes & 1u << i || !same_view(in, out))
				return refuse_tensor(f, -EINVAL, i, QUOIT_MISFIT_OVERLAP + w, 0);
		}
	}
	return 0;
}

static int find_function(const struct session *s, const struct quoit_sqe *sqe,
			 const struct op_row **ret, struct fault *f)
{
	const struct function *function = team_function(s, sqe->team, sqe->function);

	if (!function)
		return refuse(f, -EINVAL, QUOIT_FIELD_FUNCTION, sqe->function,
			      team_functions(s, sqe->team));
	*ret = &function->row;
	return 0;
}

/* The row of the operation, of the kernel that the job launches, or of the function it calls. */
static int find_row(const struct session *s, const struct quoit_sqe *sqe, const struct op_row **ret,
		    struct fault *f)
{
	const struct kernel *kernel;

	*ret = optable_find(sqe->opcode);
	if (sqe->opcode == QUOIT_OP_SORT || sqe->opcode == QUOIT_OP_SCATTER)
		return refuse(f, -ENOTSUP, QUOIT_FIELD_OPCODE, sqe->opcode, 0);
	if (!*ret || (*ret)->flags & (OP_CONTROL | OP_RETURN))
		return refuse(f, -EINVAL, QUOIT_FIELD_OPCODE, sqe->opcode, 0);
	if ((*ret)->absent)
		return refuse(f, -ENOTSUP, QUOIT_FIELD_OPCODE, sqe->opcode, 0);
	if ((*ret)->flags & OP_CALL)
		return find_function(s, sqe, ret, f);
	if (!((*ret)->flags & OP_LAUNCH))
		return 0;
	kernel = kernels_find(s, sqe->arg);
	if (!kernel)
		return refuse(f, -EINVAL, QUOIT_FIELD_ARG, sqe->arg, 0);
	*ret = &kernel->row;
	return 0;
}

int validate_job(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret,
		 struct fault *f)
{
	int err;

	*ret = (struct plan){0};
	err = find_row(s, sqe, &ret->row, f);
	if (err)
		return err;
	if (!validate_is_plain(sqe)) { /* else three tests have done for all of these */
		err = sqe_header_check(sqe, f);
		if (!err)
			err = check_words(sqe, f);
	}
	if (!err)
		err = check_tensors(s, sqe, ret, f);
	if (!err)
		err = rules_check(s, sqe, ret, f);
	if (!err && ret->row->shape != SHAPE_SYNC) /* which looks at no bytes */
		err = check_overlap(s, ret, f);
	if (!err && ret->on_device) {
		err = check_transfer(ret, f);
		if (!err)
			err = check_device_time(s, ret, f);
		ret->cost /= DEVICE_SPEED;
		ret->piece = 0;
	}
	if (ret->row->flags & OP_CALL) /* it takes none of quoitd's time */
		ret->cost = ret->piece = 0;
	if (!err && ret->cost > VALIDATE_MAX_NS)
		return refuse(f, -E2BIG, QUOIT_FIELD_DIM, ret->cost, VALIDATE_MAX_NS);
	if (!err && ret->piece > VALIDATE_MAX_PIECE_NS)
		return refuse(f, -E2BIG, QUOIT_FIELD_DIM, ret->piece, VALIDATE_MAX_PIECE_NS);
	return err;
}

void validate_outputs(const struct session *s, const struct quoit_sqe *sqe, struct plan *ret)
{
	struct fault f;
	unsigned outputs;

	*ret = (struct plan){.refused = true, .executor = NO_EXECUTOR};
	if (find_row(s, sqe, &ret->row, &f) && !(ret->row && ret->row->absent)) {
		/* A function that is not there, or not any more: it might have written them all. */
		if (sqe->opcode != QUOIT_OP_CALL)
			return;
		outputs = QUOIT_ALL_TENSORS;
		ret->row = optable_row(QUOIT_OP_CALL);
	} else if (ret->row->flags & OP_ACQUIRE) { /* if it fails, nothing changes */
		return;
	} else {
		outputs = ret->row->takes & ret->row->writes;
		if (ret->row->shape == SHAPE_MESSAGE) /* the second tensor is never written */
			outputs &= 1u;
	}
	for_each_tensor (i, outputs) {
		uint32_t view = session_view(s, sqe->tensor[i]);

		/* What cannot be written is as it was. */
		if (view == NIL || s->buffers[s->views[view].buffer].read_only)
			continue;
		ret->view[i] = view;
		ret->t[i] = &s->views[view];
		ret->tensors |= (uint8_t)(1u << i);
	}
	ret->writes = ret->tensors;
}
