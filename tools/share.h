/* SPDX-License-Identifier: MIT */
/* share.h - what users get of the cores, beside what they may by their shares */
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

/* While it was looked at. */
struct share_got {
	struct reading cores;        /* on average */
	struct reading gets_percent; /* of the time that all users had */
	struct reading may_percent;  /* its share, of those of all who had or wanted some */
};

/* A user that quoitd has told of. */
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
 * Look for half a second what these users get, by the counter files beside the socket.  What those
 * do not say stays unknown.
 */
void share_look(const char *socket, struct users_list *users);

/*
 * By the sums of two readings so many ns apart.  all: there is no session that could not be read,
 * so that parts of a whole can be told.  Pure.
 */
void share_count(const struct user_sums *sums, double span_ns, bool all, struct users_list *users);

#endif
