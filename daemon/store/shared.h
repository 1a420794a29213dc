/* SPDX-License-Identifier: MIT */
/*
 * shared.h - memory that both sides see: a client's memfd, as quoitd has mapped it.
 *
 * The client has made, populated and paid for all memory that it can reach.  So none of it stays
 * charged to quoitd, and quoitd takes no lock that a client may hold:
 *
 * - quoitd maps and unmaps it, and nothing else.  fallocate, ftruncate and madvise(MADV_REMOVE)
 *   would take the inode's lock; so does fstat in some kernels (the stable ones of the autumn of
 *   2024 that have d949d1d14fa2), and lseek takes one of the open file.
 * - The mapping is registered with userfaultfd (UFFD_FEATURE_SIGBUS).  A page that is there is
 *   used.  A missing one is not made: it raises SIGBUS (sigbus_guard.h), or EFAULT in a system call.
 * - Its pages are locked before they are used.  A page that was swapped out is charged to the
 *   client's group when it comes back; if that group is full and has no processes, the fault
 *   never ends.
 * - A seal (F_SEAL_FUTURE_WRITE) keeps the client from punching it.  A thread that touches memory
 *   of which a part is being punched waits for the punch, and a client can make that long.  Memory
 *   that executors must map for writing later cannot be sealed like this.
 *
 * If the kernel refuses one of these, quoitd works without it, and features.h says so.
 *
 * One thread at a time may use an object.  map, check and drop may take long, so they are blocking calls.
 */
#ifndef QUOITD_SHARED_H
#define QUOITD_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared {
	int fd;
	uint8_t *base;  /* NULL: there is no mapping and no fd */
	uint64_t bytes; /* mapped bytes */
	/* Why its pages are not locked, -errno; 0: they are locked as they come, or need not be. */
	int unlocked;
};

/*
 * Prepare for guarding mappings.  Without it all else works, and missing pages are made.  0, or
 * -errno: the kernel gives us no userfaultfd for this.  Call once, while there is one thread.
 */
int shared_guard_init(void);

/* Does the kernel know F_SEAL_FUTURE_WRITE (Linux 5.1)?  0 or -errno. */
int shared_try_seal(void);

/* The seals (F_SEAL_*) that memory needs besides those that it comes with. */
int shared_seals(bool future_write, bool executors);

/* How to map it. */
struct shared_wish {
	uint64_t bytes;
	uint64_t locked; /* so many bytes from the start are locked */
	int32_t node;    /* preferred node; negative: any */
};

/* Map fd.  0: *ret owns fd; or -errno with a sentence in `text`, and the caller still owns it. */
int shared_map(int fd, const struct shared_wish *wish, struct shared *ret, char *text, size_t size);

/* Are all pages of [from, upto) there, and these seals?  0, or -errno with a sentence in `text`. */
int shared_check(const struct shared *m, uint64_t from, uint64_t upto, int seals, char *text,
		 size_t size);

/*
 * The same for bytes that were not locked when they were mapped: lock them, too, part by part, all
 * or none.  If the kernel refuses the lock, `unlocked` says why; the result is only about pages and
 * seals.
 */
int shared_more(struct shared *m, uint64_t from, uint64_t upto, int seals, char *text, size_t size);

/* Unmap and close. */
void shared_drop(struct shared *m);

#endif
