/* SPDX-License-Identifier: MIT */
/*
 * links.h - lists of sessions that a session joins and leaves in constant time.
 *
 * A list is a pointer to its first session; a session has a `struct links` for each list.
 */
#ifndef QUOITD_LINKS_H
#define QUOITD_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct session;

/* A session's place in a list; zeros: it is not there. */
struct links {
	struct session *next;
	struct session **from; /* the pointer to it; NULL: not in the list */
};

/* The links that lie `at` bytes from the session's start. */
static inline struct links *links_of(struct session *s, size_t at)
{
	return (struct links *)((char *)s + at);
}

static inline bool links_has(const struct links *l)
{
	return l->from != NULL;
}

/* Put the session first; if it is there already, it keeps its place. */
static inline void links_add(struct session **list, struct session *s, size_t at)
{
	struct links *l = links_of(s, at);

	if (l->from)
		return;
	l->next = *list;
	l->from = list;
	if (*list)
		links_of(*list, at)->from = &l->next;
	*list = s;
}

/* Remove the session, if it is there. */
static inline void links_remove(struct session *s, size_t at)
{
	struct links *l = links_of(s, at);

	if (!l->from)
		return;
	*l->from = l->next;
	if (l->next)
		links_of(l->next, at)->from = l->from;
	*l = (struct links){0};
}

#define LINKS_ADD(list, s, name)         links_add((list), (s), offsetof(struct session, name))
#define LINKS_REMOVE(s, name)            links_remove((s), offsetof(struct session, name))
#define for_each_session(s, first, name) for (struct session *s = (first); s; s = s->name.next)

#endif
