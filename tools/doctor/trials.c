/* SPDX-License-Identifier: MIT */
/* trials.c - try the kernel's features that quoitd uses, in this process */
#include "trials.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <numaif.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef F_SEAL_FUTURE_WRITE /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#ifndef MADV_COLLAPSE /* Linux 6.1 */
#define MADV_COLLAPSE 25
#endif

#define HUGE_BYTES   (2u << 20)
#define MOST_NODES   1024
#define RING_ENTRIES 8

/* ---- shared memory ---- */

static int make_memfd(void)
{
	int fd = memfd_create("quoit-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, HUGE_BYTES) == 0 &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int try_memfd(void)
{
	int fd = make_memfd();

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Does the file get a huge page at its first byte, or when one is asked for, as quoitd does? */
static int grows_huge(int fd, uint8_t *map)
{
	struct stat st;

	if (madvise(map, HUGE_BYTES, MADV_HUGEPAGE) < 0)
		return -errno;
	map[0] = 1;
	(void)madvise(map, HUGE_BYTES, MADV_COLLAPSE);
	if (fstat(fd, &st) < 0)
		return -errno;
	return (uint64_t)st.st_blocks * 512 >= HUGE_BYTES ? 0 : -ENOMSG;
}

/* Map the file where a huge page can be; MAP_FAILED and errno. */
static void *map_at_huge(int fd)
{
	char *room = mmap(NULL, 2 * HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t below;

	if (room == MAP_FAILED)
		return MAP_FAILED;
	munmap(room, 2 * HUGE_BYTES); /* nothing else maps meanwhile: doctor has one thread */
	below = -(uintptr_t)room % HUGE_BYTES;
	return mmap(room + below, HUGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
}

static int try_huge_pages(void)
{
	int fd = make_memfd(), err;
	void *map;

	if (fd < 0)
		return fd;
	map = map_at_huge(fd);
	err = map == MAP_FAILED ? -errno : grows_huge(fd, map);
	if (map != MAP_FAILED)
		munmap(map, HUGE_BYTES);
	close(fd);
	return err;
}

/* ---- one page ---- */

static void *make_page(size_t *ret_bytes)
{
	*ret_bytes = (size_t)sysconf(_SC_PAGESIZE);
	return mmap(NULL, *ret_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Not by mlock(), which does nothing under a sanitizer. */
static int try_memlock(void)
{
	size_t bytes;
	void *page = make_page(&bytes);
	int err;

	if (page == MAP_FAILED)
		return -errno;
	err = syscall(SYS_mlock2, page, bytes, 0) < 0 ? -errno : 0;
	munmap(page, bytes);
	return err;
}

/* Bind to the nodes that we may use anyway. */
static int try_mbind(void)
{
	unsigned long nodes[MOST_NODES / (8 * sizeof(long))] = {0};
	size_t bytes;
	void *page = make_page(&bytes);
	int err = 0;

	if (page == MAP_FAILED)
		return -errno;
	if (get_mempolicy(NULL, nodes, MOST_NODES, NULL, MPOL_F_MEMS_ALLOWED) < 0 ||
	    mbind(page, bytes, MPOL_BIND, nodes, MOST_NODES, 0) < 0)
		err = -errno;
	munmap(page, bytes);
	return err;
}

/*
 * Tests only whether the kernel would tell us of a missing page (UFFD_FEATURE_SIGBUS), without a
 * fault.
 */
static int try_userfaultfd(void)
{
	struct uffdio_api api = {.api = UFFD_API,
				 .features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY), err;

	if (fd < 0)
		return -errno;
	err = ioctl(fd, UFFDIO_API, &api) < 0 ? -errno : 0;
	close(fd);
	return err;
}

static int try_seal(void)
{
	int fd = memfd_create("quoit-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* ---- descriptors ---- */

static int try_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int try_io_uring(void)
{
	struct io_uring_params params;
	int fd;

	memset(&params, 0, sizeof params);
	fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &params);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int trial_run(enum feature which)
{
	static int (*const trials[FEATURE_NR])(void) = {
		[FEATURE_MEMFD] = try_memfd,
		[FEATURE_IO_URING] = try_io_uring,
		[FEATURE_PIDFD] = try_pidfd,
		[FEATURE_MBIND] = try_mbind,
		[FEATURE_HUGE_PAGES] = try_huge_pages,
		[FEATURE_MEMLOCK] = try_memlock,
		[FEATURE_USERFAULTFD] = try_userfaultfd,
		[FEATURE_SEAL] = try_seal,
	};

	return trials[which]();
}
