/* SPDX-License-Identifier: MIT */
/* histograms.h - quoitd's file of histograms and operations, as a program reads it that has only
 * the header */
#ifndef TESTS_HISTOGRAMS_H
#define TESTS_HISTOGRAMS_H

#include <quoit/stats.h>

#include "daemon.h"

/* How many the histograms of these have, all together; number negative: of any. */
uint64_t histograms_count(const struct daemon *d, uint32_t of, int64_t number, const char *label);

/* How many of them took at least so long, seconds. */
uint64_t histograms_longer(const struct daemon *d, uint32_t of, int64_t number, const char *label,
			   double seconds);

/* What was done of an operation, by all reactors. */
struct quoit_operation_totals histograms_operation(const struct daemon *d, uint8_t operation);

/* The same as soon as it has so many jobs and bytes, or what it has after a few seconds. */
struct quoit_operation_totals histograms_wait(const struct daemon *d, uint8_t operation,
					      uint64_t jobs, uint64_t bytes);

#endif
