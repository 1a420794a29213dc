/* SPDX-License-Identifier: MIT */
/* ids.c - finds users and groups by their names */
#include "ids.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

/* The most bytes of one entry: a group comes with all its members. */
#define MOST_BYTES ((size_t)1 << 22)

/* 0; ERANGE: the buffer is too small; else another errno: not found. */
static int look_up(bool is_group, const char *name, char *buffer, size_t size, uint32_t *ret)
{
	struct passwd user, *found = NULL;
	struct group group, *found_group = NULL;
	int err = is_group ? getgrnam_r(name, &group, buffer, size, &found_group)
			   : getpwnam_r(name, &user, buffer, size, &found);

	if (found)
		*ret = found->pw_uid;
	if (found_group)
		*ret = found_group->gr_gid;
	return found || found_group ? 0 : err ? err : ENOENT;
}

static int find_name(bool is_group, const char *name, uint32_t *ret)
{
	int err = ERANGE;

	for (size_t size = 4096; err == ERANGE && size <= MOST_BYTES; size *= 4) {
		char *buffer = malloc(size);

		if (!buffer)
			return -ENOMEM;
		err = look_up(is_group, name, buffer, size, ret);
		free(buffer);
	}
	return -err;
}

int ids_find(bool is_group, const char *name, uint32_t *ret)
{
	unsigned long long number;
	char *end;

	if (find_name(is_group, name, ret) == 0)
		return 0;
	errno = 0;
	number = strtoull(name, &end, 10);
	if (*name < '0' || *name > '9' || *end || errno || number >= UINT32_MAX)
		return -ENOENT;
	*ret = (uint32_t)number;
	return 0;
}
