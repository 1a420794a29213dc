/* SPDX-License-Identifier: MIT */
/* text_file.c - writes a text beside the counter files, and renames it when it is complete */
#include "text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define NAME_BYTES 64

/* False: the file is incomplete. */
static bool write_new(int directory, const char *name, text_file_fill_fn *fill, const void *from)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool failed;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	fill(f, from);
	failed = fchmod(fd, 0644) < 0 || ferror(f); /* for everybody, whatever the umask */
	return !fclose(f) && !failed;
}

void text_file_write(int directory, const char *name, text_file_fill_fn *fill, const void *from)
{
	char new_name[NAME_BYTES];

	snprintf(new_name, sizeof new_name, "%s.new", name);
	if (write_new(directory, new_name, fill, from) &&
	    renameat(directory, new_name, directory, name) == 0)
		return;
	log_warning("the file '%s' could not be written beside the counter files: %s", name,
		    strerror(errno));
	(void)unlinkat(directory, new_name, 0);
}
