/* SPDX-License-Identifier: MIT */
/*
 * shared.h - memory that both sides see: a client's memfd, as quoitd has mapped it.
 *
 * What a client can reach, the client has made, populated and paid for.  So nothing of it stays
 * charged to quoitd, and quoitd takes no lock that a client may hold:
 *
 *   - quoitd maps it and unmaps it, and nothing else: fallocate, ftruncate and
 *     madvise(MADV_REMOVE) would take the inode's lock; so does fstat in some kernels (the stable
 *     ones of the autumn of 2024 that have d949d1d14fa2), and lseek takes one of the open file;
 *   - the mapping is registered with userfaultfd (UFFD_FEATURE_SIGBUS): a page that is there is
 *     used, a missing one raises SIGBUS (guard.h), or EFAULT in a system call, and none is made;
 *   - its pages are locked before they are used: one that was sent to a swap would be charged to
 *     the client's group when it comes back, and where that is full and empty of processes the
 *     fault never ends;
 *   - a seal has it that nobody punches it (F_SEAL_FUTURE_WRITE): who touches memory of which a
 *     part is being punched waits for the end of that, and a client can make it take long.  Where
 *     executors have to map it for writing later than that, it cannot be sealed so.
 *
 * What the kernel refuses of these is not held, and features.h says so.
 *
 * Of one object one thread at a time; map, check and drop may take long, so they are errands.
 */
#ifndef QUOITD_SHARED_H
#define QUOITD_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shared {
	int fd;
	uint8_t *base;  /* NULL: there is none, and no fd */
	uint64_t bytes; /* that are mapped */
	int unlocked;   /* why its pages are not locked, -errno; 0: they are, as they come, or need
			   not */
};

/*
 * Get ready to guard mappings; without it, all else works, and missing pages are made.  -errno: the
 * kernel gives us no userfaultfd for this.  Once, while there is one thread.
 */
int shared_guard_init(void);

/* Does the kernel know F_SEAL_FUTURE_WRITE (Linux 5.1)?  -errno. */
int shared_try_seal(void);

/* F_SEAL_*: what memory needs beside those seals that it comes with. */
int shared_seals(bool future_write, bool executors);

/* How it is mapped: */
struct shared_wish {
	uint64_t bytes;
	uint64_t locked; /* of these, so many from the start are to be locked */
	int32_t node;    /* whose memory it is to be; negative: any's */
};

/*
 * Map fd.  0, and it is *ret's; or -errno with a sentence in `text`, and it stays the caller's.
 */
int shared_map(int fd, const struct shared_wish *wish, struct shared *ret, char *text, size_t size);

/* Are all pages from `from` up to `upto` there, with these seals?  0; or -errno with a sentence. */
int shared_check(const struct shared *m, uint64_t from, uint64_t upto, int seals, char *text,
		 size_t size);

/*
 * The same of what was not locked when it was mapped, which is locked as well, part by part: all of
 * it, or none.  Where the kernel does not lock it, `unlocked` says so; the result says what is
 * there.
 */
int shared_more(struct shared *m, uint64_t from, uint64_t upto, int seals, char *text, size_t size);

/* Unmap and close. */
void shared_drop(struct shared *m);

#endif
