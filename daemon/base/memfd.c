/* SPDX-License-Identifier: MIT */
/* memfd.c - makes and maps sealed shared memory */
#include "memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int memfd_create_sealed(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	int err;

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes) < 0 || fchmod(fd, 0600) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int memfd_read_only(int fd)
{
	char path[32];
	int ro;

	if (fchmod(fd, 0400) < 0)
		return -errno;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ro = open(path, O_RDONLY | O_CLOEXEC);
	return ro < 0 ? -errno : ro;
}

static int map_at(void *at, int fd, uint64_t bytes, int prot, int flags, void **ret_map)
{
	void *map = mmap(at, bytes, prot, MAP_SHARED | MAP_NORESERVE | flags, fd, 0);

	*ret_map = NULL;
	if (map == MAP_FAILED)
		return -errno;
	(void)madvise(map, bytes, MADV_DONTDUMP); /* a core dump would hold all users' data */
	*ret_map = map;
	return 0;
}

int memfd_map(int fd, uint64_t bytes, int writable, void **ret_map)
{
	return map_at(NULL, fd, bytes, PROT_READ | (writable ? PROT_WRITE : 0), 0, ret_map);
}

/* It takes more room than it needs, puts the map where it fits, and gives back what lies around. */
int memfd_map_aligned(int fd, uint64_t bytes, uint64_t alignment, void **ret_map)
{
	const uint64_t room = bytes + alignment;
	void *begin =
		mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t before;
	int err;

	*ret_map = NULL;
	if (begin == MAP_FAILED)
		return -errno;
	before = -(uintptr_t)begin & (alignment - 1);
	err = map_at((char *)begin + before, fd, bytes, PROT_READ | PROT_WRITE, MAP_FIXED, ret_map);
	if (err < 0) {
		munmap(begin, room);
		return err;
	}
	if (before)
		munmap(begin, before);
	munmap((char *)begin + before + bytes, alignment - before);
	return 0;
}
