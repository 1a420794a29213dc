/* SPDX-License-Identifier: MIT */
/* features.c - tries what may be missing, and reports it */
#include "features.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/affinity.h"
#include "base/huge_pages.h"
#include "base/log.h"
#include "base/memfd.h"
#include "store/shared.h"

#ifndef MLOCK_ONFAULT /* Linux 4.4 */
#define MLOCK_ONFAULT 1
#endif

#define LABEL(name, label, instead)   label,
#define INSTEAD(name, label, instead) instead,
static const char *const labels[] = {FEATURES(LABEL)};
static const char *const fallbacks[] = {FEATURES(INSTEAD)};
#undef LABEL
#undef INSTEAD

void features_miss(struct features *f, enum feature which, int err)
{
	snprintf(f->why[which], sizeof f->why[which], "%s",
		 err == -ECANCELED ? "switched off" : strerror(-err));
	__atomic_store_n(&f->missing[which], true, __ATOMIC_RELEASE); /* another thread describes */
}

/* ---- the trials ---- */

static void try_pidfd(struct features *f)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0)
		features_miss(f, FEATURE_PIDFD, -errno);
	else
		close(fd);
}

static void try_mbind(struct features *f, uint32_t node)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = page == MAP_FAILED ? -errno : affinity_prefer_node(page, bytes, node);

	if (err < 0)
		features_miss(f, FEATURE_MBIND, err);
	if (page != MAP_FAILED)
		munmap(page, bytes);
}

/* Does the file get a huge page, as regions get theirs? */
static int grows_huge(int fd, void *map)
{
	struct stat st;
	int err;

	if (madvise(map, HUGE_PAGE_BYTES, MADV_HUGEPAGE) < 0)
		return -errno;
	err = huge_pages_take(map, HUGE_PAGE_BYTES);
	if (err < 0)
		return err;
	if (fstat(fd, &st) < 0)
		return -errno;
	return (uint64_t)st.st_blocks * 512 >= HUGE_PAGE_BYTES;
}

static void try_huge_pages(struct features *f)
{
	int fd = memfd_create_sealed("quoit-trial", HUGE_PAGE_BYTES);
	void *map = NULL;
	int got = fd < 0 ? fd : memfd_map_aligned(fd, HUGE_PAGE_BYTES, HUGE_PAGE_BYTES, &map);

	if (!got)
		got = grows_huge(fd, map);
	if (got < 0)
		features_miss(f, FEATURE_HUGE_PAGES, got);
	f->missing[FEATURE_HUGE_PAGES] = got <= 0;
	if (!got)
		snprintf(
			f->why[FEATURE_HUGE_PAGES], sizeof f->why[FEATURE_HUGE_PAGES],
			"not for shared memory: transparent_hugepage/shmem_enabled, or before Linux 6.1");
	if (map)
		munmap(map, HUGE_PAGE_BYTES);
	if (fd >= 0)
		close(fd);
}

int features_try_lock(uint64_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int err = at == MAP_FAILED ? -errno : 0;

	/* mlock() does nothing under a sanitizer, and would need the pages. */
	if (!err && syscall(SYS_mlock2, at, bytes, MLOCK_ONFAULT) < 0)
		err = -errno;
	if (at != MAP_FAILED)
		munmap(at, bytes);
	return err;
}

/* Each session finds out how much may be locked; mostly it is enough. */
static void try_memlock(struct features *f)
{
	int err = features_try_lock((uint64_t)sysconf(_SC_PAGESIZE));

	if (err < 0)
		features_miss(f, FEATURE_MEMLOCK, err);
}

static void try_shared(struct features *f)
{
	int guard = shared_guard_init(), seal = shared_try_seal();

	if (guard < 0)
		features_miss(f, FEATURE_USERFAULTFD, guard);
	if (seal < 0)
		features_miss(f, FEATURE_SEAL, seal);
}

void features_probe(struct features *ret, int32_t node)
{
	*ret = (struct features){0};
	try_pidfd(ret);
	if (node >= 0)
		try_mbind(ret, (uint32_t)node);
	try_huge_pages(ret);
	try_memlock(ret);
	try_shared(ret);
}

/* ---- reports ---- */

void features_log_one(const struct features *f, enum feature which)
{
	if (f->missing[which])
		log_info("unavailable: %s (%s): %s", labels[which], f->why[which],
			 fallbacks[which]);
}

void features_log(const struct features *f)
{
	for (unsigned i = 0; i < FEATURE_NR; i++)
		features_log_one(f, i);
}

void features_describe(const struct features *f, FILE *out)
{
	bool any = false;

	for (unsigned i = 0; i < FEATURE_NR; i++)
		if (__atomic_load_n(&f->missing[i], __ATOMIC_ACQUIRE))
			fprintf(out, "missing: %s (%s): %s\n", labels[i], f->why[i], fallbacks[i]);
	for (unsigned i = 0; i < FEATURE_NR; i++)
		any |= f->missing[i];
	if (!any)
		fprintf(out, "missing: nothing\n");
}
