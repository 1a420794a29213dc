/* SPDX-License-Identifier: MIT */
/*
 * own_files.h - a thread with a table of descriptors of its own.
 *
 * What waits in the kernel for a client's file may wait for ever, also after SIGKILL, and keeps the
 * table of its thread alive.  Were it the one that all threads share, sockets and locks of a quoitd
 * that was killed would stay: its clients would not learn of its end, and the next quoitd could not
 * start.
 */
#ifndef QUOITD_OWN_FILES_H
#define QUOITD_OWN_FILES_H

#include <pthread.h>

/*
 * Start such a thread, before those of quoitd that have signals blocked: it takes none either.  0
 * or -errno.
 */
int own_files_start(pthread_t *ret, void *(*run)(void *), void *arg);

/*
 * From now on the calling thread has a table of its own, with `keep` alone in it (-1: nothing).  To
 * be called while no descriptor of a client is open: a copy of it would be closed here, which may
 * hang.  0 or -errno: it has the common one still.
 */
int own_files_begin(int keep);

/*
 * A descriptor of its own for one of the common table; for own_files_close.  -errno, as -ENOSYS
 * before Linux 5.6.
 */
int own_files_take(int fd);

/*
 * Not close(): ThreadSanitizer knows one table, and would take the number for that of another
 * thread's descriptor.
 */
void own_files_close(int fd);

#endif
