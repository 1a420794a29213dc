/* SPDX-License-Identifier: MIT */
/* process_private.h - functions that process.c and process_pages.c share */
#ifndef QUOIT_TOOLS_PROCESS_PRIVATE_H
#define QUOIT_TOOLS_PROCESS_PRIVATE_H

#include "process.h"

/*
 * Find out figures that cost the kernel a walk through the pages of the process (needs: bits of
 * enum process_need).  It waits for the mmap lock of that process, perhaps for ever: only the
 * readers of process_pages.c call it.
 */
void process_read_pages(struct process *p, unsigned needs);

/* Do that for all processes that are known, within the time limits of process_pages.c. */
void process_pages_look(struct process *const *list, size_t count, unsigned needs);

#endif
