/* SPDX-License-Identifier: MIT */
/* totals.h - the daemon's own counter file, for everybody to read */
#ifndef QUOITD_TOTALS_H
#define QUOITD_TOTALS_H

#include <quoit/stats.h>

/*
 * Make the file, or anonymous memory if that fails; NULL: out of memory.  *ret_fd: the file, locked
 * for as long as quoitd lives, so that tools in other PID namespaces see that it does; -1: none.
 */
struct quoit_totals *totals_open(int directory, uint32_t reactors, int *ret_fd);
void totals_close(struct quoit_totals *t, int fd, int directory);

/* The name of a counter (QUOIT_DAEMON_*) as in the file; a constant string. */
const char *totals_label(uint32_t counter);

/* Count one event, or set a value (QUOIT_DAEMON_*).  Any thread. */
void totals_count(struct quoit_totals *t, uint32_t counter);
void totals_set(struct quoit_totals *t, uint32_t counter, uint64_t value);

void totals_fill_header(struct quoit_stats_header *h, uint32_t file_bytes, uint32_t header_bytes,
			uint32_t counters, uint32_t reactors);

/* CLOCK_BOOTTIME */
uint64_t totals_now_ns(void);

#endif
