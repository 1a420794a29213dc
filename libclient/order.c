/* SPDX-License-Identifier: MIT */
/* order.c - events: points in a ring's jobs for which jobs of other rings wait */
#include <errno.h>

#include "alone.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"

static int publish(struct quoit_ring *q, uint32_t index, struct quoit_event *ret)
{
	int err = quoit_flush(q);

	if (err)
		return err;
	*ret = (struct quoit_event){.ring = q->index + 1, .index = index};
	return 0;
}

int quoit_record_event(struct quoit_ring *q, struct quoit_event *ret)
{
	int err = quoit_push(q, quoit_after_all());

	return err ? err : publish(q, q->sq.next - 1, ret);
}

int quoit_get_event(struct quoit_ring *q, quoit_job job, struct quoit_event *ret)
{
	const struct job_slot *slot;
	int err = libquoit_job_check(q);

	if (err)
		return err;
	slot = libquoit_job_find(q, job);
	return slot ? publish(q, slot->sq_index, ret) : libquoit_refuse_job(q);
}
