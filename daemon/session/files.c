/* SPDX-License-Identifier: MIT */
/* files.c - which descriptors are accepted, and when they are closed */
#include "files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "blocking_pool.h"

static bool is_made_up(unsigned long type)
{
	switch (type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case PSTOREFS_MAGIC:
	case EFIVARFS_MAGIC:
	case BPF_FS_MAGIC:
		return true;
	default:
		return false;
	}
}

static int modes_of(int flags, uint32_t *ret_modes)
{
	switch (flags & O_ACCMODE) {
	case O_RDONLY:
		*ret_modes = FILES_READ;
		return 0;
	case O_WRONLY:
		*ret_modes = FILES_WRITE;
		break;
	default:
		*ret_modes = FILES_READ | FILES_WRITE;
		break;
	}
	return flags & O_APPEND ? -EINVAL : 0; /* a write would not go where the job says */
}

int files_check(int fd, const struct file_systems *writable, struct files_kind *ret)
{
	int err, flags = fcntl(fd, F_GETFL);
	struct statfs fs;
	struct stat st;

	if (flags < 0 || flags & O_PATH || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    fstatfs(fd, &fs) < 0 || is_made_up((unsigned long)fs.f_type) ||
	    lseek(fd, 0, SEEK_CUR) < 0)
		return -EINVAL;
	*ret = (struct files_kind){0};
	err = modes_of(flags, &ret->modes);
	if (err < 0 || !(ret->modes & FILES_WRITE) || !writable ||
	    file_systems_has(writable, (uint32_t)fs.f_type))
		return err;
	ret->modes &= ~(uint32_t)FILES_WRITE;
	ret->withheld_by = (uint32_t)fs.f_type;
	return ret->modes ? 0 : -EACCES;
}

int32_t files_add(struct session *s, int fd, const struct files_kind *kind)
{
	for (unsigned i = 0; i < QUOIT_MAX_FILES; i++) {
		struct file_slot *f = &s->files[i];

		if (f->fd >= 0)
			continue;
		*f = (struct file_slot){.fd = fd,
					.readable = kind->modes & FILES_READ,
					.writable = kind->modes & FILES_WRITE,
					.withheld_by = kind->withheld_by};
		return (int32_t)i;
	}
	return -ENFILE;
}

static void close_if_unused(struct session *s, struct file_slot *f)
{
	if (!f->removed || f->jobs)
		return;
	blocking_close(s->blocking, f->fd);
	f->fd = -1;
}

int32_t files_remove(struct session *s, uint32_t index)
{
	struct file_slot *f;

	if (index >= QUOIT_MAX_FILES || s->files[index].fd < 0 || s->files[index].removed)
		return -EBADF;
	f = &s->files[index];
	f->removed = true;
	close_if_unused(s, f);
	return 0;
}

void files_hold(struct session *s, uint64_t index)
{
	s->files[index].jobs++;
}

void files_drop(struct session *s, uint64_t index)
{
	assert(s->files[index].jobs > 0);
	s->files[index].jobs--;
	close_if_unused(s, &s->files[index]);
}
