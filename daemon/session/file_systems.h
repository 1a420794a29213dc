/* SPDX-License-Identifier: MIT */
/*
 * file_systems.h - the file systems on which quoitd writes for other users.
 *
 * A page that is written to a file is charged to quoitd.  On a disk it goes there and is free; in
 * memory it stays for as long as the file, and a user can mount some file systems that are in
 * memory, or never let a page go: tmpfs, an overlay above one, FUSE.  So only those are written to
 * that the administrator lists.
 */
#ifndef QUOITD_FILE_SYSTEMS_H
#define QUOITD_FILE_SYSTEMS_H

#include <stdbool.h>
#include <stdint.h>

#define FILE_SYSTEMS_MOST 48

/* The word for those that are on disks (quoit/file_system.h). */
#define FILE_SYSTEMS_DISKS "disks"

struct file_systems {
	uint32_t number[FILE_SYSTEMS_MOST];
	unsigned count;
};

/*
 * Read a list of names, numbers as 0x..., and FILE_SYSTEMS_DISKS, with commas between; "" is none.
 * 0; -EINVAL: *ret_bad is the first word that is nothing of this, up to its comma, or one too many.
 */
int file_systems_read(const char *list, struct file_systems *ret, const char **ret_bad);

bool file_systems_has(const struct file_systems *f, uint32_t number);

#endif
