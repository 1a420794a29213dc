/* SPDX-License-Identifier: MIT */
/* soft_run.c - run the operations of ops.def by the CPU's functions */
#include <errno.h>

#include <quoit/direct.h>
#include <quoit/families.h>

#include "ops/ops.h"
#include "soft_private.h"

/* How far a tensor may reach: no sum of such numbers overflows. */
#define MAX_REACH (INT64_C(1) << 46)

/* Which tensors an operation must or may have: ops.def explains the letters. */
static const char access_of[QUOIT_OP_NR][QUOIT_MAX_TENSORS_PER_JOB + 1] = {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help) [nr] = access,
#include <quoit/ops.def>
#undef QUOIT_OP
};

static bool must_have(char access)
{
	return access == 'W' || access == 'R' || access == 'M';
}

static bool may_have(char access)
{
	return must_have(access) || access == 'w' || access == 'r';
}

static bool is_empty(const struct quoit_device_tensor *t)
{
	return !t->dim[0] || !t->dim[1] || !t->dim[2] || !t->dim[3];
}

/* ---- on the stream's thread ---- */

/* Find the range from a tensor's first to its last byte in memory. */
static bool find_extent(const struct quoit_device_tensor *t, uint64_t *ret_start,
			uint64_t *ret_bytes)
{
	const int64_t size = op_dtype_size(t->dtype);
	int64_t least = 0, most = 0;

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++) {
		/* This is below 2^63: dim has 32 bits, stride 31 and a sign. */
		const int64_t reach = (int64_t)(t->dim[i] - UINT64_C(1)) * t->stride[i];

		if (reach > MAX_REACH || reach < -MAX_REACH)
			return false;
		if (reach > 0)
			most += reach;
		else
			least += reach;
	}
	*ret_start = t->data + (uint64_t)(least * size);
	*ret_bytes = (uint64_t)((most - least + 1) * size);
	return true;
}

/* Where the first element is; NULL: some element is outside of allocated memory. */
static void *find_data(struct quoit_device *d, const struct quoit_device_tensor *t)
{
	uint64_t start, bytes;
	char *memory;

	if (is_empty(t))
		return soft_memory_find(d, t->data, 0);
	if (t->data % op_dtype_size(t->dtype) || !find_extent(t, &start, &bytes))
		return NULL;
	memory = soft_memory_find(d, start, bytes);
	return memory ? memory + (t->data - start) : NULL;
}

static bool fill_args(struct quoit_device *d, const struct quoit_device_call *call,
		      struct op_args *ret)
{
	ret->opcode = call->opcode;
	ret->arg = call->arg;
	ret->scalar[0].u = call->scalar[0];
	ret->scalar[1].u = call->scalar[1];
	atomic_init(&ret->error, 0);
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct quoit_device_tensor *from = &call->tensor[i];
		const char access = access_of[call->opcode][i];
		struct op_tensor *to = &ret->t[i];

		to->data = NULL;
		if (!must_have(access) && !(may_have(access) && from->data))
			continue;
		to->data = find_data(d, from);
		if (!to->data)
			return false;
		to->dtype = from->dtype;
		for (unsigned k = 0; k < QUOIT_MAX_DIMS; k++) {
			to->dim[k] = from->dim[k];
			to->stride[k] = from->stride[k];
		}
	}
	return true;
}

static void report(const struct op_args *args, struct quoit_device_verdict *verdict)
{
	if (!args->error || !verdict || __atomic_load_n(&verdict->res, __ATOMIC_ACQUIRE))
		return;
	verdict->value[0] = args->error_value[0];
	verdict->value[1] = args->error_value[1];
	__atomic_store_n(&verdict->res, args->error, __ATOMIC_RELEASE);
}

int soft_run_call(struct quoit_device *d, const struct quoit_device_call *call)
{
	const struct op_impl *impl = ops_find(call->opcode);
	struct op_args args;

	if (!impl || !fill_args(d, call, &args))
		return -QUOIT_EGPUFAULT;
	impl->run(&args, 0, 1);
	if (impl->finish)
		impl->finish(&args);
	report(&args, call->verdict);
	return 0;
}

static int run_operation(struct quoit_device *d, const struct soft_task *task)
{
	return soft_run_call(d, &task->call);
}

/* ---- the thread that calls the driver ---- */

static bool has_type(uint8_t opcode, uint8_t dtype)
{
	return dtype < QUOIT_DTYPE_NR && quoit_types_of(opcode) & 1u << dtype;
}

static int check_call(const struct quoit_device *d, const struct quoit_device_call *call)
{
	if (!ops_find(call->opcode))
		return -ENOTSUP;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const char access = access_of[call->opcode][i];

		if ((must_have(access) || (may_have(access) && call->tensor[i].data)) &&
		    !has_type(call->opcode, call->tensor[i].dtype))
			return -ENOTSUP;
	}
	if (quoit_needs_element(call->opcode) && is_empty(&call->tensor[1]) &&
	    !is_empty(&call->tensor[0]))
		return -EINVAL;
	if (call->verdict && !soft_host_is_known(d, call->verdict, sizeof *call->verdict))
		return -EFAULT;
	return 0;
}

int soft_run(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	struct soft_task *task;
	int err;

	if (call->opcode == QUOIT_OP_GEMM &&
	    !quoit_direct_product(call->tensor[0].dim, call->tensor[1].dim, call->tensor[1].dtype))
		soft_want_parked(soft_stream_device(s)); /* a real device may load code for it */
	err = soft_stream_reserve(s, SOFT_RUN, &task);
	if (!err)
		err = check_call(soft_stream_device(s), call);
	if (err)
		return err;
	task->run = run_operation;
	task->verdict = call->verdict;
	task->call = *call;
	soft_stream_submit(s);
	return 0;
}
