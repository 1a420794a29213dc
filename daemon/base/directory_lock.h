/* SPDX-License-Identifier: MIT */
/*
 * directory_lock.h - lets only one quoitd use a directory.
 *
 * A second one would remove the first one's counter files before it finds the socket taken.  The
 * lock is a flock on the file `lock`, which names its holder.  It ends with its holder.  The
 * exception is a dead holder with a thread that still waits in the kernel for a client, and so
 * keeps the descriptors: the lock of a dead process is taken over.
 */
#ifndef QUOITD_DIRECTORY_LOCK_H
#define QUOITD_DIRECTORY_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Take the lock: a descriptor that must stay open; -EADDRINUSE: another quoitd lives; -errno.  The
 * file has mode 0600, since any process that can open it could hold the lock.
 */
int directory_lock(int directory);

/* Write this process into the file as its holder, in place of what was there. */
void directory_lock_sign(int lock);

/* Is this process (of our PID namespace) dead, but for threads that wait in the kernel? */
bool process_is_dead(pid_t pid);

#endif
