/* SPDX-License-Identifier: MIT */
/* gzip.h - a text for who takes it compressed */
#ifndef QUOIT_TOOLS_EXPORTER_GZIP_H
#define QUOIT_TOOLS_EXPORTER_GZIP_H

#include <stddef.h>

/*
 * Put the gzip form of *text in its place, to be freed as it was.  0; -ENOMEM: the text is as it
 * was.
 */
int gzip_replace(char **text, size_t *size);

#endif
