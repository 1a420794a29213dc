/* SPDX-License-Identifier: MIT */
/* shared_file.h - a counter file that everybody may read, once it is complete */
#ifndef QUOITD_SHARED_FILE_H
#define QUOITD_SHARED_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Map a new file, which nobody sees as yet, with all of its pages: who asks for its size and times
 * is not to learn when one of them was first needed.  Where that fails (*ret_is_file), anonymous
 * memory in its stead; NULL: ENOMEM.  *ret_fd: the file, or -1.
 */
void *shared_file_map(int directory, const char *name, size_t bytes, int *ret_fd,
		      bool *ret_is_file);

/* Let everybody see it. */
void shared_file_show(int directory, const char *name, int fd);

void shared_file_remove(void *map, size_t bytes, int fd, int directory, const char *name);

#endif
