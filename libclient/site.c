/* SPDX-License-Identifier: MIT */
/* site.c - the places in the program that wait on a ring */
#include "site.h"

#include <string.h>

void libquoit_site_init(struct site_table *t, struct quoit_site *site)
{
	*t = (struct site_table){.site = site, .used = 1};
}

/* The file name without folders; of a name that is too long, the end. */
static const char *short_name(const char *here)
{
	const size_t room = sizeof((struct quoit_site *)NULL)->name - 1;
	const char *slash = strrchr(here, '/');
	size_t length;

	if (slash)
		here = slash + 1;
	length = strlen(here);
	return length > room ? here + (length - room) : here;
}

static uint32_t find_name(struct site_table *t, const char *name)
{
	for (uint32_t i = 1; i < t->used; i++)
		if (!strcmp(t->site[i].name, name))
			return i;
	if (t->used == QUOIT_MAX_SITES)
		return 0;
	strcpy(t->site[t->used].name, name); /* cut to fit by short_name */
	return t->used++;
}

uint32_t libquoit_site_find(struct site_table *t, const char *here)
{
	/* Texts of one file lie close together: the low bits of their addresses differ most. */
	uint32_t at = (uint32_t)((uintptr_t)here ^ (uintptr_t)here >> 6) % SITE_CACHE;

	if (!here)
		return 0;
	if (t->cache[at].here != here) {
		t->cache[at].index = find_name(t, short_name(here));
		t->cache[at].here = here;
	}
	return t->cache[at].index;
}

void libquoit_site_count(struct site_table *t, uint32_t index, uint64_t ticks)
{
	struct quoit_site *s = &t->site[index];

	__atomic_store_n(&s->ticks, s->ticks + ticks, __ATOMIC_RELAXED);
	if (ticks > s->longest)
		__atomic_store_n(&s->longest, ticks, __ATOMIC_RELAXED);
	/* Release: a reader that sees the count sees the name and the times. */
	__atomic_store_n(&s->waits, s->waits + 1, __ATOMIC_RELEASE);
}
