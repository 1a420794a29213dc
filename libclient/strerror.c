/* SPDX-License-Identifier: MIT */
/* strerror.c - errors in words */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "library.h"

static _Thread_local char open_text[QUOIT_TEXT_BYTES + 144];

void libquoit_text_set(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(open_text, sizeof open_text, format, args);
	va_end(args);
}

const char *quoit_open_text(void)
{
	return open_text;
}

const char *quoit_strerror(int error)
{
	const char *name;

	if (error < 0)
		error = -error;
	switch (error) {
	case QUOIT_EPOISON:
		return "QUOIT_EPOISON";
	case QUOIT_EGPUFAULT:
		return "QUOIT_EGPUFAULT";
	case QUOIT_EDEVLOST:
		return "QUOIT_EDEVLOST";
	case QUOIT_EEXEC:
		return "QUOIT_EEXEC";
	}
	name = strerrorname_np(error);
	return name ? name : "unknown error";
}

static const char *op_name(uint8_t opcode)
{
	switch (opcode) {
#define QUOIT_OP(nr, NAME, name, access, shape, types, cost, flags, help)                          \
	case nr:                                                                                   \
		return #name;
#include <quoit/ops.def>
#undef QUOIT_OP
	}
	return "module operation";
}

static const char *const field_name[QUOIT_FIELD_NR] = {
	[QUOIT_FIELD_OPCODE] = "opcode",     [QUOIT_FIELD_FLAGS] = "flags",
	[QUOIT_FIELD_DEVICE] = "device",     [QUOIT_FIELD_ARG] = "arg",
	[QUOIT_FIELD_TENSOR0] = "tensor 0",  [QUOIT_FIELD_TENSOR1] = "tensor 1",
	[QUOIT_FIELD_TENSOR2] = "tensor 2",  [QUOIT_FIELD_TENSOR3] = "tensor 3",
	[QUOIT_FIELD_DEADLINE] = "deadline", [QUOIT_FIELD_LINK] = "link",
	[QUOIT_FIELD_SCALAR0] = "scalar 0",  [QUOIT_FIELD_SCALAR1] = "scalar 1",
	[QUOIT_FIELD_PRIORITY] = "priority", [QUOIT_FIELD_RESERVED] = "reserved",
	[QUOIT_FIELD_DIM] = "dim",           [QUOIT_FIELD_STRIDE] = "stride",
	[QUOIT_FIELD_OFFSET] = "offset",     [QUOIT_FIELD_FILE] = "file",
};

/* values: the process and how it ended, as waitpid tells it */
static void describe_death(const struct quoit_error *e, char *to, size_t size)
{
	int status = (int)e->value[1];

	if (WIFSIGNALED(status))
		snprintf(to, size, ": its executor, pid %" PRIu64 ", was ended by signal %d",
			 e->value[0], WTERMSIG(status));
	else
		snprintf(to, size, ": its executor, pid %" PRIu64 ", has left with status %d",
			 e->value[0], WEXITSTATUS(status));
}

/* ---- devices ---- */

static void describe_lost(const struct quoit_error *e, char *to, size_t size)
{
	if (e->value[1])
		snprintf(to, size, ": device %" PRIu64 " is lost, quoit_device says why",
			 e->value[1]);
	else
		snprintf(to, size, ": its module is lost, quoit topo says why");
}

static void describe_device_fault(const struct quoit_error *e, char *to, size_t size)
{
	const char *whose = e->value[1] == QUOIT_FAULT_OWN     ? "by this job's doing"
			    : e->value[1] == QUOIT_FAULT_OTHER ? "by another job's doing"
							       : "by whose doing is not known";

	if (e->code == -QUOIT_EDEVLOST)
		snprintf(to, size, ": device %" PRIu64 " has gone", e->value[0]);
	else
		snprintf(to, size, ": device %" PRIu64 " has faulted or its process ended, %s",
			 e->value[0], whose);
}

/* values: where the tensor is, and where it would have to be; 0: the host */
static void describe_places(const struct quoit_error *e, char *to, size_t size)
{
	char place[2][32] = {"the host", "the host"};

	for (unsigned i = 0; i < 2; i++)
		if (e->value[i])
			snprintf(place[i], sizeof place[i], "device %" PRIu64, e->value[i]);
	snprintf(to, size, ": %s is on %s, not on %s", field_name[e->field], place[0], place[1]);
}

static bool is_device_fault(const struct quoit_error *e)
{
	return e->field == QUOIT_FIELD_DEVICE &&
	       (e->code == -QUOIT_EGPUFAULT || e->code == -QUOIT_EDEVLOST);
}

static bool is_unloaded_kernel(const struct quoit_error *e)
{
	return e->opcode == QUOIT_OP_LAUNCH && e->field == QUOIT_FIELD_ARG &&
	       (e->code == -ENOENT || e->code == -ENOEXEC);
}

/* Nobody failed to write there: a process has ended, and with it its device's memory. */
static bool is_lost_memory(const struct quoit_error *e)
{
	return e->field == QUOIT_FIELD_DEVICE && e->opcode == QUOIT_OP_NOP;
}

/* ---- sentences ---- */

static void describe_memory(const struct quoit_error *e, char *to, size_t size)
{
	if (e->value[1])
		snprintf(to, size, ": needs %" PRIu64 " bytes, %" PRIu64 " of the lease are left",
			 e->value[0], e->value[1]);
	else
		snprintf(to, size, ": %" PRIu64 " bytes were not to be had", e->value[0]);
}

static void describe_time(const struct quoit_error *e, char *to, size_t size)
{
	if (e->value[0])
		snprintf(to, size, ": it had run for %" PRIu64 " ms, and was ended", e->value[0]);
	else
		snprintf(to, size, ": its deadline passed while it ran, and it was ended");
}

/* The part after "gemm failed with EINVAL": which field, what was found, what is allowed. */
static void describe_field(const struct quoit_error *e, char *to, size_t size)
{
	*to = '\0';
	if (e->field == QUOIT_FIELD_MEMORY)
		describe_memory(e, to, size);
	else if (e->field == QUOIT_FIELD_EXECUTOR && !e->value[0])
		describe_lost(e, to, size);
	else if (e->field == QUOIT_FIELD_EXECUTOR)
		describe_death(e, to, size);
	else if (is_device_fault(e))
		describe_device_fault(e, to, size);
	else if (is_unloaded_kernel(e))
		snprintf(to, size, ": kernel %" PRIu64 " is not to be had on its device",
			 e->value[0]);
	else if (e->field == QUOIT_FIELD_DEADLINE && e->code == -ETIME)
		describe_time(e, to, size);
	else if (e->field == QUOIT_FIELD_OPCODE && e->code == -ENOTSUP)
		snprintf(to, size, ": switched off, or not to be had for such tensors there");
	else if (e->code == -EXDEV && e->field < QUOIT_FIELD_NR && field_name[e->field])
		describe_places(e, to, size);
	else if (e->field < QUOIT_FIELD_NR && field_name[e->field])
		snprintf(to, size, ": %s is %" PRId64 ", allowed is %" PRId64, field_name[e->field],
			 (int64_t)e->value[0], (int64_t)e->value[1]);
}

const char *quoit_strerror_cqe(const struct quoit_cqe *cqe, const struct quoit_error *error,
			       char *buffer, size_t size)
{
	char field[128];

	if (cqe->res >= 0) {
		snprintf(buffer, size, "success");
	} else if (!error || !(cqe->flags & QUOIT_CQE_ERROR)) {
		snprintf(buffer, size, "job %#" PRIx64 " failed with %s", cqe->user_data,
			 quoit_strerror(cqe->res));
	} else if (cqe->res == -QUOIT_EPOISON && is_lost_memory(error)) {
		snprintf(buffer, size,
			 "job %#" PRIx64 " reads what was lost on device %" PRIu64 ": %s",
			 error->user_data, error->value[0], quoit_strerror(error->code));
	} else {
		describe_field(error, field, sizeof field);
		if (cqe->res != -QUOIT_EPOISON)
			snprintf(buffer, size, "%s (job %#" PRIx64 ") failed with %s%s",
				 op_name(error->opcode), error->user_data,
				 quoit_strerror(error->code), field);
		else
			snprintf(buffer, size,
				 "job %#" PRIx64 " reads what %s (job %#" PRIx64
				 " of ring %u) did not write, which failed with %s%s",
				 error->user_data, op_name(error->opcode), error->cause,
				 error->ring, quoit_strerror(error->code), field);
	}
	return buffer;
}
