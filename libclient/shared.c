/* SPDX-License-Identifier: MIT */
/*
 * shared.c - make memory that quoitd sees, too; the client makes it, so that it is charged for it
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control.h"
#include "library.h"
#include "refusal.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x0008u
#endif

static int make_memfd(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

/* A file beyond this limit would raise SIGXFSZ, which ends most programs. */
static int check_limit(uint64_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ||
	    bytes <= limit.rlim_cur)
		return 0;
	libquoit_text_set("%llu bytes to share with quoitd are more than RLIMIT_FSIZE allows this "
			  "process (ulimit -f)",
			  (unsigned long long)bytes);
	return -EFBIG;
}

/* Seal the size, and keep other users from opening the memfd through /proc. */
static int settle(int fd, uint64_t bytes)
{
	if (ftruncate(fd, (off_t)bytes) < 0 || fchmod(fd, 0600) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		return -errno;
	return 0;
}

/* If the kernel refuses these, children and core dumps have the memory, too; that does no harm. */
static void keep_to_itself(void *map, uint64_t bytes)
{
	(void)madvise(map, bytes, MADV_DONTFORK);
	(void)madvise(map, bytes, MADV_DONTDUMP);
}

int libquoit_shared_make(struct shared *ret, const char *name, uint64_t bytes)
{
	void *map = MAP_FAILED;
	int err = check_limit(bytes), fd;

	*ret = (struct shared){.fd = -1};
	if (err)
		return err;
	fd = libquoit_above_standard(make_memfd(name));
	err = fd < 0 ? fd : settle(fd, bytes);
	if (!err) {
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		err = map == MAP_FAILED ? -errno : 0;
	}
	if (err) {
		libquoit_text_set("%llu bytes to share with quoitd cannot be allocated: %s",
				  (unsigned long long)bytes, strerrordesc_np(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	keep_to_itself(map, bytes);
	*ret = (struct shared){.fd = fd, .base = map, .bytes = bytes};
	return 0;
}

/* Allocate all pages now: a page that is missing later would end the session. */
static int take_pages(const struct shared *m, uint64_t from, uint64_t upto)
{
	if (madvise((uint8_t *)m->base + from, upto - from, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno != EINVAL)
		return errno == EFAULT ? -ENOMEM : -errno;
	while (fallocate(m->fd, 0, (off_t)from, (off_t)(upto - from)) < 0)
		if (errno != EINTR)
			return errno == ENOSPC ? -ENOMEM : -errno;
	return 0;
}

int libquoit_shared_more(const struct shared *m, uint64_t from, uint64_t upto)
{
	int err = take_pages(m, from, upto);

	if (err)
		libquoit_text_set("the system does not give this process %llu bytes: %s",
				  (unsigned long long)(upto - from), strerrordesc_np(-err));
	return err;
}

void libquoit_shared_less(const struct shared *m, uint64_t from, uint64_t upto)
{
	(void)madvise((uint8_t *)m->base + from, upto - from, MADV_REMOVE);
}

int libquoit_shared_fill(struct shared *m, uint64_t bytes, uint32_t seals)
{
	int err = libquoit_shared_more(m, 0, bytes);

	if (!err && fcntl(m->fd, F_ADD_SEALS, (int)seals) < 0) {
		err = -errno;
		libquoit_text_set("the seals %#x that quoitd asks for cannot be added: %s", seals,
				  strerrordesc_np(-err));
	}
	if (!err && bytes < m->bytes)
		return 0; /* keep the memfd open: more pages may come */
	close(m->fd);
	m->fd = -1;
	return err;
}

/* Pages behind the end of a file raise SIGBUS. */
static int check_size(int fd, uint64_t bytes)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return bytes && st.st_size > 0 && bytes <= (uint64_t)st.st_size ? 0 : -EPROTO;
}

int libquoit_shared_look(int fd, uint64_t bytes, const char *whose, struct shared *ret)
{
	int err = check_size(fd, bytes);
	void *base = err ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (!err && base == MAP_FAILED)
		err = -errno;
	if (err)
		return libquoit_text_refuse(err, "the %s's %llu bytes cannot be mapped: %s", whose,
					    (unsigned long long)bytes, strerrordesc_np(-err));
	keep_to_itself(base, bytes);
	*ret = (struct shared){.fd = -1, .base = base, .bytes = bytes};
	return 0;
}

void libquoit_shared_drop(struct shared *m)
{
	if (m->fd >= 0)
		close(m->fd);
	if (m->base)
		munmap(m->base, m->bytes);
	*m = (struct shared){.fd = -1};
}
