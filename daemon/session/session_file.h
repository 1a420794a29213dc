/* SPDX-License-Identifier: MIT */
/*
 * session_file.h - files of a session in the runtime directory, for its user and us to read, and a
 * group that may be named.
 *
 * They are output only: the daemon never reads back what lies there.
 */
#ifndef QUOITD_SESSION_FILE_H
#define QUOITD_SESSION_FILE_H

#include "session.h"

/* Remove what a quoitd that was killed has left in this directory, which is ours alone. */
void session_files_sweep(int directory);

/*
 * Members of this group may read the files of all sessions, but traces; of those that are made from
 * now on.  (gid_t)-1: no group may, as at the start.  Control thread.
 */
void session_files_let_read(gid_t gid);

/*
 * Make and map a file; `format` is its name (QUOIT_STATS_SESSION, ...).  All of its pages are
 * there, and have been written to: neither a full disk nor the times that anybody can ask a file
 * for are met later.  -errno: there is none and *ret_map is NULL, or its user cannot read it.
 */
int session_file_open(const struct session *s, int directory, const char *format, size_t size,
		      int *ret_fd, void **ret_map);

/* Remove it, and give its pages back: somebody may have it open for ever.  fd -1: there is none. */
void session_file_remove(uint64_t session, int directory, const char *format, int fd);

#endif
