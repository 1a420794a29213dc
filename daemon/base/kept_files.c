/* SPDX-License-Identifier: MIT */
/* kept_files.c - locks the folder for one kind of cleaner, renews times for the other */
#include "kept_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quoit/stats.h>

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

/* The folder and what lies in it. */
static void touch_all(int directory, const char *name, uid_t self)
{
	int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (fd >= 0)
		(void)futimens(fd, NULL);
	while (dir && (entry = readdir(dir)))
		touch(fd, entry->d_name, self);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

void kept_files_look(struct kept_files *k, uint64_t now_ns)
{
	if (now_ns < k->next_ns)
		return;
	k->next_ns = now_ns + PERIOD_NS;
	touch_all(k->directory, ".", geteuid());
	touch_all(k->directory, QUOIT_STATS_PRIVATE, geteuid());
	touch_all(k->directory, QUOIT_STATS_SESSIONS, geteuid());
}
