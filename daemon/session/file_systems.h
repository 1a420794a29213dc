/* SPDX-License-Identifier: MIT */
/*
 * file_systems.h - the file systems on which quoitd writes for other users.
 *
 * A page that is written to a file is charged to quoitd.  On a disk it is written out and freed.
 * In memory it stays as long as the file, and a user can mount some file systems that live in
 * memory or that never let a page go: tmpfs, an overlay above one, FUSE.  So quoitd writes only to
 * those that the administrator lists.
 */
#ifndef QUOITD_FILE_SYSTEMS_H
#define QUOITD_FILE_SYSTEMS_H

#include <stdbool.h>
#include <stdint.h>

#define FILE_SYSTEMS_MOST 48

/* This word names all file systems on disks (quoit/file_system.h). */
#define FILE_SYSTEMS_DISKS "disks"

struct file_systems {
	uint32_t number[FILE_SYSTEMS_MOST];
	unsigned count;
};

/*
 * Read a comma-separated list of names, numbers (0x...) and FILE_SYSTEMS_DISKS; "" is empty.  0, or
 * -EINVAL: *ret_bad points to the first word that is none of these, or is one too many; it ends at
 * a comma.
 */
int file_systems_read(const char *list, struct file_systems *ret, const char **ret_bad);

/* Is the file system with this number (f_type) in the list? */
bool file_systems_has(const struct file_systems *f, uint32_t number);

#endif
