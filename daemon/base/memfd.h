/* SPDX-License-Identifier: MIT */
/*
 * memfd.h - shared memory that quoitd makes: memfds sealed against a change of size.
 *
 * F_SEAL_FUTURE_WRITE is left out, since executors map the memory for writing later.  A size seal
 * does not stop a peer with a writable mapping from punching holes.  So memory that a client can
 * write is read under sigbus_guard.h.  Memory that clients make is in store/shared.h.
 */
#ifndef QUOITD_MEMFD_H
#define QUOITD_MEMFD_H

#include <stddef.h>
#include <stdint.h>

/* A new memfd of `bytes`, sealed SHRINK|GROW|SEAL, mode 0600; -errno. */
int memfd_create_sealed(const char *name, uint64_t bytes);

/*
 * A new read-only descriptor of a memfd: its mode becomes 0400, and it is opened again, so that
 * another uid can neither map it writable nor reopen it so through /proc; -errno.
 */
int memfd_read_only(int fd);

/* Map all of it shared; writable: also for writing.  0, or -errno and *ret_map is NULL. */
int memfd_map(int fd, uint64_t bytes, int writable, void **ret_map);

/*
 * The same, for reading and writing, at a multiple of `alignment`: a power of 2, no less than a
 * page.  `bytes` is a multiple of a page.
 */
int memfd_map_aligned(int fd, uint64_t bytes, uint64_t alignment, void **ret_map);

#endif
