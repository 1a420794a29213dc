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

int libquoit_refuse_reserved(struct quoit_ring *q, const struct quoit_sqe *sqe)
{
	const int kernel = (int)sqe->reserved0;

	if (sqe->opcode != QUOIT_OP_LAUNCH)
		return libquoit_refuse(q, -EINVAL, "reserved0 of the SQE is %#x: it must be 0",
				       sqe->reserved0);
	return kernel < 0
		       ? libquoit_refuse(q, -EINVAL,
					 "there is no kernel %d: registering it has failed", kernel)
		       : libquoit_refuse(q, -EINVAL, "there is no kernel %d: allowed are 0 to %u",
					 kernel, QUOIT_MAX_KERNELS - 1);
}

int libquoit_refuse_tensor(struct quoit_ring *q, int error, quoit_tensor t)
{
	return t == QUOIT_NO_TENSOR
		       ? libquoit_refuse(q, error,
					 "the tensor is QUOIT_NO_TENSOR (0): making it has failed")
		       : libquoit_refuse(
				 q, error,
				 "handle %#x names no tensor of this session: it was freed, or is "
				 "another session's",
				 t);
}

const char *quoit_error_text(const struct quoit_ring *q)
{
	return q ? q->refusal.text : quoit_open_text();
}
