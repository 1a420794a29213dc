/* SPDX-License-Identifier: MIT */
/* kept_files.c - locks the folder for one kind of cleaner, renews times for the other */
#include "kept_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cleaners count in days, or at least in hours. */
#define PERIOD_NS UINT64_C(3600000000000)

void kept_files_lock(int directory)
{
	struct stat st;

	if (fstat(directory, &st) == 0 && !(st.st_mode & S_IWOTH))
		(void)flock(directory, LOCK_SH | LOCK_NB);
}

/* Only quoitd's own files and socket, not what a link points to. */
static void touch(int directory, const char *name, uid_t self)
{
	struct stat st;

	if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid == self &&
	    (S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode)))
		(void)utimensat(directory, name, NULL, AT_SYMLINK_NOFOLLOW);
}

void kept_files_look(struct kept_files *k, uint64_t now_ns)
{
	struct dirent *entry;
	int fd;
	DIR *dir;

	if (now_ns < k->next_ns)
		return;
	k->next_ns = now_ns + PERIOD_NS;
	(void)futimens(k->directory, NULL);
	fd = openat(k->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (entry = readdir(dir)))
		touch(k->directory, entry->d_name, geteuid());
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}
