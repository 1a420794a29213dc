/* SPDX-License-Identifier: MIT */
/* error_field.c - describe the field that an error is about, for the error's sentence */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <quoit/file_system.h>

#include "library.h"
#include "refusal.h"

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

/* Of a call of a service; values: the service; for how long nobody has served it, or who did */
static void describe_service(const struct quoit_error *e, char *to, size_t size)
{
	if (e->code == -QUOIT_EEXEC)
		snprintf(to, size, ": process %" PRIu64 ", which served it, has gone", e->value[1]);
	else if (e->code == -ENOENT && e->value[1])
		snprintf(to, size, ": no process has served its service for %" PRIu64 " ms",
			 e->value[1]);
	else if (e->code == -ENOENT)
		snprintf(to, size, ": no process serves its service");
}

/* Of a keyspace; values: the key's revision, 0: there is none; the one that it must have */
static void describe_revision(const struct quoit_error *e, char *to, size_t size)
{
	if (!e->value[0])
		snprintf(to, size, ": there is no such key");
	else if (!e->value[1])
		snprintf(to, size, ": there is such a key, of revision %" PRIu64, e->value[0]);
	else
		snprintf(to, size, ": the key has revision %" PRIu64 ", not %" PRIu64, e->value[0],
			 e->value[1]);
}

/* values: the process and how it ended, as waitpid tells it */
static void describe_death(const struct quoit_error *e, char *to, size_t size)
{
	int status = (int)e->value[1];

	if (WIFSIGNALED(status))
		snprintf(to, size, ": its executor, pid %" PRIu64 ", was ended by signal %d",
			 e->value[0], WTERMSIG(status));
	else
		snprintf(to, size, ": its executor, pid %" PRIu64 ", exited with status %d",
			 e->value[0], WEXITSTATUS(status));
}

/* ---- devices ---- */

static void describe_lost(const struct quoit_error *e, char *to, size_t size)
{
	if (e->value[1])
		snprintf(to, size, ": device %" PRIu64 " is lost (quoit_query_device says why)",
			 e->value[1]);
	else
		snprintf(to, size, ": its module is lost (quoit topo says why)");
}

static void describe_device_fault(const struct quoit_error *e, char *to, size_t size)
{
	const char *whose = e->value[1] == QUOIT_FAULT_OWN     ? "caused by this job"
			    : e->value[1] == QUOIT_FAULT_OTHER ? "caused by another job"
							       : "and the cause is not known";

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

static bool is_of_kernel(const struct quoit_error *e)
{
	if (e->opcode != QUOIT_OP_LAUNCH)
		return false;
	if (e->field == QUOIT_FIELD_RESERVED) /* of a raw ring's quoit_launch without a kernel */
		return e->code == -EINVAL;
	return e->field == QUOIT_FIELD_ARG &&
	       (e->code == -ENOENT || e->code == -ENOEXEC || e->code == -EINVAL);
}

static void describe_kernel(const struct quoit_error *e, char *to, size_t size)
{
	if (e->field == QUOIT_FIELD_RESERVED)
		snprintf(to, size, ": there is no kernel %" PRId32, (int32_t)e->value[0]);
	else if (e->code == -EINVAL)
		snprintf(to, size, ": there is no kernel %" PRIu64, e->value[0]);
	else
		snprintf(to, size, ": kernel %" PRIu64 " is not available on its device",
			 e->value[0]);
}

/* Of a raw ring's quoit_op4 without an operation, of which the SQE keeps 8 bits. */
static bool is_of_operation(const struct quoit_error *e)
{
	const int32_t number = (int32_t)e->value[0];

	return e->field == QUOIT_FIELD_RESERVED && e->code == -EINVAL &&
	       number != (uint8_t)number && e->opcode == (uint8_t)number;
}

/* Is the operation's argument an axis?  Its row's shape in ops.def tells. */
static bool takes_axis(uint8_t opcode)
{
	static const char *const shapes[] = {"ROLL", "GATHER", "REDUCE", "ARGMAX"};
	const char *shape = "";

	switch (opcode) {
#define QUOIT_OP(nr, NAME, name, family, access, SHAPE, ...)                                       \
	case nr:                                                                                   \
		shape = #SHAPE;                                                                    \
		break;
#include <quoit/ops.def>
#undef QUOIT_OP
	}
	for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
		if (strcmp(shape, shapes[i]) == 0)
			return true;
	return false;
}

/* value: the axis, as the job has it */
static void describe_axis(const struct quoit_error *e, char *to, size_t size)
{
	char found[32] = "the axis";

	if (e->value[0] != QUOIT_AXIS_NONE)
		snprintf(found, sizeof found, "axis %" PRIu64, e->value[0]);
	snprintf(to, size, ": %s does not exist: allowed are 0 to 3, or -4 to -1 from the last",
		 found);
}

/* ---- tensors ---- */

static const char *type_name(uint64_t dtype)
{
	static const char *const name[] = {"float32", "float64",  "int32",
					   "int64",   "bfloat16", "float16"};

	return dtype < sizeof name / sizeof *name ? name[dtype] : "another type";
}

static void describe_type(const struct quoit_error *e, const char *tensor, unsigned dtype, char *to,
			  size_t size)
{
	if (e->code == -EINVAL)
		snprintf(to, size, ": %s is %s, allowed is %s", tensor, type_name(dtype),
			 type_name(e->value[1] - QUOIT_MISFIT_TYPE));
	else
		snprintf(to, size, ": %s is %s, which this operation does not support", tensor,
			 type_name(dtype));
}

static void describe_dim(const struct quoit_error *e, const char *tensor, char *to, size_t size)
{
	uint32_t found = (uint32_t)e->value[1], allowed = (uint32_t)(e->value[1] >> 32);
	bool is_stretched = e->value[0] & QUOIT_MISFIT_DIM_OR_1 && allowed != 1;

	snprintf(to, size, ": dim %u of %s is %" PRIu32 ", allowed is %" PRIu32 "%s",
		 (unsigned)e->value[0] & 3, tensor, found, allowed, is_stretched ? " or 1" : "");
}

/* values: enum quoit_misfit */
static void describe_misfit(const struct quoit_error *e, char *to, size_t size)
{
	const char *tensor = field_name[e->field];
	unsigned with = (unsigned)e->value[0] & 0xff;

	switch (e->value[0] & ~UINT64_C(0xff)) {
	case QUOIT_MISFIT_DIM:
		describe_dim(e, tensor, to, size);
		break;
	case QUOIT_MISFIT_TYPE:
		describe_type(e, tensor, with, to, size);
		break;
	case QUOIT_MISFIT_OVERLAP:
		snprintf(to, size, ": %s overlaps tensor %u, which is written", tensor, with);
		break;
	case QUOIT_MISFIT_UNUSED:
		snprintf(to, size, ": this operation takes no %s", tensor);
		break;
	case QUOIT_MISFIT_ABSENT:
		snprintf(to, size, ": %s is missing", tensor);
		break;
	case QUOIT_MISFIT_PLACE:
		snprintf(to, size, ": %s is on device %u, but this operation runs on the host only",
			 tensor, with);
		break;
	case QUOIT_MISFIT_SIZE:
		snprintf(to, size,
			 ": %s has %" PRIu64
			 " elements, but a copy between host and device needs equal counts",
			 tensor, e->value[1]);
		break;
	case QUOIT_MISFIT_NOT_SHARED:
		snprintf(to, size,
			 ": %s is not in the shared region: create it with QUOIT_CREATE_SHARED, or "
			 "copy it to a tensor that is",
			 tensor);
		break;
	case QUOIT_MISFIT_READ_ONLY:
		snprintf(to, size,
			 ": %s has a name, and is open for reading only (QUOIT_SYNC_READ_ONLY)",
			 tensor);
		break;
	case QUOIT_MISFIT_NAMED:
		snprintf(to, size,
			 ": %s has a name, and no device, module or service reaches it: copy it to "
			 "one without a name",
			 tensor);
		break;
	case QUOIT_MISFIT_LOST:
		snprintf(to, size,
			 ": %s has a name, and its memory was lost: close it, and make it anew",
			 tensor);
		break;
	default:
		*to = '\0';
	}
}

static void describe_handle(const struct quoit_error *e, char *to, size_t size)
{
	if (e->value[0])
		snprintf(to, size,
			 ": %s has handle %#" PRIx64
			 ", which names no tensor, or one of another ring that quoitd does not "
			 "know yet (quoit_with_event)",
			 field_name[e->field], e->value[0]);
	else
		snprintf(to, size, ": %s is missing", field_name[e->field]);
}

/* False: no special sentence for this one. */
static bool describe_tensor(const struct quoit_error *e, char *to, size_t size)
{
	if (e->field < QUOIT_FIELD_TENSOR0 || e->field > QUOIT_FIELD_TENSOR3 ||
	    e->opcode >= QUOIT_OP_MODULE_FIRST)
		return false;
	if (e->code == -EFAULT && e->value[0] != QUOIT_MISFIT_LOST)
		return false;
	switch (e->code) {
	case -EXDEV:
		describe_places(e, to, size);
		return true;
	case -EBADF:
		describe_handle(e, to, size);
		return true;
	case -EACCES:
	case -EFAULT:
	case -EINVAL:
	case -ENOTSUP:
		describe_misfit(e, to, size);
		return true;
	case -EMSGSIZE:
		snprintf(to, size, ": %s has %" PRIu64 " bytes, allowed are %" PRIu64,
			 field_name[e->field], e->value[0], e->value[1]);
		return true;
	default:
		return false;
	}
}

/* ---- all ---- */

static void describe_memory(const struct quoit_error *e, char *to, size_t size)
{
	if (e->value[1])
		snprintf(to, size, ": needs %" PRIu64 " bytes, %" PRIu64 " of the lease are left",
			 e->value[0], e->value[1]);
	else
		snprintf(to, size, ": %" PRIu64 " bytes could not be allocated", e->value[0]);
}

/* A time in microseconds, with its unit. */
static const char *time_text(uint32_t us, char to[24])
{
	if (us < 1000)
		snprintf(to, 24, "%" PRIu32 " us", us);
	else if (us < 1000000)
		snprintf(to, 24, "%.4g ms", us / 1e3);
	else
		snprintf(to, 24, "%.4g s", us / 1e6);
	return to;
}

static const char *who_had(const struct quoit_error *e)
{
	if (e->opcode != QUOIT_OP_CALL)
		return "its module or device";
	return e->team < QUOIT_TEAM_SERVICE ? "its team" : "its service";
}

/* values: 0, QUOIT_MISSED */
static void describe_missed(const struct quoit_error *e, char *to, size_t size)
{
	const uint32_t with = (uint32_t)(e->value[1] >> 32);
	char deadline[24], had[24];

	time_text((uint32_t)e->value[1], deadline);
	if (with)
		snprintf(to, size, ": its deadline of %s passed; %s had had it for %s by then",
			 deadline, who_had(e), time_text(with, had));
	else
		snprintf(to, size, ": its deadline of %s passed before it began", deadline);
}

static void describe_time(const struct quoit_error *e, char *to, size_t size)
{
	if (e->value[0])
		snprintf(to, size, ": it had run for %" PRIu64 " ms and was ended", e->value[0]);
	else
		describe_missed(e, to, size);
}

static const char *flag_name(uint64_t flag)
{
	switch (flag) {
	case QUOIT_SQE_QUIET:
		return "QUOIT_SQE_QUIET";
	case QUOIT_SQE_AFTER_ALL:
		return "QUOIT_SQE_AFTER_ALL";
	case QUOIT_SQE_LINK:
		return "QUOIT_SQE_LINK";
	case QUOIT_SQE_INT:
		return "QUOIT_SQE_INT";
	case QUOIT_SQE_EVENT:
		return "QUOIT_SQE_EVENT";
	default:
		return NULL;
	}
}

/* Modules have their own flags; a RETURN's are those of its first word. */
static bool is_of_flags(const struct quoit_error *e)
{
	return e->field == QUOIT_FIELD_FLAGS && e->code == -EINVAL &&
	       e->opcode < QUOIT_OP_MODULE_FIRST && e->opcode != QUOIT_OP_RETURN &&
	       e->value[0] <= UINT8_MAX && e->value[0] & ~e->value[1];
}

/* values: the flags; those that are allowed */
static void describe_flags(const struct quoit_error *e, char *to, size_t size)
{
	const uint64_t bad = e->value[0] & ~e->value[1], first = bad & -bad;
	const char *name = flag_name(first);

	if (e->value[1] == (QUOIT_SQE_FLAGS & ~QUOIT_SQE_EVENT))
		snprintf(to, size,
			 ": it has an event and a link (QUOIT_SQE_EVENT, QUOIT_SQE_LINK): a job "
			 "waits for one of the two");
	else if (name)
		snprintf(to, size, ": it cannot have the flag %s", name);
	else
		snprintf(to, size, ": flags is %#" PRIx64 ", and %#" PRIx64 " is unknown",
			 e->value[0], first);
}

static bool is_file(const struct quoit_error *e)
{
	return e->opcode == QUOIT_OP_FILE_READ || e->opcode == QUOIT_OP_FILE_WRITE;
}

/* For jobs only: CREATE and VIEW describe a stride by the general text.  values: the tensor */
static void describe_stride(const struct quoit_error *e, char *to, size_t size)
{
	if (e->code == -ENOTSUP || is_file(e))
		snprintf(to, size, ": tensor %" PRIu64 " is not dense", e->value[0]);
	else
		snprintf(to, size, ": elements of tensor %" PRIu64 ", which is written, overlap",
			 e->value[0]);
}

/* values: 1 if integers were found, else 0; the tensors' type */
static void describe_scalar(const struct quoit_error *e, char *to, size_t size)
{
	snprintf(to, size, ": its scalar is %s, but its tensors are %s: use a builder %s",
		 e->value[0] ? "an integer" : "a double", type_name(e->value[1]),
		 e->value[0] ? "for doubles" : "that ends in _int");
}

/* A job that takes too long; only jobs on files count bytes. */
static void describe_large(const struct quoit_error *e, char *to, size_t size)
{
	if (is_file(e))
		snprintf(to, size,
			 ": it moves %" PRIu64 " bytes, at most %" PRIu64 " are allowed at once",
			 e->value[0], e->value[1]);
	else
		snprintf(to, size, ": it may take %.3g s on its device, allowed is %.3g s",
			 (double)e->value[0] / 1e9, (double)e->value[1] / 1e9);
}

/*
 * values: the file's index; the file system if quoitd does not write there, or 0 if the
 * descriptor's mode forbids it
 */
static void describe_file(const struct quoit_error *e, char *to, size_t size)
{
	char name[QUOIT_FILE_SYSTEM_BYTES];

	if (e->value[1])
		snprintf(to, size,
			 ": file %" PRIu64 " is on %s, where this quoitd does not write for other "
			 "users (option file-systems)",
			 e->value[0], quoit_file_system_name((uint32_t)e->value[1], name));
	else
		snprintf(to, size, ": file %" PRIu64 " is not open in that direction", e->value[0]);
}

/*
 * Describe the part after "gemm failed with EINVAL": the field, the value found, the value allowed.
 */
void libquoit_describe_field(const struct quoit_error *e, char *to, size_t size)
{
	*to = '\0';
	if (describe_tensor(e, to, size))
		return;
	if (e->field == QUOIT_FIELD_MEMORY)
		describe_memory(e, to, size);
	else if (e->field == QUOIT_FIELD_HOLDS)
		snprintf(to, size,
			 ": the program holds %" PRIu64 " tensors, at most %" PRIu64
			 " are allowed: release some",
			 e->value[0], e->value[1]);
	else if (e->field == QUOIT_FIELD_EVENT)
		snprintf(to, size,
			 ": its event is entry %" PRIu64 " of ring %" PRIu64
			 ": no such entry was put in, or it comes after this job",
			 e->value[1], e->value[0]);
	else if (e->field == QUOIT_FIELD_FUNCTION && e->value[1])
		snprintf(to, size,
			 ": its team or service has no function %" PRIu64 ": it has %" PRIu64,
			 e->value[0], e->value[1]);
	else if (e->field == QUOIT_FIELD_FUNCTION)
		snprintf(to, size,
			 ": the team or service of function %" PRIu64 " was closed, or never was",
			 e->value[0]);
	else if (e->field == QUOIT_FIELD_NAMED)
		snprintf(to, size,
			 ": the session has no tensor with a name of number %" PRIu64
			 ": it was closed, or never opened",
			 e->value[0]);
	else if (e->field == QUOIT_FIELD_SERVICE)
		describe_service(e, to, size);
	else if (e->field == QUOIT_FIELD_REVISION)
		describe_revision(e, to, size);
	else if (e->field == QUOIT_FIELD_BYTES)
		snprintf(to, size, ": it takes %" PRIu64 " bytes, and there is room for %" PRIu64,
			 e->value[0], e->value[1]);
	else if (e->opcode == QUOIT_OP_RELEASE && e->code == -ENOENT)
		snprintf(to, size, ": nothing is held by an acquire with SQ index %" PRIu64,
			 e->value[0]);
	else if (e->field == QUOIT_FIELD_EXECUTOR && !e->value[0])
		describe_lost(e, to, size);
	else if (e->field == QUOIT_FIELD_EXECUTOR)
		describe_death(e, to, size);
	else if (is_device_fault(e))
		describe_device_fault(e, to, size);
	else if (is_of_kernel(e))
		describe_kernel(e, to, size);
	else if (is_of_operation(e))
		snprintf(to, size, ": there is no operation %" PRId32, (int32_t)e->value[0]);
	else if (e->field == QUOIT_FIELD_ARG && takes_axis(e->opcode))
		describe_axis(e, to, size);
	else if (e->field == QUOIT_FIELD_DEADLINE && e->code == -ETIME)
		describe_time(e, to, size);
	else if (is_of_flags(e))
		describe_flags(e, to, size);
	else if (e->field == QUOIT_FIELD_OPCODE && e->code == -ENOTSUP)
		snprintf(to, size,
			 ": it is switched off, or not available for these tensors where they are");
	else if (e->field == QUOIT_FIELD_STRIDE && e->opcode != QUOIT_OP_CREATE &&
		 e->opcode != QUOIT_OP_VIEW)
		describe_stride(e, to, size);
	else if (e->field == QUOIT_FIELD_FILE && e->code == -EACCES)
		describe_file(e, to, size);
	else if (e->field == QUOIT_FIELD_DIM && e->code == -E2BIG)
		describe_large(e, to, size);
	else if (e->field == QUOIT_FIELD_SCALAR_KIND)
		describe_scalar(e, to, size);
	else if (e->opcode == QUOIT_OP_GATHER && e->code == -ERANGE)
		snprintf(to, size,
			 ": an index is %" PRId64 ", but the axis has only %" PRIu64 " elements",
			 (int64_t)e->value[0], e->value[1]);
	else if (e->field < QUOIT_FIELD_NR && field_name[e->field])
		snprintf(to, size, ": %s is %" PRId64 ", allowed is %" PRId64, field_name[e->field],
			 (int64_t)e->value[0], (int64_t)e->value[1]);
}
