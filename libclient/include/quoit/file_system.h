/* SPDX-License-Identifier: MIT */
/*
 * file_system.h - names of file systems by the number in statfs's f_type; for quoitd, which writes
 * to files on some of them only, and for the tools that explain this.
 */
#ifndef QUOIT_FILE_SYSTEM_H
#define QUOIT_FILE_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * QUOIT_FILE_SYSTEM(name, number, is_disk): the numbers are Linux's, and for file systems outside
 * of Linux their own.  is_disk: only root can mount it, a written page goes to a disk in bounded
 * time, and the page is charged to its cgroup only until then.
 */
#define QUOIT_FILE_SYSTEMS(X)                                                                      \
	X("ext4", 0xef53, true) /* ext2 and ext3, too */                                           \
	X("xfs", 0x58465342, true)                                                                 \
	X("btrfs", 0x9123683e, true)                                                               \
	X("f2fs", 0xf2f52010, true)                                                                \
	X("zfs", 0x2fc12fc1, true)                                                                 \
	X("bcachefs", 0xca451a4e, true)                                                            \
	X("jfs", 0x3153464a, true)                                                                 \
	X("nilfs2", 0x3434, true)                                                                  \
	X("ocfs2", 0x7461636f, false)                                                              \
	X("gfs2", 0x01161970, false)                                                               \
	X("vfat", 0x4d44, false)                                                                   \
	X("exfat", 0x2011bab0, false)                                                              \
	X("ntfs3", 0x7366746e, false)                                                              \
	X("nfs", 0x6969, false)                                                                    \
	X("lustre", 0x0bd00bd0, false)                                                             \
	X("gpfs", 0x47504653, false)                                                               \
	X("beegfs", 0x19830326, false)                                                             \
	X("ceph", 0x00c36400, false)                                                               \
	X("smb", 0xfe534d42, false)                                                                \
	X("cifs", 0xff534d42, false)                                                               \
	X("afs", 0x5346414f, false)                                                                \
	X("9p", 0x01021997, false)                                                                 \
	X("fuse", 0x65735546, false)                                                               \
	X("overlay", 0x794c7630, false)                                                            \
	X("ecryptfs", 0xf15f, false)                                                               \
	X("tmpfs", 0x01021994, false) /* memfds, too */                                            \
	X("ramfs", 0x858458f6, false)                                                              \
	X("hugetlbfs", 0x958458f6, false)

struct quoit_file_system {
	const char *name;
	uint32_t number;
	bool is_disk;
};

/* File system number i of the list; false: the list has ended. */
static inline bool quoit_file_system_at(unsigned i, struct quoit_file_system *ret)
{
	static const struct quoit_file_system all[] = {
#define QUOIT_FILE_SYSTEM_ROW(name, number, is_disk) {name, number, is_disk},
		QUOIT_FILE_SYSTEMS(QUOIT_FILE_SYSTEM_ROW)
#undef QUOIT_FILE_SYSTEM_ROW
	};

	if (i >= sizeof all / sizeof all[0])
		return false;
	*ret = all[i];
	return true;
}

#define QUOIT_FILE_SYSTEM_BYTES 16

/*
 * The name of a file system, or its number as 0x...; the option `file-systems` takes both.  Returns
 * `to`.
 */
static inline char *quoit_file_system_name(uint32_t number, char to[QUOIT_FILE_SYSTEM_BYTES])
{
	struct quoit_file_system one;

	snprintf(to, QUOIT_FILE_SYSTEM_BYTES, "%#x", number);
	for (unsigned i = 0; quoit_file_system_at(i, &one); i++)
		if (one.number == number)
			snprintf(to, QUOIT_FILE_SYSTEM_BYTES, "%s", one.name);
	return to;
}

#endif
