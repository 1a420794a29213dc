/* SPDX-License-Identifier: MIT */
/* users.c - who has sessions */
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

static int add(struct users *u, uid_t uid, uint32_t share, struct user **ret)
{
	struct user *user;
	uint32_t number = 0;

	while (number < USERS && u->taken[number])
		number++;
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
	u->taken[number] = true;
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
	u->taken[user->number] = false;
	free(user);
}
