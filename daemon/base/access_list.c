/* SPDX-License-Identifier: MIT */
/* access_list.c - lets a group use a file or folder of ours */
#include "access_list.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define LIST_NAME "system.posix_acl_access"

/* In the order that the kernel wants. */
enum { OWNER, OWN_GROUP, GROUP, MASK, OTHER, ENTRIES };

struct access_list {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entry[ENTRIES];
};

static struct posix_acl_xattr_entry entry(uint16_t tag, unsigned rights, uint32_t id)
{
	return (struct posix_acl_xattr_entry){htole16(tag), htole16((uint16_t)rights), htole32(id)};
}

static int let_none(int fd, mode_t mode)
{
	if (fremovexattr(fd, LIST_NAME) < 0 && errno != ENODATA && errno != EOPNOTSUPP)
		return -errno;
	return fchmod(fd, mode) < 0 ? -errno : 0;
}

int access_list_let_read(int fd, gid_t gid, bool is_folder)
{
	const unsigned rights = ACL_READ | (is_folder ? ACL_EXECUTE : 0);
	struct access_list list = {
		.header = {htole32(POSIX_ACL_XATTR_VERSION)},
		.entry = {[OWNER] = entry(ACL_USER_OBJ, rights | ACL_WRITE, ACL_UNDEFINED_ID),
			  [OWN_GROUP] = entry(ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID),
			  [GROUP] = entry(ACL_GROUP, rights, gid),
			  [MASK] = entry(ACL_MASK, rights, ACL_UNDEFINED_ID),
			  [OTHER] = entry(ACL_OTHER, 0, ACL_UNDEFINED_ID)}};

	if (gid == NO_GROUP)
		return let_none(fd, is_folder ? 0700 : 0600);
	return fsetxattr(fd, LIST_NAME, &list, sizeof list, 0) < 0 ? -errno : 0;
}
