/* SPDX-License-Identifier: MIT */
/* reduce.c - put a reduction into a stream. */
#include <errno.h>

#include <quoit/families.h>

#include "context.h"
#include "kernels/reduce_plan.h"

int reduce_run(struct quoit_device_stream *s, const struct quoit_device_call *call)
{
	struct reduce_plan plan;
	int err;

	if (!reduce_describe(call, &plan))
		return 0;
	if (plan.inner.count == 0 && quoit_needs_element(call->opcode))
		return -EINVAL;
	if (plan.parts > 1) {
		err = stream_scratch(s, plan.outer.count * plan.parts * KERNEL_PARTIAL,
				     &plan.partial);
		if (err)
			return err;
	}
	return device_check(s->device, kernel_reduce(&plan, s->stream));
}
