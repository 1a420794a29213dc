/* SPDX-License-Identifier: MIT */
/* tree.c - read files of /proc, /sys and /dev below any folder that stands for the root */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLANKS " \t\r\n"

int tree_open(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* ---- files ---- */

static int64_t read_all(int fd, char *ret, size_t size)
{
	size_t used = 0;
	ssize_t n;

	do {
		n = read(fd, ret + used, size - 1 - used);
		if (n > 0)
			used += (size_t)n;
	} while ((n > 0 && used < size - 1) || (n < 0 && errno == EINTR));
	ret[used] = '\0';
	return n < 0 ? -errno : (int64_t)used;
}

/* O_NONBLOCK, so that a FIFO in the file's place cannot hold us up. */
static int64_t read_path(int root, char *ret, size_t size, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int64_t n = -EBADMSG;

	*ret = '\0';
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = read_all(fd, ret, size);
	close(fd);
	return n;
}

static int64_t read_named(int root, char *ret, size_t size, const char *format, va_list args)
{
	char path[PATH_MAX];
	int n = vsnprintf(path, sizeof path, format, args);

	*ret = '\0';
	return n < 0 || (size_t)n >= sizeof path ? -ENAMETOOLONG : read_path(root, ret, size, path);
}

int64_t tree_read(int root, char *ret, size_t size, const char *path, ...)
{
	va_list args;
	int64_t n;

	va_start(args, path);
	n = read_named(root, ret, size, path, args);
	va_end(args);
	return n;
}

static bool line_of(int root, char *ret, size_t size, const char *format, va_list args)
{
	size_t used;

	if (read_named(root, ret, size, format, args) < 0)
		return false;
	used = strcspn(ret, "\n");
	while (used && strchr(BLANKS, ret[used - 1]))
		used--;
	ret[used] = '\0';
	return true;
}

bool tree_line(int root, char *ret, size_t size, const char *path, ...)
{
	va_list args;
	bool known;

	va_start(args, path);
	known = line_of(root, ret, size, path, args);
	va_end(args);
	return known;
}

bool tree_number(int root, uint64_t *ret, const char *path, ...)
{
	char line[32];
	va_list args;
	bool known;

	va_start(args, path);
	known = line_of(root, line, sizeof line, path, args);
	va_end(args);
	return known && tree_parse_number(line, ret);
}

bool tree_numbers(int root, struct numbers *ret, const char *path, ...)
{
	char line[4096];
	va_list args;
	bool known;

	*ret = (struct numbers){0};
	va_start(args, path);
	known = line_of(root, line, sizeof line, path, args);
	va_end(args);
	return known && numbers_parse(line, ret);
}

/* ---- text ---- */

const char *tree_behind(const char *text, const char *name)
{
	size_t length = strlen(name);

	while (strncmp(text, name, length) != 0) {
		text = strchr(text, '\n');
		if (!text++)
			return NULL;
	}
	return text + length;
}

const char *tree_field(const char *text, const char *name)
{
	text = tree_behind(text, name);
	return text ? text + strspn(text, " \t") : NULL;
}

bool tree_parse_number(const char *text, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !errno && !end[strspn(end, BLANKS)];
}
