/* SPDX-License-Identifier: MIT */
/* gzip.h - compress a text for clients that accept that */
#ifndef QUOIT_TOOLS_EXPORTER_GZIP_H
#define QUOIT_TOOLS_EXPORTER_GZIP_H

#include <stddef.h>

/*
 * Replace *text by its gzip form, which is freed in the same way.  0; -ENOMEM: the text is
 * unchanged.
 */
int gzip_replace(char **text, size_t *size);

#endif
