/* SPDX-License-Identifier: MIT */
/* users.c - keeps the users that have sessions */
#include "users.h"

#include <errno.h>
#include <stdlib.h>

struct user *users_find(const struct users *u, uid_t uid)
{
	struct user *user = u->first;

	while (user && user->uid != uid)
		user = user->next;
	return user;
}

/*
 * What a user has had of workers and executors is counted by its number.  So a user gets the number
 * that it had, or else the one that has been free for the longest.  USERS: all are taken.
 */
static uint32_t choose_number(const struct users *u, uid_t uid)
{
	uint32_t best = USERS;

	for (uint32_t i = 0; i < USERS; i++) {
		if (u->number[i].taken)
			continue;
		if (u->number[i].left && u->number[i].uid == uid)
			return i;
		if (best == USERS || u->number[i].left < u->number[best].left)
			best = i;
	}
	return best;
}

static int add(struct users *u, uid_t uid, uint32_t share, struct user **ret)
{
	uint32_t number = choose_number(u, uid);
	struct user *user;

	if (number == USERS)
		return -EUSERS;
	user = calloc(1, sizeof *user + u->reactors * sizeof user->tenant[0]);
	if (!user)
		return -ENOMEM;
	user->uid = uid;
	user->number = number;
	user->share = share;
	user->next = u->first;
	for (uint32_t i = 0; i < u->reactors; i++)
		user->tenant[i].user = user;
	u->first = user;
	u->number[number].taken = true;
	*ret = user;
	return 0;
}

int users_join(struct users *u, uid_t uid, uint32_t share, struct user **ret)
{
	int err = 0;

	*ret = users_find(u, uid);
	if (!*ret)
		err = add(u, uid, share, ret);
	if (!err)
		(*ret)->sessions++;
	return err;
}

void users_leave(struct users *u, struct user *user)
{
	struct user **link = &u->first;

	if (--user->sessions)
		return;
	while (*link != user)
		link = &(*link)->next;
	*link = user->next;
	u->number[user->number].taken = false;
	u->number[user->number].uid = user->uid;
	u->number[user->number].left = ++u->left;
	free(user);
}
