/* SPDX-License-Identifier: MIT */
/* own_processes.c - users that have device processes of their own */
#include "own_processes.h"

#include <errno.h>

void own_init(struct own_processes *o)
{
	*o = (struct own_processes){0};
	pthread_mutex_init(&o->lock, NULL);
}

void own_done(struct own_processes *o)
{
	pthread_mutex_destroy(&o->lock);
}

static struct own_user *find(struct own_processes *o, uint64_t owner)
{
	for (uint32_t i = 0; i < CONFIG_OWN_USERS; i++)
		if (o->user[i].owner == owner)
			return &o->user[i];
	return NULL;
}

/*
 * A free place, or that of the user without a session for longest; NULL: all users have sessions.
 */
static struct own_user *find_room(struct own_processes *o)
{
	struct own_user *best = find(o, 0);

	for (uint32_t i = 0; !best && i < CONFIG_OWN_USERS; i++)
		if (!o->user[i].sessions)
			best = &o->user[i];
	for (uint32_t i = 0; best && best->owner && i < CONFIG_OWN_USERS; i++)
		if (!o->user[i].sessions && o->user[i].left < best->left)
			best = &o->user[i];
	return best;
}

int own_take(struct own_processes *o, uid_t uid)
{
	struct own_user *u;
	int place = -EUSERS;

	pthread_mutex_lock(&o->lock);
	u = find(o, uid + UINT64_C(1));
	if (!u) {
		u = find_room(o);
		if (u)
			*u = (struct own_user){.owner = uid + UINT64_C(1)};
	}
	if (u) {
		u->sessions++;
		place = (int)(u - o->user);
	}
	pthread_mutex_unlock(&o->lock);
	return place;
}

void own_give(struct own_processes *o, uid_t uid, uint64_t now)
{
	struct own_user *u;

	pthread_mutex_lock(&o->lock);
	u = find(o, uid + UINT64_C(1));
	u->left = now;
	u->sessions--;
	pthread_mutex_unlock(&o->lock);
}

uint64_t own_wanted(struct own_processes *o, uint32_t place, uint64_t now, uint64_t *ret_due)
{
	struct own_user *u = &o->user[place];
	uint64_t owner;

	*ret_due = UINT64_MAX;
	pthread_mutex_lock(&o->lock);
	if (u->owner && !u->sessions && now >= u->left + OWN_LINGER_NS)
		u->owner = 0;
	else if (u->owner && !u->sessions)
		*ret_due = u->left + OWN_LINGER_NS;
	owner = u->owner;
	pthread_mutex_unlock(&o->lock);
	return owner;
}
