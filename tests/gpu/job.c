/* SPDX-License-Identifier: MIT */
/* job.c - run one operation on the device and by the reference, and compare. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

/* Bytes before and after a tensor that must stay unchanged. */
#define JOB_GAP 64

static const double special[] = {0.0,      -0.0,  NAN,   INFINITY, -INFINITY,    1e-310, -1e-40,
				 0x1p-126, 1e300, -3e38, 0.5,      2147483648.0, -1e19};
static const int64_t special_i[] = {0,         1,         -1,        INT32_MAX,
				    INT32_MIN, INT64_MAX, INT64_MIN, 0x80000000};

size_t gpu_size(uint8_t dtype)
{
	return dtype == QUOIT_BF16 || dtype == QUOIT_F16 ? 2 : op_dtype_size(dtype);
}

static void put(char *to, uint8_t dtype, double f, int64_t i)
{
	switch (dtype) {
	case QUOIT_F32:
		*(float *)to = (float)f;
		break;
	case QUOIT_F64:
		*(double *)to = f;
		break;
	case QUOIT_I32:
		*(int32_t *)to = (int32_t)i;
		break;
	case QUOIT_I64:
		*(int64_t *)to = i;
		break;
	default:
		*(uint16_t *)to = (uint16_t)i;
	}
}

static void fill(char *bytes, size_t count, uint8_t dtype, enum gpu_values values)
{
	static uint32_t state = 12345;

	for (size_t i = 0; i < count; i++) {
		uint32_t r = state = state * 1664525u + 1013904223u;
		double f = (r >> 8) % 4001 / 1000.0 - 2.0;
		int64_t n = (int64_t)(r >> 8) * (int32_t)(r * 2654435761u);

		if (values == GPU_WILD && (r >> 8) % 16 == 0) {
			f = special[(r >> 12) % (sizeof(special) / sizeof(special[0]))];
			n = special_i[(r >> 12) % 8];
		}
		put(bytes + i * gpu_size(dtype), dtype, f, n);
	}
}

void gpu_tensor(struct gpu_job *job, int which, uint8_t dtype, const uint32_t dim[4],
		enum ops_layout layout, enum gpu_values values)
{
	struct op_tensor *t = &job->args.t[which];
	const size_t size = gpu_size(dtype);
	size_t count;

	memcpy(t->dim, dim, sizeof(t->dim));
	t->dtype = dtype;
	count = ops_lay_out(t, layout);
	job->memory[which].size = count * size + 2 * JOB_GAP;
	job->memory[which].bytes = calloc(1, job->memory[which].size);
	t->data = job->memory[which].bytes + JOB_GAP;
	fill(t->data, count, dtype, values);
	if (layout == OPS_REVERSED && count > 0) {
		t->data = (char *)t->data + (t->dim[3] - 1) * size;
		t->stride[3] = -1;
	}
}

void gpu_count(struct gpu_job *job, int which, int64_t first, int64_t step, int64_t modulo)
{
	const struct op_tensor *t = &job->args.t[which];
	uint32_t pos[4] = {0};
	int64_t i = first;

	if (job->memory[which].size == 2 * JOB_GAP)
		return;
	do {
		int64_t at = 0;

		for (int d = 0; d < 4; d++)
			at += pos[d] * t->stride[d];
		put((char *)t->data + at * (int64_t)gpu_size(t->dtype), t->dtype,
		    (double)(i % modulo), i % modulo);
		i += step;
	} while (ops_next(t->dim, pos));
}

void gpu_job_free(struct gpu_job *job)
{
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		free(job->memory[i].bytes);
	memset(job, 0, sizeof(*job));
}

/* Offset of memory i in staging and arena. */
static size_t job_place(const struct gpu_job *job, int which)
{
	size_t at = 0;

	for (int i = 0; i < which; i++)
		at += (job->memory[i].size + 256 + 255) / 256 * 256;
	return at + job->memory[which].shift;
}

/* The tensor on the device, in the memory of the job that has its data. */
static struct quoit_device_tensor job_tensor(const struct gpu *g, const struct gpu_job *job,
					     const struct op_tensor *t)
{
	struct quoit_device_tensor there = {.dtype = t->dtype};

	for (int i = 0; t->data && i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const char *begin = job->memory[i].bytes;
		const ptrdiff_t offset = begin ? (const char *)t->data - begin : -1;

		if (offset >= 0 && (size_t)offset < job->memory[i].size)
			there.data = g->arena + job_place(job, i) + (uint64_t)offset;
	}
	for (int d = 0; d < 4; d++) {
		there.dim[d] = t->dim[d];
		there.stride[d] = (int32_t)t->stride[d];
	}
	return there;
}

/* Copy the part of the arena that the job uses, to the device or back. */
static int job_move(struct gpu *g, struct gpu_job *job, enum quoit_device_way way)
{
	const size_t bytes = job_place(job, 3) + job->memory[3].size + 256;
	const uint64_t staging = (uint64_t)(uintptr_t)g->staging;

	if (bytes > GPU_BYTES)
		return -E2BIG;
	if (way == QUOIT_DEVICE_IN) {
		for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
			if (job->memory[i].bytes)
				memcpy(g->staging + job_place(job, i), job->memory[i].bytes,
				       job->memory[i].size);
		}
		return g->driver->copy(g->stream, g->arena, staging, bytes, way);
	}
	return g->driver->copy(g->stream, staging, g->arena, bytes, way);
}

int gpu_run(struct gpu *g, struct gpu_job *job)
{
	struct quoit_device_call call = {.opcode = job->args.opcode, .arg = job->args.arg};
	int ran;
	int err = job_move(g, job, QUOIT_DEVICE_IN);

	memset(g->verdict, 0, sizeof(*g->verdict));
	call.verdict = g->verdict;
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		call.tensor[i] = job_tensor(g, job, &job->args.t[i]);
	call.scalar[0] = job->args.scalar[0].u;
	call.scalar[1] = job->args.scalar[1].u;
	ran = err ? err : g->driver->run(g->stream, &call);
	memset(&call, 0xff, sizeof(call)); /* the driver must have copied it */
	if (!err)
		err = job_move(g, job, QUOIT_DEVICE_OUT);
	if (!err)
		err = gpu_wait(g, g->stream);
	for (int i = 0; !err && i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (job->memory[i].bytes)
			memcpy(job->memory[i].bytes, g->staging + job_place(job, i),
			       job->memory[i].size);
	}
	return ran ? ran : err ? err : g->verdict->res;
}

static bool close_enough(uint8_t dtype, const char *a, const char *b,
			 const struct ops_tolerance *tolerance)
{
	const double x = dtype == QUOIT_F32 ? *(const float *)a : *(const double *)a;
	const double y = dtype == QUOIT_F32 ? *(const float *)b : *(const double *)b;
	const double least = dtype == QUOIT_F32 ? 0x1p-126 : 0x1p-1022;
	const double epsilon = dtype == QUOIT_F32 ? 0x1p-23 : 0x1p-52;

	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y);
	if (x == y)
		return tolerance->ulp > 0 || x != 0 || signbit(x) == signbit(y);
	if (isinf(x) || isinf(y))
		return false;
	return fabs(x - y) <= tolerance->absolute ||
	       fabs(x - y) <= tolerance->ulp * epsilon * fmax(fabs(y), least);
}

/* The first element of a memory that differs; -1: none. */
static long job_differs(const struct gpu_job *job, int which, const char *got, const char *want,
			const struct ops_tolerance *tolerance)
{
	const uint8_t dtype = job->args.t[which].dtype;
	const size_t size = gpu_size(dtype);

	for (size_t i = 0; i + size <= job->memory[which].size; i += size) {
		if (memcmp(got + i, want + i, size) != 0 &&
		    !(ops_is_float(dtype) && close_enough(dtype, got + i, want + i, tolerance)))
			return (long)(i / size);
	}
	return -1;
}

/* An element as a number, or its bits where the type has 16. */
static void say_element(char ret[40], uint8_t dtype, const char *element)
{
	switch (dtype) {
	case QUOIT_F32:
		snprintf(ret, 40, "%.9g", (double)*(const float *)element);
		break;
	case QUOIT_F64:
		snprintf(ret, 40, "%.17g", *(const double *)element);
		break;
	case QUOIT_I32:
		snprintf(ret, 40, "%d", *(const int32_t *)element);
		break;
	case QUOIT_I64:
		snprintf(ret, 40, "%lld", (long long)*(const int64_t *)element);
		break;
	default:
		snprintf(ret, 40, "0x%04x", *(const uint16_t *)element);
	}
}

/* Compare one tensor, and the bytes around it. */
static void compare_tensor(struct gpu *g, const struct gpu_job *job, int which, const char *got,
			   const struct ops_tolerance *tolerance)
{
	const struct op_tensor *t = job->args.t;
	const char *want = job->memory[which].bytes;
	const long at = job_differs(job, which, got, want, tolerance);
	const bool agrees = at < 0;
	const long byte = agrees ? 0 : at * (long)gpu_size(t[which].dtype);
	char found[40], wanted[40];

	say_element(found, t[which].dtype, got + byte);
	say_element(wanted, t[which].dtype, want + byte);
	GPU_CHECK(g, agrees,
		  "%s, arg %d, types %s %s, dims %u %u %u %u, strides %ld %ld %ld %ld and "
		  "%ld %ld %ld %ld: byte %ld of tensor %d's memory: %s, not %s",
		  ops_name(job->args.opcode), job->args.arg, ops_type_name(t[0].dtype),
		  ops_type_name(t[1].dtype), t[0].dim[0], t[0].dim[1], t[0].dim[2], t[0].dim[3],
		  (long)t[0].stride[0], (long)t[0].stride[1], (long)t[0].stride[2],
		  (long)t[0].stride[3], (long)t[1].stride[0], (long)t[1].stride[1],
		  (long)t[1].stride[2], (long)t[1].stride[3], byte - JOB_GAP, which, found, wanted);
}

void gpu_compare(struct gpu *g, struct gpu_job *job, struct ops_tolerance tolerance)
{
	const struct op_tensor *t = job->args.t;
	char *before[QUOIT_MAX_TENSORS_PER_JOB] = {NULL};
	char *got[QUOIT_MAX_TENSORS_PER_JOB] = {NULL};
	int res;

	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (!job->memory[i].bytes)
			continue;
		before[i] = malloc(job->memory[i].size);
		got[i] = malloc(job->memory[i].size);
		memcpy(before[i], job->memory[i].bytes, job->memory[i].size);
	}
	res = gpu_run(g, job);
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		if (!before[i])
			continue;
		memcpy(got[i], job->memory[i].bytes, job->memory[i].size);
		memcpy(job->memory[i].bytes, before[i], job->memory[i].size);
	}
	job->args.error = 0;
	ops_reference_run(&job->args);
	GPU_CHECK(g, res == job->args.error, "%s of %s, arg %d: %d, not %d",
		  ops_name(job->args.opcode), ops_type_name(t[0].dtype), job->args.arg, res,
		  (int)job->args.error);
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB && !job->args.error; i++)
		if (before[i])
			compare_tensor(g, job, i, got[i], &tolerance);
	for (int i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		free(before[i]);
		free(got[i]);
	}
}
