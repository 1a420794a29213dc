/* SPDX-License-Identifier: MIT */
/*
 * links.h - lists of sessions that one enters and leaves in no time, however many there are.
 *
 * A list is a pointer to the first one; each list has a `struct links` of its own in the session.
 */
#ifndef QUOITD_LINKS_H
#define QUOITD_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct session;

/* Where a session is in a list; zeros: it is not there. */
struct links {
	struct session *next;
	struct session **from; /* what points to it; NULL: nothing */
};

/* Its links in the session, which are the `at` bytes from its beginning. */
static inline struct links *links_of(struct session *s, size_t at)
{
	return (struct links *)((char *)s + at);
}

static inline bool links_has(const struct links *l)
{
	return l->from != NULL;
}

/* As the first; one that is there stays where it is. */
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

/* One that is not there is fine. */
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
