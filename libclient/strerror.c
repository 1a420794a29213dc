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
	[QUOIT_FIELD_LAP] = "lap",           [QUOIT_FIELD_TENSOR0] = "tensor 0",
	[QUOIT_FIELD_TENSOR1] = "tensor 1",  [QUOIT_FIELD_TENSOR2] = "tensor 2",
	[QUOIT_FIELD_TENSOR3] = "tensor 3",  [QUOIT_FIELD_DEADLINE] = "deadline",
	[QUOIT_FIELD_LINK] = "link",         [QUOIT_FIELD_SCALAR0] = "scalar 0",
	[QUOIT_FIELD_SCALAR1] = "scalar 1",  [QUOIT_FIELD_PRIORITY] = "priority",
	[QUOIT_FIELD_RESERVED] = "reserved", [QUOIT_FIELD_DIM] = "dim",
	[QUOIT_FIELD_STRIDE] = "stride",     [QUOIT_FIELD_OFFSET] = "offset",
	[QUOIT_FIELD_FILE] = "file",
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

/* The part after "gemm failed with EINVAL": which field, what was found, what is allowed. */
static void describe_field(const struct quoit_error *e, char *to, size_t size)
{
	*to = '\0';
	if (e->field == QUOIT_FIELD_MEMORY)
		snprintf(to, size, ": needs %" PRIu64 " bytes, %" PRIu64 " are leased", e->value[0],
			 e->value[1]);
	else if (e->field == QUOIT_FIELD_EXECUTOR && !e->value[0])
		snprintf(to, size, ": its module's executor is lost");
	else if (e->field == QUOIT_FIELD_EXECUTOR)
		describe_death(e, to, size);
	else if (e->field < QUOIT_FIELD_NR && field_name[e->field])
		snprintf(to, size, ": %s is %" PRId64 ", allowed is %" PRId64, field_name[e->field],
			 (int64_t)e->value[0], (int64_t)e->value[1]);
}

const char *quoit_strerror_cqe(const struct quoit_cqe *cqe, const struct quoit_error *error,
			       char *buffer, size_t size)
{
	char field[96];

	if (cqe->res >= 0) {
		snprintf(buffer, size, "success");
	} else if (!error || !(cqe->flags & QUOIT_CQE_ERROR)) {
		snprintf(buffer, size, "job %#" PRIx64 " failed with %s", cqe->user_data,
			 quoit_strerror(cqe->res));
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
