/* SPDX-License-Identifier: MIT */
/*
 * session_file.h - makes and removes a session's files, which lie in a folder that is closed to
 * other users (session_folder.h).
 *
 * They are output only: the daemon never reads back what lies there.
 */
#ifndef QUOITD_SESSION_FILE_H
#define QUOITD_SESSION_FILE_H

#include "session/session.h"

/*
 * Let members of this group read the files that are made from now on, except traces.  (gid_t)-1: no
 * group may, as at the start.  Control thread.
 */
void session_files_let_read(gid_t gid);

/*
 * Make and map a file; `format` is its name in the socket's directory (QUOIT_STATS_SESSION, ...).
 * All its pages are allocated and written to, so that later writes meet no full disk, and change no
 * times.  *ret_fd: a descriptor for reading only, which clients may get.  -errno: there is no file,
 * and *ret_map is NULL.
 */
int session_file_open(const struct session *s, int directory, const char *format, size_t size,
		      int *ret_fd, void **ret_map);

/* Remove the file and free its pages, as a reader may keep it open.  fd -1: there is none. */
void session_file_remove(uint64_t session, int directory, const char *format, int fd);

#endif
