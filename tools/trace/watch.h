/* SPDX-License-Identifier: MIT */
/* watch.h - notice new files in a folder */
#ifndef QUOIT_TOOLS_TRACE_WATCH_H
#define QUOIT_TOOLS_TRACE_WATCH_H

#include <stdbool.h>

/* A descriptor that can be read when a file has come; -errno: the kernel cannot tell us. */
int watch_open(int directory);

/*
 * True: a file has come or gone since the last call.  False also for a watch that could not be
 * opened.
 */
bool watch_news(int watch);

void watch_close(int watch);

#endif
