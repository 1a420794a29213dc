/* SPDX-License-Identifier: MIT */
/* text_file.h - a text beside the counter files, for everybody to read */
#ifndef QUOITD_TEXT_FILE_H
#define QUOITD_TEXT_FILE_H

#include <stdio.h>

typedef void text_file_fill_fn(FILE *f, const void *from);

/*
 * Write what `fill` says.  It is renamed over the old one when it is whole: who reads meanwhile
 * reads one or the other.  Where that fails, the log says so, and the old one is still there.
 */
void text_file_write(int directory, const char *name, text_file_fill_fn *fill, const void *from);

#endif
