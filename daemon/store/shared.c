/* SPDX-License-Identifier: MIT */
/* shared.c - maps a client's memory so that its tricks with it hurt only the client */
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/memfd.h"
#include "sizeclass.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef F_SEAL_FUTURE_WRITE /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef MLOCK_ONFAULT /* Linux 4.4 */
#define MLOCK_ONFAULT 1
#endif

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

/* So much is locked, checked or unlocked in one system call, which locks our address space. */
#define PART_BYTES (UINT64_C(4) << 20)

static int sigbus_guard_fd = -1;

int shared_guard_init(void)
{
	struct uffdio_api api = {.api = UFFD_API,
				 .features = UFFD_FEATURE_SIGBUS | UFFD_FEATURE_MISSING_SHMEM};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY), err;

	if (fd < 0 && errno == EINVAL) /* an older kernel, which asks for a privilege */
		fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	sigbus_guard_fd = fd;
	return 0;
}

int shared_try_seal(void)
{
	int fd = memfd_create("quoit-trial", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) < 0 ? -errno : 0;
	close(fd);
	return err;
}

int shared_seals(bool future_write, bool executors)
{
	return future_write && !executors ? F_SEAL_FUTURE_WRITE | F_SEAL_SEAL : F_SEAL_SEAL;
}

/*
 * Is it a memfd of small pages whose size cannot change?  The seals are checked first: a descriptor
 * without them may be a file whose server never answers.  shared_check finds out whether it is long
 * enough, since there is no page beyond its end.
 */
static int check_kind(int fd, char *text, size_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs;

	if (seals < 0 || (seals & SIZE_SEALS) != SIZE_SEALS) {
		snprintf(text, size,
			 "expected a memfd that is sealed against shrinking and growing");
		return -EINVAL;
	}
	if (fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC) {
		snprintf(text, size,
			 "the memfd has huge pages (MFD_HUGETLB): it must have small ones");
		return -EINVAL;
	}
	return 0;
}

static int guard(uint8_t *base, uint64_t bytes)
{
	struct uffdio_register all = {.range = {.start = (uintptr_t)base, .len = bytes},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};

	return sigbus_guard_fd >= 0 && ioctl(sigbus_guard_fd, UFFDIO_REGISTER, &all) < 0 ? -errno
											 : 0;
}

/* Not mlock(): it does nothing under a sanitizer, and it would want all pages now. */
static int lock(uint8_t *base, uint64_t bytes)
{
	return syscall(SYS_mlock2, base, bytes, MLOCK_ONFAULT) < 0 ? -errno : 0;
}

int shared_map(int fd, const struct shared_wish *wish, struct shared *ret, char *text, size_t size)
{
	const uint64_t bytes = wish->bytes;
	void *map;
	int err = check_kind(fd, text, size);

	*ret = (struct shared){.fd = -1};
	if (err < 0)
		return err;
	err = memfd_map(fd, bytes, 1, &map);
	if (!err)
		err = guard(map, bytes);
	if (err < 0) {
		snprintf(text, size, "quoitd cannot map its %llu bytes: %s",
			 (unsigned long long)bytes, strerror(-err));
		if (map)
			munmap(map, bytes);
		return err;
	}
	if (wish->node >= 0) /* if this is refused, it lies elsewhere */
		(void)affinity_prefer_node(map, bytes, (uint32_t)wish->node);
	*ret = (struct shared){.fd = fd,
			       .base = map,
			       .bytes = bytes,
			       .unlocked = wish->locked ? lock(map, wish->locked) : 0};
	return 0;
}

/* 0: all of the part is there; -EFAULT: it is not; else why the kernel refuses it. */
static int take_part(const struct shared *m, uint64_t offset, uint64_t bytes)
{
	uint8_t *at = m->base + offset;

	if (madvise(at, bytes, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* An older kernel: locking takes all pages, too, and reports missing ones as ENOMEM. */
	if (syscall(SYS_mlock, at, bytes) == 0)
		return 0;
	return errno == EPERM || m->unlocked ? 0 : errno == ENOMEM ? -EFAULT : -errno;
}

static int check_seals(const struct shared *m, int seals, char *text, size_t size)
{
	int have = fcntl(m->fd, F_GET_SEALS);

	if (have >= 0 && (have & seals) == seals)
		return 0;
	snprintf(text, size, "its seals are %#x, and %#x are missing", have, seals & ~have);
	return -EPERM;
}

static uint64_t part_of(uint64_t bytes)
{
	return bytes < PART_BYTES ? bytes : PART_BYTES;
}

static int check_part(const struct shared *m, uint64_t at, uint64_t bytes, char *text, size_t size)
{
	int err = take_part(m, at, bytes);

	if (err == -EFAULT)
		snprintf(text, size,
			 "a page of its bytes %llu to %llu is not allocated: allocate all "
			 "(fallocate)",
			 (unsigned long long)at, (unsigned long long)(at + bytes - 1));
	else if (err < 0)
		snprintf(text, size, "quoitd cannot use its bytes %llu to %llu: %s",
			 (unsigned long long)at, (unsigned long long)(at + bytes - 1),
			 strerror(-err));
	return err;
}

int shared_check(const struct shared *m, uint64_t from, uint64_t upto, int seals, char *text,
		 size_t size)
{
	int err = check_seals(m, seals, text, size);

	for (uint64_t at = from, n; at < upto && !err; at += n) {
		n = part_of(upto - at);
		err = check_part(m, at, n, text, size);
	}
	return err;
}

static void unlock(const struct shared *m, uint64_t from, uint64_t upto)
{
	for (uint64_t n; from < upto; from += n) {
		n = part_of(upto - from);
		(void)syscall(SYS_munlock, m->base + from, n);
	}
}

/* If bytes are missing or cannot be locked, the locks that were added are taken off again. */
int shared_more(struct shared *m, uint64_t from, uint64_t upto, int seals, char *text, size_t size)
{
	int err = check_seals(m, seals, text, size), refused = 0;
	uint64_t locked = from;

	for (uint64_t at = from, n; at < upto && !err; at += n) {
		n = part_of(upto - at);
		if (!refused) {
			refused = lock(m->base + at, n);
			locked = refused ? locked : at + n;
			m->unlocked = m->unlocked ? m->unlocked : refused;
		}
		err = check_part(m, at, n, text, size);
	}
	if (err < 0 || refused)
		unlock(m, from, locked);
	return err;
}

void shared_drop(struct shared *m)
{
	if (m->base) {
		munmap(m->base, m->bytes);
		close(m->fd);
	}
	*m = (struct shared){.fd = -1};
}
