/* SPDX-License-Identifier: MIT */
/*
 * session_file.h - a session's files in the runtime directory, readable for its user, for us and
 * for a group that may be named.
 *
 * They are output only: the daemon never reads back what lies there.
 */
#ifndef QUOITD_SESSION_FILE_H
#define QUOITD_SESSION_FILE_H

#include "session/session.h"

/* Remove what a killed quoitd has left in this directory, which is ours alone. */
void session_files_sweep(int directory);

/*
 * Let members of this group read the files that are made from now on, except traces.  (gid_t)-1: no
 * group may, as at the start.  Control thread.
 */
void session_files_let_read(gid_t gid);

/*
 * Make and map a file; `format` is its name (QUOIT_STATS_SESSION, ...).  All its pages are
 * allocated and written to, so that later writes meet no full disk and change no times that another
 * user can ask for.  -errno: there is no file and *ret_map is NULL, or its user cannot read it.
 */
int session_file_open(const struct session *s, int directory, const char *format, size_t size,
		      int *ret_fd, void **ret_map);

/* Remove the file and free its pages, as a reader may keep it open.  fd -1: there is none. */
void session_file_remove(uint64_t session, int directory, const char *format, int fd);

#endif
