/* SPDX-License-Identifier: MIT */
/*
 * histograms.h - read quoitd's file of histograms and operations, as a program can with only the
 * header
 */
#ifndef TESTS_HISTOGRAMS_H
#define TESTS_HISTOGRAMS_H

#include <quoit/stats.h>

#include "daemon.h"

/* How many values these histograms have together; number negative: of all things of the kind. */
uint64_t histograms_count(const struct daemon *d, uint32_t of, int64_t number, const char *label);

/* How many of them took at least this many seconds. */
uint64_t histograms_longer(const struct daemon *d, uint32_t of, int64_t number, const char *label,
			   double seconds);

/* The totals of an operation over all reactors. */
struct quoit_operation_totals histograms_operation(const struct daemon *d, uint8_t operation);

/* The same; waits a few seconds for this many jobs and bytes. */
struct quoit_operation_totals histograms_wait(const struct daemon *d, uint8_t operation,
					      uint64_t jobs, uint64_t bytes);

#endif
