/* SPDX-License-Identifier: MIT */
/* session_file.c - makes and removes a session's files */
#include "session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/access_list.h"

struct name {
	char text[48];
};

static struct name name_of(uint64_t session, const char *format)
{
	struct name name;

	snprintf(name.text, sizeof name.text, format, (unsigned long long)session);
	return name;
}

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

/* In place of a descriptor for writing: the descriptor is handed to clients. */
static int open_to_read(int directory, const char *name, gid_t gid)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (gid != NO_GROUP)
		(void)access_list_let_read(fd, gid, false); /* as for the folder, which was told */
	return fd;
}

int session_file_open(const struct session *s, int directory, const char *format, size_t size,
		      int *ret_fd, void **ret_map)
{
	struct name name = name_of(s->id, format);
	int fd = openat(directory, name.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err;

	*ret_map = NULL;
	if (fd < 0)
		return -errno;
	err = map_file(fd, size, ret_map);
	close(fd);
	fd = err ? err : open_to_read(directory, name.text, group_of(format));
	if (fd < 0) {
		(void)unlinkat(directory, name.text, 0);
		if (*ret_map)
			munmap(*ret_map, size);
		*ret_map = NULL;
		return fd;
	}
	*ret_fd = fd;
	return 0;
}

/* Our descriptor is for reading only, and another one may not be had when it is needed. */
static void free_pages(int fd)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	(void)!truncate(path, 0);
}

void session_file_remove(uint64_t session, int directory, const char *format, int fd)
{
	if (fd < 0)
		return;
	(void)unlinkat(directory, name_of(session, format).text, 0);
	free_pages(fd);
}
