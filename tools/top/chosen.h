/* SPDX-License-Identifier: MIT */
/* chosen.h - what is read of one session beyond its row: its legs, and what limits it */
#ifndef QUOIT_TOOLS_TOP_CHOSEN_H
#define QUOIT_TOOLS_TOP_CHOSEN_H

#include "columns.h"
#include "legs.h"
#include "limit.h"

struct chosen {
	uint64_t session; /* 0: none */
	unsigned readings;
	struct legs *reading[2]; /* the last one is [readings % 2] */
	struct legs *since;      /* what came between the last two; after the first: all */
	double span_ns;          /* over so long; negative: not known */
	struct limits limits;    /* what limits it in that time */
	bool known;              /* the last reading was good */
};

/* Read it once more; another one, or after chosen_forget, for the first time. */
void chosen_read(struct chosen *c, int directory, const struct session_row *row);
void chosen_forget(struct chosen *c);
void chosen_free(struct chosen *c);

#endif
