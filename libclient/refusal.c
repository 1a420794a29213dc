/* SPDX-License-Identifier: MIT */
/* refusal.c - say in words why the library itself refused a call on a session or a ring */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "library.h"
#include "refusal.h"

#define CHILD                                                                                      \
	"the session belongs to the process that called fork(): the child must open one of its own"

int libquoit_text_refuse_child(void)
{
	return libquoit_text_refuse(-EOWNERDEAD, CHILD);
}

int libquoit_text_refuse_memory(void)
{
	return libquoit_text_refuse(-ENOMEM, "there is not enough memory");
}

int libquoit_text_refuse_reply(void)
{
	return libquoit_text_refuse(-EPROTO, "quoitd sent an invalid reply");
}

int libquoit_text_refuse_flags(unsigned flags, unsigned known, const char *names)
{
	return libquoit_text_refuse(-EINVAL, "unknown flags %#x: allowed are %#x (%s)",
				    flags & ~known, known, names);
}

int libquoit_refuse(struct quoit_ring *q, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(q->refusal.text, sizeof q->refusal.text, format, args);
	va_end(args);
	q->refusal.error = error;
	return error;
}

int libquoit_refuse_child(struct quoit_ring *q)
{
	return libquoit_refuse(q, -EOWNERDEAD, CHILD);
}

int libquoit_refuse_late(struct quoit_ring *q)
{
	static const char text[] = "the timeout has passed; what the call waits for goes on";

	memcpy(q->refusal.text, text, sizeof text);
	q->refusal.error = -ETIME;
	return -ETIME;
}

int libquoit_refuse_broken(struct quoit_ring *q)
{
	return libquoit_refuse(q, q->broken, "%s",
			       q->broken == -EPROTO ? "quoitd wrote impossible values into the ring"
						    : "quoitd has gone, or has ended the session");
}

int libquoit_refuse_job(struct quoit_ring *q)
{
	return libquoit_refuse(
		q, -EINVAL,
		"this ring has no such job: it was waited for or detached, or belongs to another "
		"ring");
}

int libquoit_refuse_raw(struct quoit_ring *q)
{
	return libquoit_refuse(
		q, -EINVAL,
		"the ring was opened with QUOIT_RING_RAW, so its jobs have no names to wait for: "
		"reap its CQEs with quoit_peek");
}

/* An error code instead of a number, or a number above `most`. */
static int refuse_number(struct quoit_ring *q, const char *what, const char *getting, int number,
			 unsigned most)
{
	if (number < 0)
		return libquoit_refuse(q, -EINVAL, "there is no %s %d: %s it has failed", what,
				       number, getting);
	return libquoit_refuse(q, -EINVAL, "there is no %s %d: allowed are 0 to %u", what, number,
			       most);
}

int libquoit_refuse_reserved(struct quoit_ring *q, const struct quoit_sqe *sqe)
{
	const int number = (int)sqe->reserved0;
	const bool is_cut = number != (uint8_t)number; /* quoit_op4 and quoit_op_arg keep 8 bits */

	if (is_cut && sqe->opcode == QUOIT_OP_LAUNCH && sqe->arg == (uint8_t)number)
		return refuse_number(q, "kernel", "registering", number, QUOIT_MAX_KERNELS - 1);
	if (sqe->flags & QUOIT_SQE_EVENT && sqe->reserved0 == UINT32_MAX)
		return libquoit_refuse(q, -EINVAL,
				       "the event was not recorded: quoit_record_event or "
				       "quoit_get_event makes one");
	if (sqe->opcode == QUOIT_OP_CALL && sqe->function == (uint8_t)number)
		return libquoit_refuse(
			q, -EINVAL,
			"there is no function %d: take the number from quoit_find_function or "
			"quoit_find_service_function, and look at its error",
			number);
	if (is_cut && sqe->opcode == (uint8_t)number)
		return refuse_number(q, "operation", "finding", number, QUOIT_OP_NR - 1);
	if (is_cut && sqe->arg == (uint8_t)number)
		return libquoit_refuse(q, -EINVAL, "the argument is %d: allowed are 0 to %u",
				       number, UINT8_MAX);
	return libquoit_refuse(q, -EINVAL, "reserved0 of the SQE is %#x: it must be 0",
			       sqe->reserved0);
}

int libquoit_refuse_tensor(struct quoit_ring *q, int error, quoit_tensor t)
{
	const char *why = q->unmade.refusal;

	if (t == QUOIT_NO_TENSOR)
		return libquoit_refuse(
			q, error, "the tensor is QUOIT_NO_TENSOR (0): making it has failed%s%s",
			*why ? ": " : "", why);
	return libquoit_refuse(q, error,
			       "handle %#x names no tensor of this session: it was freed, or is "
			       "another session's",
			       t);
}

const char *quoit_error_text(const struct quoit_ring *q)
{
	return q ? q->refusal.text : quoit_open_text();
}
