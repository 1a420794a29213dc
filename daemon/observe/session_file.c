/* SPDX-License-Identifier: MIT */
/* session_file.c - a session's files in the runtime directory */
#include "session_file.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

struct name {
	char text[40];
};

static struct name name_of(uint64_t session, const char *format)
{
	struct name name;

	snprintf(name.text, sizeof name.text, format, (unsigned long long)session);
	return name;
}

#define NO_GROUP ((gid_t)-1)

static gid_t readers = NO_GROUP;

void session_files_let_read(gid_t gid)
{
	readers = gid;
}

/* A trace shows each job, so only the session's user and the recorder may read it. */
static gid_t group_of(const char *format)
{
	return strcmp(format, QUOIT_STATS_TRACE) != 0 ? readers : NO_GROUP;
}

#define ENTRIES_MOST 6

struct access_list {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entry[ENTRIES_MOST];
};

static void add_entry(struct access_list *acl, unsigned *count, uint16_t tag, bool reads,
		      uint32_t id)
{
	acl->entry[(*count)++] = (struct posix_acl_xattr_entry){
		htole16(tag), htole16(reads ? ACL_READ : 0), htole32(id)};
}

/*
 * Let the session's user read the file, which is ours, and a group (NO_GROUP: none).  Giving the
 * file away would need a right that we do not have; an access list needs only that we own the
 * file.  Its entries are in the order that the kernel wants.
 */
static int let_read(int fd, uid_t uid, gid_t gid)
{
	struct access_list acl = {.header = {htole32(POSIX_ACL_XATTR_VERSION)}};
	unsigned count = 0;

	if (uid == geteuid() && gid == NO_GROUP)
		return 0;
	add_entry(&acl, &count, ACL_USER_OBJ, true, ACL_UNDEFINED_ID);
	if (uid != geteuid())
		add_entry(&acl, &count, ACL_USER, true, uid);
	add_entry(&acl, &count, ACL_GROUP_OBJ, false, ACL_UNDEFINED_ID);
	if (gid != NO_GROUP)
		add_entry(&acl, &count, ACL_GROUP, true, gid);
	add_entry(&acl, &count, ACL_MASK, true, ACL_UNDEFINED_ID);
	add_entry(&acl, &count, ACL_OTHER, false, ACL_UNDEFINED_ID);
	return fsetxattr(fd, "system.posix_acl_access", &acl,
			 sizeof acl.header + count * sizeof acl.entry[0], 0) < 0
		       ? -errno
		       : 0;
}

/* Does the name begin like the sessions' files, up to their number? */
static bool is_like(const char *name, const char *format)
{
	return !strncmp(name, format, strcspn(format, "%"));
}

void session_files_sweep(int directory)
{
	DIR *dir = fdopendir(dup(directory));
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_like(entry->d_name, QUOIT_STATS_SESSION) ||
		    is_like(entry->d_name, QUOIT_STATS_LEGS) ||
		    is_like(entry->d_name, QUOIT_STATS_TRACE))
			(void)unlinkat(directory, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static int map_file(int fd, size_t size, void **ret_map)
{
	void *map;

	if (fallocate(fd, 0, 0, (off_t)size) < 0)
		return -errno;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	/* Now: later, the first write to each page would change the file's times. */
	for (size_t at = 0; at < size; at += PAGE_BYTES)
		((volatile uint8_t *)map)[at] = 0;
	*ret_map = map;
	return 0;
}

int session_file_open(const struct session *s, int directory, const char *format, size_t size,
		      int *ret_fd, void **ret_map)
{
	struct name name = name_of(s->id, format);
	int fd = openat(directory, name.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0400), err;

	*ret_map = NULL;
	if (fd < 0)
		return -errno;
	err = map_file(fd, size, ret_map);
	if (err) {
		(void)unlinkat(directory, name.text, 0);
		close(fd);
		return err;
	}
	*ret_fd = fd;
	return let_read(fd, s->uid, group_of(format));
}

void session_file_remove(uint64_t session, int directory, const char *format, int fd)
{
	if (fd < 0)
		return;
	(void)unlinkat(directory, name_of(session, format).text, 0);
	(void)!ftruncate(fd, 0);
}
