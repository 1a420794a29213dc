/* SPDX-License-Identifier: MIT */
/*
 * directory_lock.h - one quoitd a directory.
 *
 * A second one would wipe the first one's counter files before it finds the socket taken.  The lock
 * is flock's, on the file `lock`, which says who has it.  It ends with its holder, but for one
 * whose thread waits in the kernel for a client and keeps the descriptors of the dead process: a
 * lock of a dead process is none, and is taken over.
 */
#ifndef QUOITD_DIRECTORY_LOCK_H
#define QUOITD_DIRECTORY_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Take it: a descriptor that is to stay open; -EADDRINUSE: another quoitd lives; -errno.  0600,
 * since whoever can open the file could hold it.
 */
int directory_lock(int directory);

/* Note in the file who has it; what was in it before is gone. */
void directory_lock_sign(int lock);

/* Is nothing left of this process of our PID namespace but threads that wait in the kernel? */
bool process_is_dead(pid_t pid);

#endif
