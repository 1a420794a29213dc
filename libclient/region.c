/* SPDX-License-Identifier: MIT */
/* region.c - quoit_alloc and quoit_dealloc: the arena that both sides see, and its growth */
#include <errno.h>
#include <inttypes.h>

#include "clock.h"
#include "control.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"
#include "region.h"

/*
 * For this long after a refusal the library does not ask for as much memory again, which saves a
 * round trip.  Memory that other processes of the user free meanwhile is noticed only afterwards;
 * pieces that are given back to the arena are found at once.
 */
#define ARENA_REFUSED_NS UINT64_C(100000000)

/* ---- growth ---- */

uint64_t libquoit_arena_bytes(const struct quoit_session *s)
{
	return __atomic_load_n(&s->arena_bytes, __ATOMIC_RELAXED);
}

static int ask(struct quoit_session *s, uint64_t bytes)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_ARENA_MORE, .arena_more.bytes = bytes};

	return libquoit_control_ask(s, &m, -1);
}

/*
 * Ask before there are pages, since the seals keep us from giving pages back.  quoitd looks at the
 * user's limit first: it misses the pages (-EFAULT) only if it would charge for them.  If another
 * session takes what is left just then, the second answer is a refusal that costs pages.
 */
static int claim(struct quoit_session *s, uint64_t bytes)
{
	const uint64_t from = s->info.shared_bytes + s->arena_bytes;
	const uint64_t upto = s->info.shared_bytes + bytes;
	int err = ask(s, bytes);

	if (err != -EFAULT)
		return err;
	err = libquoit_shared_more(&s->shared, from, upto);
	if (!err)
		err = ask(s, bytes);
	if (err)
		libquoit_shared_less(&s->shared, from, upto);
	else
		libquoit_text_set("no error");
	return err;
}

static bool become(struct quoit_session *s, uint64_t bytes)
{
	if (claim(s, bytes))
		return false;
	__atomic_store_n(&s->arena_bytes, bytes, __ATOMIC_RELAXED);
	libquoit_arena_extend(&s->arena, bytes);
	return true;
}

/* Was this much, or less, refused a moment ago? */
static bool is_refused(const struct quoit_session *s, uint64_t bytes)
{
	return s->arena_refused && bytes >= s->arena_refused &&
	       clock_ns() - s->arena_refused_ns < ARENA_REFUSED_NS;
}

static void note_refusal(struct quoit_session *s, uint64_t bytes)
{
	s->arena_refused = bytes;
	s->arena_refused_ns = clock_ns();
}

/* Double the arena if possible; otherwise grow it by the least that is needed. */
static bool grow(struct quoit_session *s, uint64_t least)
{
	uint64_t bytes = libquoit_whole_pages(2 * s->arena_bytes), most = s->info.arena_bytes_most;

	bytes = bytes > most ? most : bytes;
	if (least > most || is_refused(s, least))
		return false;
	if (bytes > least && !is_refused(s, bytes)) {
		if (become(s, bytes))
			return true;
		note_refusal(s, bytes);
	}
	if (become(s, least))
		return true;
	note_refusal(s, least);
	return false;
}

bool libquoit_arena_grow(struct quoit_session *s, uint64_t seen, uint64_t more)
{
	bool grown;

	pthread_mutex_lock(&s->growing);
	grown = s->arena_bytes != seen;
	if (!grown && more && more <= s->info.arena_bytes_most - seen)
		grown = grow(s, libquoit_whole_pages(seen + more));
	pthread_mutex_unlock(&s->growing);
	return grown;
}

/* ---- calls ---- */

void *quoit_alloc(struct quoit_session *s, size_t size)
{
	void *memory;
	uint64_t seen;

	if (!libquoit_is_mine(s->mine)) {
		(void)libquoit_text_refuse_child();
		return NULL;
	}
	do {
		seen = libquoit_arena_bytes(s);
		memory = libquoit_arena_take(&s->arena, size);
	} while (!memory && libquoit_arena_grow(s, seen, size));
	if (!memory)
		libquoit_text_set("the session's arena of %" PRIu64
				  " bytes has no %zu bytes in one piece "
				  "left, and cannot grow by them: at most %" PRIu64
				  " bytes are allowed (quoit_open_params.arena_bytes)",
				  seen, size, s->info.arena_bytes_most);
	return memory;
}

void quoit_dealloc(struct quoit_session *s, void *memory)
{
	if (libquoit_is_mine(s->mine))
		libquoit_arena_give(&s->arena, memory);
}
