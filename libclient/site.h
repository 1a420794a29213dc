/* SPDX-License-Identifier: MIT */
/*
 * site.h - count waits by the places in the program that wait on a ring.
 *
 * The table lies in the ring's client pages, and other processes read it while we write it; only
 * the ring's thread writes.  Site 0 is "unknown": waits without a place, and all places after the
 * table is full.
 */
#ifndef LIBQUOIT_SITE_H
#define LIBQUOIT_SITE_H

#include <stdint.h>

#include <quoit/abi.h>

#define SITE_CACHE 64u /* a power of two */

struct site_table {
	struct quoit_site *site;
	uint32_t used; /* sites [1, used) are named */
	struct {
		const char *here;
		uint32_t index;
	} cache[SITE_CACHE]; /* by the address of the place's text */
};

void libquoit_site_init(struct site_table *t, struct quoit_site *site);

/* The site of "path/file.c:123"; NULL: site 0.  The text must stay unchanged. */
uint32_t libquoit_site_find(struct site_table *t, const char *here);

/* Count one more wait at the site, this many ticks long. */
void libquoit_site_count(struct site_table *t, uint32_t index, uint64_t ticks);

#endif
