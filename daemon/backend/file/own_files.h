/* SPDX-License-Identifier: MIT */
/*
 * own_files.h - gives a thread a table of descriptors of its own.
 *
 * A thread that waits in the kernel for a client's file may wait for ever, even after SIGKILL, and
 * keeps its table of descriptors alive.  If that were the table that all threads share, sockets and
 * locks of a killed quoitd would stay: clients would not see its end, and no other could start.
 */
#ifndef QUOITD_OWN_FILES_H
#define QUOITD_OWN_FILES_H

#include <pthread.h>

/*
 * Start such a thread.  It takes no signals, although quoitd blocks them only later.  0 or -errno.
 */
int own_files_start(pthread_t *ret, void *(*run)(void *), void *arg);

/*
 * Give the calling thread a table of its own, with only `keep` in it (-1: nothing).  Call it while
 * no descriptor of a client is open: this closes copies, which may hang for a client's.  0 or
 * -errno: the thread still has the common table.
 */
int own_files_begin(int keep);

/*
 * Make a descriptor of the thread's own for one of the common table; end it with own_files_close.
 * -errno; -ENOSYS before Linux 5.6.
 */
int own_files_take(int fd);

/*
 * Close it without close(): ThreadSanitizer knows only one table, and would take the number for
 * another thread's descriptor.
 */
void own_files_close(int fd);

#endif
