/* SPDX-License-Identifier: MIT */
/* process.h - what /proc says about a process that a counter file names */
#ifndef QUOIT_TOOLS_PROCESS_H
#define QUOIT_TOOLS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is there a process `pid` that was there at by_ns (CLOCK_BOOTTIME) already, and is it
 * more than a zombie?  A later process that was given the number again is not it.
 */
bool process_lives(uint32_t pid, uint64_t by_ns);

/* Its resident bytes; false: it does not live (as above), or they cannot be read. */
bool process_resident(uint32_t pid, uint64_t by_ns, uint64_t *ret_bytes);

/* Kill what `parent` has started under this name; how many there were. */
unsigned process_kill_children(uint32_t parent, const char *command);

#endif
