/* SPDX-License-Identifier: MIT */
/* shared_file.h - makes a counter file that everybody may read once it is complete */
#ifndef QUOITD_SHARED_FILE_H
#define QUOITD_SHARED_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Map a new file, which no other process sees yet.  All its pages are touched, so that its size and
 * times do not tell when one was first needed.  If that fails (*ret_is_file), anonymous memory
 * takes its place; NULL: out of memory.  *ret_fd: the file, or -1.
 */
void *shared_file_map(int directory, const char *name, size_t bytes, int *ret_fd,
		      bool *ret_is_file);

/* Let everybody read it under its name. */
void shared_file_show(int directory, const char *name, int fd);

void shared_file_remove(void *map, size_t bytes, int fd, int directory, const char *name);

#endif
