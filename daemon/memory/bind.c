/* SPDX-License-Identifier: MIT */
/* bind.c - binds a session's memory to its reactor's node */
#include "bind.h"

#include <string.h>

#include "base/affinity.h"
#include "base/log.h"
#include "session/session.h"

struct part {
	void *start; /* NULL: there is none */
	uint64_t bytes;
};

static int bind_parts(const struct session *s, const struct part *parts, unsigned count,
		      int32_t node)
{
	int err = 0;

	for (unsigned i = 0; !err && i < count; i++)
		if (parts[i].start)
			err = affinity_prefer_node(parts[i].start, parts[i].bytes, (uint32_t)node);
	if (err < 0)
		log_session(s, "session %llu: memory is not bound to node %d: %s",
			    (unsigned long long)s->id, node, strerror(-err));
	return err;
}

void bind_session(struct session *s, int32_t node)
{
	const struct part parts[] = {{s->state, s->state_bytes},
				     {s->region.base, s->region.bytes},
				     {s->pinned, s->pinned_bytes}};

	if (!bind_parts(s, parts, sizeof parts / sizeof parts[0], node))
		s->memory_node = node;
}

void bind_pinned(const struct session *s, int32_t node)
{
	const struct part pinned = {s->pinned, s->pinned_bytes};

	(void)bind_parts(s, &pinned, 1, node);
}
