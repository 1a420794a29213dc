/* SPDX-License-Identifier: MIT */
/* shared.h - memory that quoitd sees, too */
#ifndef LIBQUOIT_SHARED_H
#define LIBQUOIT_SHARED_H

#include <stdint.h>

#include <quoit/ctl.h>

struct shared {
	int fd;        /* -1: closed */
	uint8_t *base; /* NULL: not mapped */
	uint64_t bytes;
};

/* A failure of these leaves a text for quoit_open_text. */

/*
 * Make a memfd of `bytes`, sealed against shrinking and growing, and map it.  It is not inherited
 * by fork() and not dumped.  It has no pages yet, so that quoitd can first choose their node.
 */
int libquoit_shared_make(struct shared *ret, const char *name, uint64_t bytes);

/*
 * Allocate the pages of the first `bytes`, and add the seals that quoitd asked for.  If these are
 * all pages, close the memfd; otherwise libquoit_shared_more allocates others later.
 */
int libquoit_shared_fill(struct shared *m, uint64_t bytes, uint32_t seals);
int libquoit_shared_more(const struct shared *m, uint64_t from, uint64_t upto);

/* Give these pages back to the system if the seals allow it; quoitd must not use them. */
void libquoit_shared_less(const struct shared *m, uint64_t from, uint64_t upto);

/*
 * Map memory of another process for reading; quoitd has sent its descriptor, which stays the
 * caller's.  whose: for the text.
 */
int libquoit_shared_look(int fd, uint64_t bytes, const char *whose, struct shared *ret);

/* Whole pages, in bytes. */
static inline uint64_t libquoit_whole_pages(uint64_t bytes)
{
	return (bytes + QUOIT_CTL_PAGE - 1) / QUOIT_CTL_PAGE * QUOIT_CTL_PAGE;
}

/* Unmap, and close the open descriptors. */
void libquoit_shared_drop(struct shared *m);

#endif
