/* SPDX-License-Identifier: MIT */
/*
 * memfd.h - the only kind of shared memory: made by the daemon, sealed against a
 * change of size.
 *
 * Never F_SEAL_FUTURE_WRITE: a daemon that takes over must be able to map it
 * again.  A size seal does not stop a peer with a writable mapping from punching
 * holes, so whoever reads client-writable memory does so under guard.h.
 */
#ifndef QUOITD_MEMFD_H
#define QUOITD_MEMFD_H

#include <stddef.h>
#include <stdint.h>

/* A new memfd of `bytes`, sealed SHRINK|GROW|SEAL, mode 0600; -errno. */
int memfd_create_sealed(const char *name, uint64_t bytes);

/*
 * A fresh read-only descriptor of a memfd: mode 0400 and opened again, so that
 * another uid can neither map it writable nor open it so through /proc; -errno.
 */
int memfd_read_only(int fd);

/* Map all of it shared; *ret_map is NULL on error.  writable: PROT_WRITE too. */
int memfd_map(int fd, uint64_t bytes, int writable, void **ret_map);

#endif
