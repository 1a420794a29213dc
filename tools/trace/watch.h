/* SPDX-License-Identifier: MIT */
/* watch.h - hear of files that come into a folder */
#ifndef QUOIT_TOOLS_TRACE_WATCH_H
#define QUOIT_TOOLS_TRACE_WATCH_H

#include <stdbool.h>

/* A descriptor that can be read when one has come; -errno: the kernel does not tell us. */
int watch_open(int directory);

/* True: since it was asked last, one has come or gone.  A watch that could not be had says no. */
bool watch_news(int watch);

void watch_close(int watch);

#endif
