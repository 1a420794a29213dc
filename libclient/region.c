/* SPDX-License-Identifier: MIT */
/* region.c - quoit_alloc and quoit_dealloc: the arena that both sides see, and how it grows */
#include "library.h"

/* ---- growth ---- */

uint64_t libquoit_arena_bytes(const struct quoit_session *s)
{
	return __atomic_load_n(&s->info.arena_bytes, __ATOMIC_RELAXED);
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + QUOIT_CTL_PAGE - 1) / QUOIT_CTL_PAGE * QUOIT_CTL_PAGE;
}

static bool become(struct quoit_session *s, uint64_t bytes)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA_MORE, .arena_more.bytes = bytes};

	if (libquoit_shared_more(&s->shared, s->info.arena_bytes, bytes) ||
	    libquoit_control_ask(s, &m, -1))
		return false;
	__atomic_store_n(&s->info.arena_bytes, bytes, __ATOMIC_RELAXED);
	libquoit_arena_extend(&s->arena, bytes);
	return true;
}

bool libquoit_arena_grow(struct quoit_session *s, uint64_t seen, uint64_t more)
{
	uint64_t most = s->info.arena_bytes_most, bytes, least;
	bool grown;

	pthread_mutex_lock(&s->growing);
	bytes = s->info.arena_bytes;
	grown = bytes != seen;
	if (!grown && more && more <= most - bytes) {
		least = whole_pages(bytes + more);
		bytes = 2 * bytes > least ? whole_pages(2 * bytes) : least;
		bytes = bytes > most ? most : bytes;
		grown = (bytes > least && become(s, bytes)) || (least <= most && become(s, least));
	}
	pthread_mutex_unlock(&s->growing);
	return grown;
}

/* ---- calls ---- */

void *quoit_alloc(struct quoit_session *s, size_t size)
{
	void *memory;
	uint64_t seen;

	if (!libquoit_is_mine(s->mine))
		return NULL;
	do {
		seen = libquoit_arena_bytes(s);
		memory = libquoit_arena_take(&s->arena, size);
	} while (!memory && libquoit_arena_grow(s, seen, size));
	return memory;
}

void quoit_dealloc(struct quoit_session *s, void *memory)
{
	if (libquoit_is_mine(s->mine))
		libquoit_arena_give(&s->arena, memory);
}
