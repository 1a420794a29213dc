/* SPDX-License-Identifier: MIT */
/* session_folder.c - the folder of sessions' files, which is closed to other users */
#include "session_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quoit/trace.h>

#include "base/access_list.h"
#include "base/kept_files.h"
#include "base/log.h"
#include "session_file.h"

/*
 * The times and size of the inner folder, which change with each session, can be asked for only by
 * users who may pass the outer one.
 */
static const char *const folders[] = {QUOIT_STATS_PRIVATE, QUOIT_STATS_SESSIONS};
enum { OUTER, INNER, FOLDERS };

static int open_folder(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Does the name begin like the sessions' files, up to their number? */
static bool is_like(const char *name, const char *format)
{
	return !strncmp(name, format, strcspn(format, "%"));
}

static void sweep(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_like(entry->d_name, QUOIT_STATS_NAME(QUOIT_STATS_SESSION)) ||
		    is_like(entry->d_name, QUOIT_STATS_NAME(QUOIT_STATS_LATENCY)) ||
		    is_like(entry->d_name, QUOIT_STATS_NAME(QUOIT_STATS_TRACE)))
			(void)unlinkat(folder, entry->d_name, 0);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static int fail(int err, const char *name)
{
	log_error("cannot make the folder '%s' beside the socket: %s", name, strerror(-err));
	return err;
}

/* In a directory like /tmp another user may have made it first, and could watch it. */
static int check_owner(int fd, const char *name)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fail(-errno, name);
	if (st.st_uid == geteuid())
		return 0;
	log_error("the folder '%s' beside the socket belongs to uid %u, and quoitd runs as uid %u: "
		  "remove it, or name another place with --socket=PATH",
		  name, (unsigned)st.st_uid, (unsigned)geteuid());
	return -EPERM;
}

/* Make one folder, or take the one that is there, and close it to others; a descriptor. */
static int make(int directory, const char *name)
{
	int fd, err;

	if (mkdirat(directory, name, 0700) < 0 && errno != EEXIST)
		return fail(-errno, name);
	fd = open_folder(directory, name);
	if (fd < 0)
		return fail(fd, name);
	err = check_owner(fd, name);
	if (!err) {
		err = access_list_let_read(fd, NO_GROUP, true);
		if (err < 0)
			(void)fail(err, name);
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

int session_folder_make(int directory)
{
	int outer = make(directory, folders[OUTER]), inner;

	if (outer < 0)
		return outer;
	inner = make(directory, folders[INNER]);
	if (inner < 0) {
		session_folder_remove(directory, outer);
		return inner;
	}
	sweep(inner);
	close(inner);
	sweep(directory); /* quoitd had the files there before it had the folder */
	kept_files_lock(outer);
	return outer;
}

/* Change one folder's access list. */
static int let_read(int directory, const char *name, gid_t gid)
{
	int fd = open_folder(directory, name), err;

	if (fd < 0)
		return fd;
	err = access_list_let_read(fd, gid, true);
	close(fd);
	return err;
}

void session_folder_let_read(int directory, gid_t gid)
{
	int err = 0;

	for (unsigned i = 0; i < FOLDERS && !err; i++)
		err = let_read(directory, folders[i], gid);
	session_files_let_read(err < 0 ? NO_GROUP : gid);
	if (err < 0)
		log_warning("members of the group of option stats-group cannot read sessions' "
			    "counters: no access list can be set for '%s' beside the socket: %s",
			    QUOIT_STATS_PRIVATE, strerror(-err));
}

void session_folder_remove(int directory, int fd)
{
	close(fd);
	(void)unlinkat(directory, folders[INNER], AT_REMOVEDIR);
	(void)unlinkat(directory, folders[OUTER], AT_REMOVEDIR);
}
