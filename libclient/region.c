/* SPDX-License-Identifier: MIT */
/* region.c - quoit_alloc and quoit_dealloc: the arena that both sides see */
#include "library.h"

void *quoit_alloc(struct quoit_session *s, size_t size)
{
	return libquoit_is_mine(s->mine) ? libquoit_arena_take(&s->arena, size) : NULL;
}

void quoit_dealloc(struct quoit_session *s, void *memory)
{
	if (libquoit_is_mine(s->mine))
		libquoit_arena_give(&s->arena, memory);
}
