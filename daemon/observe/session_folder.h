/* SPDX-License-Identifier: MIT */
/*
 * session_folder.h - the folder of sessions' files, which is closed to other users.
 *
 * Were the files beside the socket, their names, times and access lists would tell every user of
 * the machine who has sessions, and since when.  So they lie in a folder of their own.  Only root,
 * quoitd's user and one group, which option stats-group names, can look into it.  Other users ask quoitd for
 * their own sessions' files (control/counters.h).
 */
#ifndef QUOITD_SESSION_FOLDER_H
#define QUOITD_SESSION_FOLDER_H

#include <sys/types.h>

/*
 * Make the folder in the socket's directory, or take one that a former quoitd has left, and remove
 * what that left in it.  Returns a descriptor, which keeps cleaners away from the folder while it is
 * open; or -errno, after a log line.
 */
int session_folder_make(int directory);

/*
 * Let members of this group look into the folder, and read the files that are made from now on,
 * except traces.  (gid_t)-1: no group may.  Control thread.
 */
void session_folder_let_read(int directory, gid_t gid);

/* quoitd ends: remove the folder.  fd: from session_folder_make. */
void session_folder_remove(int directory, int fd);

#endif
