/* SPDX-License-Identifier: MIT */
/* chosen.h - read the details of one session that its row does not have: its latency and limit */
#ifndef QUOIT_TOOLS_TOP_CHOSEN_H
#define QUOIT_TOOLS_TOP_CHOSEN_H

#include "read/columns.h"
#include "read/latency.h"
#include "read/limit.h"

struct chosen {
	uint64_t session; /* 0: no session */
	unsigned readings;
	struct latency *reading[2]; /* the last one is [readings % 2] */
	/* growth between the last two readings; after the first reading: everything */
	struct latency *since;
	double span_ns;       /* the time between them; negative: not known */
	struct limits limits; /* the session's limit in that time */
	bool known;           /* the last reading succeeded */
};

/* Read the session once more; for another session, or after chosen_forget, for the first time. */
void chosen_read(struct chosen *c, struct session_files *files, const struct session_row *row);
void chosen_forget(struct chosen *c);
void chosen_free(struct chosen *c);

#endif
