/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - close or replace descriptors that a program was started with; for quoitd, its
 * executors and the tools.
 */
#ifndef QUOIT_DESCRIPTORS_H
#define QUOIT_DESCRIPTORS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* If neither close_range nor /proc works, the descriptors below this one are closed one by one. */
#define QUOIT_DESCRIPTORS_TRIED (1u << 20)

/*
 * Make descriptors 0 to 2 /dev/null if they are closed, or a folder, which takes no output either,
 * if /dev/null is missing.  Otherwise the program's next files would get these numbers, and the log
 * and other output would be written into them.  Call it before anything is opened.
 */
static inline void quoit_descriptors_open_standard(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			fd = open("/", O_RDONLY | O_DIRECTORY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Close the descriptors that /proc lists; -errno: there is no /proc. */
static inline int quoit_descriptors_close_listed(unsigned first, unsigned last)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		unsigned long fd = strtoul(entry->d_name, NULL, 10); /* 0 for "." */

		if (entry->d_name[0] != '.' && fd >= first && fd <= last && (int)fd != dirfd(dir))
			close((int)fd);
	}
	closedir(dir);
	return 0;
}

/*
 * Close all descriptors from first to last, both included.  Kernels before 5.9 have no close_range,
 * and older container runtimes refuse system calls that they do not know.
 */
static inline void quoit_descriptors_close(unsigned first, unsigned last)
{
	struct rlimit limit;

	if (first > last || syscall(SYS_close_range, first, last, 0) == 0 ||
	    quoit_descriptors_close_listed(first, last) == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > QUOIT_DESCRIPTORS_TRIED)
		limit.rlim_cur = QUOIT_DESCRIPTORS_TRIED;
	for (unsigned fd = first; fd <= last && fd < limit.rlim_cur; fd++)
		close((int)fd);
}

#endif
