/* SPDX-License-Identifier: MIT */
/* huge_pages.c - touches a page of each, then asks the kernel to make it a huge one */
#include "huge_pages.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE /* Linux 6.1 */
#define MADV_COLLAPSE 25
#endif

/* The kernel makes a huge page of small ones, so there has to be one. */
int huge_pages_take(void *at, uint64_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (uint64_t i = 0; i < bytes; i += HUGE_PAGE_BYTES)
		if (madvise((char *)at + i, page, MADV_POPULATE_WRITE) < 0)
			return -errno;
	return madvise(at, bytes, MADV_COLLAPSE) < 0 && errno != EINVAL ? -errno : 0;
}
