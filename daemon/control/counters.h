/* SPDX-License-Identifier: MIT */
/*
 * counters.h - hands users descriptors of the files of their own sessions.
 *
 * The files lie in a folder that is closed to other users (observe/session_folder.h), since names,
 * times and access lists of files would tell everybody who has sessions, and since when.  A
 * descriptor of a folder would be simpler.  But a client in a container could pass it to the
 * container's root, whom ".." would lead from there to the machine's files.
 */
#ifndef QUOITD_COUNTERS_H
#define QUOITD_COUNTERS_H

#include "connection.h"

/* The lowest session numbers that are not below `from`, in order. */
struct counters_list {
	uint64_t from;
	struct quoit_counters_reply *to;
};

void counters_list_add(struct counters_list *list, uint64_t session);

/* QUOIT_CTL_COUNTERS: list the caller's sessions, or hand out one file.  Control thread. */
void counters_request(struct connection *c, const struct quoit_ctl *m);

#endif
