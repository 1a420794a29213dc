/* SPDX-License-Identifier: MIT */
/* rules_calls.c - what fits an acquire, a release, and a call of a function or of a thing with a name */
#include "rules_private.h"

#include <errno.h>

#include "session/extent.h"
#include "session/tensor_bits.h"

int rules_check_acquire(const struct session *s, const struct operands *o)
{
	int err = o->sqe->arg >= QUOIT_MAX_SITES ? refuse_arg(o, QUOIT_MAX_SITES - 1) : 0;

	if (!err && o->sqe->scalar[0] | o->sqe->scalar[1])
		err = refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR0, o->sqe->scalar[0], 0);
	if (!err && o->sqe->flags & QUOIT_SQE_QUIET) /* its CQE says where the tensor is */
		err = refuse(o->fault, -EINVAL, QUOIT_FIELD_FLAGS, o->sqe->flags,
			     QUOIT_SQE_FLAGS & ~QUOIT_SQE_QUIET);
	if (!err && s->buffers[o->t[0]->buffer].fixed != FIXED_SHARED &&
	    s->buffers[o->t[0]->buffer].place != PLACE_NAMED)
		err = refuse_tensor(o->fault, -ENOTSUP, 0, QUOIT_MISFIT_NOT_SHARED, 0);
	return err;
}

/* The process that runs the call must be able to reach the memory of each tensor. */
int rules_check_call(const struct session *s, const struct operands *o)
{
	const bool is_own = o->sqe->team < QUOIT_TEAM_SERVICE;

	for_each_tensor (i, o->tensors) {
		const uint8_t place = s->buffers[o->t[i]->buffer].place;

		if (place == PLACE_NAMED && !is_own)
			return refuse_tensor(o->fault, -ENOTSUP, i, QUOIT_MISFIT_NAMED, 0);
		if (place != PLACE_ARENA && place != PLACE_NAMED)
			return refuse_tensor(o->fault, -ENOTSUP, i, QUOIT_MISFIT_NOT_SHARED, 0);
	}
	return 0;
}

/* Its object checks what these are. */
int rules_check_sync(const struct operands *o)
{
	const uint8_t op = o->sqe->function;
	const bool condition = op == QUOIT_SYNC_WAIT_CONDITION || op == QUOIT_SYNC_NOTIFY;
	const bool count =
		op == QUOIT_SYNC_NOTIFY || op == QUOIT_SYNC_TAKE || op == QUOIT_SYNC_GIVE;

	if (o->sqe->arg && !condition)
		return refuse_arg(o, 0);
	if (o->sqe->scalar[0] && !count)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR0, o->sqe->scalar[0], 0);
	if (o->sqe->scalar[1])
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR1, o->sqe->scalar[1], 0);
	return 0;
}

/* What a keyspace copies as a whole, and so must not be large or have gaps. */
static int check_copied(const struct operands *o, unsigned tensor, uint64_t most)
{
	const struct view *v = o->t[tensor];

	if (!v)
		return 0;
	if (!v->dense)
		return refuse(o->fault, -ENOTSUP, QUOIT_FIELD_STRIDE, tensor, 0);
	if (view_bytes(v) > most)
		return refuse_tensor(o->fault, -EMSGSIZE, tensor, view_bytes(v), most);
	return 0;
}

static int check_state(const struct operands *o)
{
	const struct view *v = o->t[0];
	const uint32_t n = sizeof(struct quoit_key_state) / sizeof(int64_t);

	if (!v)
		return 0;
	if (v->dtype != QUOIT_I64)
		return refuse_type(o, 0, QUOIT_I64);
	if (v->elements != n || v->dim[QUOIT_MAX_DIMS - 1] != n)
		return refuse_dim(o, 0, QUOIT_MAX_DIMS - 1, n);
	return 0;
}

static int check_key_scalars(const struct operands *o)
{
	const uint8_t op = o->sqe->function;
	const uint64_t bytes = op == QUOIT_SYNC_PUT ? view_bytes(o->t[2]) : 0;

	if (o->sqe->arg && (op != QUOIT_SYNC_WATCH || o->sqe->arg != QUOIT_WATCH_PREFIX))
		return refuse_arg(o, op == QUOIT_SYNC_WATCH ? QUOIT_WATCH_PREFIX : 0);
	if (o->sqe->scalar[0] && op == QUOIT_SYNC_GET)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR0, o->sqe->scalar[0], 0);
	if (o->sqe->scalar[1] > bytes)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR1, o->sqe->scalar[1], bytes);
	return 0;
}

int rules_check_keys(const struct operands *o)
{
	int err = check_state(o);

	if (!err)
		err = check_copied(o, 0, QUOIT_VALUE_BYTES);
	if (!err)
		err = check_copied(o, 1, QUOIT_KEY_BYTES);
	if (!err)
		err = check_copied(o, 2, QUOIT_VALUE_BYTES);
	if (!err)
		err = check_copied(o, 3, QUOIT_KEY_BYTES);
	return err ? err : check_key_scalars(o);
}

/* It takes effect at its fetch or before: it can wait for nothing, and is never late. */
int rules_check_release(const struct operands *o)
{
	if (o->sqe->arg)
		return refuse_arg(o, 0);
	if (o->sqe->flags & (QUOIT_SQE_LINK | QUOIT_SQE_EVENT))
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_FLAGS, o->sqe->flags, QUOIT_SQE_QUIET);
	if (o->sqe->deadline)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_DEADLINE, o->sqe->deadline, 0);
	if (o->sqe->priority)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_PRIORITY, o->sqe->priority, 0);
	if (o->sqe->scalar[1])
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR1, o->sqe->scalar[1], 0);
	if (o->sqe->scalar[0] > UINT32_MAX)
		return refuse(o->fault, -EINVAL, QUOIT_FIELD_SCALAR0, o->sqe->scalar[0],
			      UINT32_MAX);
	return 0;
}
