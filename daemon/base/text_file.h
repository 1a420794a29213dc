/* SPDX-License-Identifier: MIT */
/* text_file.h - writes a text beside the counter files, for everybody to read */
#ifndef QUOITD_TEXT_FILE_H
#define QUOITD_TEXT_FILE_H

#include <stdio.h>

typedef void text_file_fill_fn(FILE *f, const void *from);

/*
 * Write the text that `fill` writes.  The complete file replaces the old one by a rename, so a
 * reader sees one or the other.  If that fails, it is logged, and the old file stays.
 */
void text_file_write(int directory, const char *name, text_file_fill_fn *fill, const void *from);

#endif
