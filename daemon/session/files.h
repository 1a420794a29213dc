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

#include "file_systems.h"
#include "session.h"

enum files_mode {
	FILES_READ = 1,
	FILES_WRITE = 2,
};

struct files_kind {
	uint32_t modes;       /* enum files_mode, or-ed */
	uint32_t withheld_by; /* f_type of the file system for which FILES_WRITE is missing; or 0 */
};

/*
 * Can jobs use this descriptor?  0 with *ret.  -EINVAL: it is not an open regular file that can be
 * read or written at any offset; procfs, sysfs and their like make up their contents when they are
 * read, so they are none.  -EACCES with *ret: it is for writing only, and its file system is not in
 * `writable`; one that is for reading, too, is for reading only then.  writable NULL: the client is
 * this process's own user, for whom any will do.
 */
int files_check(int fd, const struct file_systems *writable, struct files_kind *ret);

/* The index of the file from now on; -ENFILE: the session has QUOIT_MAX_FILES.  Owns fd then. */
int32_t files_add(struct session *s, int fd, const struct files_kind *kind);

/* No job fetched from now on can name it.  0, -EBADF. */
int32_t files_remove(struct session *s, uint32_t index);

/* A job that names a file is admitted; it has ended. */
void files_hold(struct session *s, uint64_t index);
void files_drop(struct session *s, uint64_t index);

#endif
