/* SPDX-License-Identifier: MIT */
/* refusal.c - why the library itself refused a call on a ring, in words */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "library.h"

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
	return libquoit_refuse(q, -EOWNERDEAD,
			       "the session is that of the process that called fork(): a child "
			       "opens one of its own");
}

int libquoit_refuse_broken(struct quoit_ring *q)
{
	return libquoit_refuse(q, q->broken, "%s",
			       q->broken == -EPROTO
				       ? "quoitd wrote into the ring what makes no sense"
				       : "quoitd has gone, or has ended the session");
}

int libquoit_refuse_job(struct quoit_ring *q)
{
	return libquoit_refuse(
		q, -EINVAL,
		"there is no such job on this ring: it was waited for or detached, or "
		"is another ring's");
}

int libquoit_refuse_raw(struct quoit_ring *q)
{
	return libquoit_refuse(
		q, -EINVAL,
		"the ring was opened with QUOIT_RING_RAW: it has no jobs by name and "
		"no waits for them, its CQEs are reaped with quoit_peek");
}

int libquoit_refuse_tensor(struct quoit_ring *q, int error, quoit_tensor t)
{
	return t == QUOIT_NO_TENSOR
		       ? libquoit_refuse(q, error,
					 "the tensor is QUOIT_NO_TENSOR (0): it was not made")
		       : libquoit_refuse(q, error,
					 "handle %#x is no tensor of this session, or was freed",
					 t);
}

const char *quoit_error_text(const struct quoit_ring *q)
{
	return q ? q->refusal.text : quoit_open_text();
}
