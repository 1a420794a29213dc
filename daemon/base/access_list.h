/* SPDX-License-Identifier: MIT */
/* access_list.h - lets a group use a file or folder of ours */
#ifndef QUOITD_ACCESS_LIST_H
#define QUOITD_ACCESS_LIST_H

#include <stdbool.h>
#include <sys/types.h>

#define NO_GROUP ((gid_t)-1)

/*
 * Only our user and this group may read a file, or a folder and what lies in it; NO_GROUP: only our
 * user.  A group by itself would need to be one of ours; an access list needs only that we own the
 * file.  -errno; -EOPNOTSUPP: the file system has no access lists.
 */
int access_list_let_read(int fd, gid_t gid, bool is_folder);

#endif
