/* SPDX-License-Identifier: MIT */
/* share.h - compare users' part of the cores with the part that their shares allow */
#ifndef QUOIT_TOOLS_SHARE_H
#define QUOIT_TOOLS_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "control.h"

struct user_sums;

struct reading {
	bool known;
	double value;
};

/* Figures of the time of the look. */
struct share_got {
	struct reading cores;        /* mean number */
	struct reading gets_percent; /* of the time that all users got */
	/* the user's share, in percent of the shares of all active users */
	struct reading may_percent;
};

/* A user in quoitd's list. */
struct listed {
	struct quoit_user_reply user;
	char where[CONTROL_TEXT_BYTES];
	struct share_got got;
};

struct users_list {
	struct listed *list;
	size_t count, room;
};

/*
 * Look for half a second what these users get, by the counter files beside the socket.  Figures
 * that these do not have stay unknown.
 */
void share_look(const char *socket, struct users_list *users);

/*
 * Compute the figures from the sums of two readings that lie span_ns apart.  all: every session
 * could be read, so that parts of the whole can be told.  Pure.
 */
void share_count(const struct user_sums *sums, double span_ns, bool all, struct users_list *users);

#endif
