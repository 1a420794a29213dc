/* SPDX-License-Identifier: MIT */
/* shared_file.c - makes a counter file that everybody may read once it is complete */
#include "shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define STEP 4096u /* no page is smaller */

struct name {
	char text[40];
};

/* Its name until it is complete. */
static struct name under_way(const char *name)
{
	struct name n;

	snprintf(n.text, sizeof n.text, "%s.new", name);
	return n;
}

static void *map_file(int fd, size_t bytes)
{
	volatile uint8_t *at;
	void *map;

	/* Allocate its pages: a full disk is to be found here, not by a SIGBUS. */
	if (fd < 0 || fallocate(fd, 0, 0, (off_t)bytes) < 0)
		return NULL;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return NULL;
	at = map;
	for (size_t i = 0; i < bytes; i += STEP) /* a page's first write changes the times */
		at[i] = 0;
	return map;
}

void *shared_file_map(int directory, const char *name, size_t bytes, int *ret_fd, bool *ret_is_file)
{
	struct name new = under_way(name);
	void *map;

	(void)unlinkat(directory, new.text, 0); /* of a quoitd that was killed at this point */
	*ret_fd = openat(directory, new.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	map = map_file(*ret_fd, bytes);
	*ret_is_file = map != NULL;
	if (map)
		return map;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return map == MAP_FAILED ? NULL : map;
}

void shared_file_show(int directory, const char *name, int fd)
{
	struct name new = under_way(name);

	if (fchmod(fd, 0444) < 0 || renameat(directory, new.text, directory, name) < 0)
		log_info("cannot show the %s to tools: %s", name, strerror(errno));
}

void shared_file_remove(void *map, size_t bytes, int fd, int directory, const char *name)
{
	munmap(map, bytes);
	if (fd >= 0)
		close(fd);
	(void)unlinkat(directory, name, 0);
}
