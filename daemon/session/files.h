/* SPDX-License-Identifier: MIT */
/*
 * files.h - the open files that a session has given us, and which jobs use them.
 *
 * A client opens its files; quoitd only reads and writes the descriptors that it passed, without
 * paths and without rights of its own.  A file that is removed stays open until the last job that
 * names it has ended, and its index is not reused before.
 *
 * files_check asks the file's server, so only the threads of blocking_pool.h call it.  The rest belongs
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
	uint32_t withheld_by; /* why FILES_WRITE is missing: f_type of its file system; or 0 */
};

/*
 * Can jobs use this descriptor?  0, with *ret.  -EINVAL: it is not an open regular file that can be
 * read or written at any offset; files of procfs, sysfs and the like do not count, since their
 * contents are made up when they are read.  A file system that is not in `writable` is only read
 * from: a descriptor for both is then for reading, and one for writing gets -EACCES, with *ret.
 * writable NULL: the client is this process's own user, and may write anywhere.
 */
int files_check(int fd, const struct file_systems *writable, struct files_kind *ret);

/* Add a file and own fd; returns its index, or -ENFILE: the session has QUOIT_MAX_FILES. */
int32_t files_add(struct session *s, int fd, const struct files_kind *kind);

/* Remove a file: no job fetched from now on can name it.  0 or -EBADF. */
int32_t files_remove(struct session *s, uint32_t index);

/* A job that names the file is admitted; it has ended. */
void files_hold(struct session *s, uint64_t index);
void files_drop(struct session *s, uint64_t index);

#endif
