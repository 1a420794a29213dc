/* SPDX-License-Identifier: MIT */
/*
 * files.h - the open files that a session has given us, and which jobs use them.
 *
 * A client opens, we only read and write what it passed: no paths, no rights of ours.
 * A file that is removed stays open until the last job that names it has ended, and
 * its index is not given out before.
 *
 * files_check asks the file's server: it is for the threads of errands.h alone; the rest belongs
 * to the session's reactor.
 */
#ifndef QUOITD_FILES_H
#define QUOITD_FILES_H

#include "session.h"

enum files_mode {
	FILES_READ = 1,
	FILES_WRITE = 2,
};

/*
 * Can jobs use this descriptor?  *ret_modes: enum files_mode, or-ed.  -EINVAL: it is not an
 * open regular file that can be read or written at any offset; procfs, sysfs and their
 * like make up their contents when they are read, so they are none.  -EACCES: it is in memory
 * (tmpfs, a memfd) and for writing only.  Of such a file nothing is written for another user: its
 * pages would be charged to us, and nothing of ours ever frees them.
 * ours: the client is this process's own user.
 */
int files_check(int fd, bool ours, uint32_t *ret_modes);

/* The index of the file from now on; -ENFILE: the session has QUOIT_MAX_FILES.  Owns fd then. */
int32_t files_add(struct session *s, int fd, uint32_t modes);

/* No job fetched from now on can name it.  0, -EBADF. */
int32_t files_remove(struct session *s, uint32_t index);

/* A job that names a file is admitted; it has ended. */
void files_hold(struct session *s, uint64_t index);
void files_drop(struct session *s, uint64_t index);

#endif
