/* SPDX-License-Identifier: MIT */
/* process_private.h - what process.c and process_pages.c have of each other */
#ifndef QUOIT_TOOLS_PROCESS_PRIVATE_H
#define QUOIT_TOOLS_PROCESS_PRIVATE_H

#include "process.h"

/*
 * Find out what the kernel tells only after a walk through the pages of the process (needs: bits of
 * enum process_need).  It waits for the mmap lock of that process, perhaps for ever: the readers of
 * process_pages.c alone call it.
 */
void process_read_pages(struct process *p, unsigned needs);

/* The same for all of them that are known, within the time that process_pages.c allows. */
void process_pages_look(struct process *const *list, size_t count, unsigned needs);

#endif
