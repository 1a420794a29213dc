/* SPDX-License-Identifier: MIT */
/*
 * named_waits.h - what a session waits for at services, locks and their kin, as its latency file
 * has it (struct quoit_named_wait).
 *
 * The bytes are hostile, as in latency.h.  Pure.
 */
#ifndef QUOIT_TOOLS_NAMED_WAITS_H
#define QUOIT_TOOLS_NAMED_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quoit/stats.h>

struct named_wait {
	uint64_t number; /* as `quoit ls` shows it */
	uint32_t uid;
	uint32_t kind;                                                /* enum quoit_sync_kind */
	char name[sizeof((struct quoit_named_wait *)NULL)->name + 1]; /* any bytes: escape them */
	uint64_t ticks[QUOIT_NAMED_WAYS]; /* with those of a wait that goes on */
	uint32_t jobs, servers, lanes;
};

struct named_waits {
	struct named_wait wait[QUOIT_MAX_SERVICES];
	unsigned count;
};

/* Take them from a file: `named` rows behind the head, at `at`, which lie within the file. */
void named_waits_take(const uint8_t *at, unsigned named, struct named_waits *ret);

/* The bytes that so many rows take with their head. */
size_t named_waits_bytes(unsigned named);

/* Reduce `to` to what came after `from`. */
void named_waits_since(const struct named_waits *from, struct named_waits *to);

/* What was waited for most, and for what there; NULL: nothing was.  *ret_all: ticks of all. */
const struct named_wait *named_waits_most(const struct named_waits *w,
					  enum quoit_named_way *ret_way, uint64_t *ret_all);

#endif
