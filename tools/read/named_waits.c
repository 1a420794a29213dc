/* SPDX-License-Identifier: MIT */
/* named_waits.c - what a session waits for at services, locks and their kin */
#include "named_waits.h"

#include <string.h>

/* A longer time is not possible: it comes from a damaged file. */
#define MOST_TICKS (UINT64_C(1) << 56)

size_t named_waits_bytes(unsigned named)
{
	return sizeof(struct quoit_named_now) + named * sizeof(struct quoit_named_wait);
}

static bool is_sane(const struct quoit_named_wait *row)
{
	return row->number && row->kind < QUOIT_SYNC_NR && row->kind != QUOIT_SYNC_TENSOR &&
	       row->ticks[0] < MOST_TICKS && row->ticks[1] < MOST_TICKS;
}

static void take(const struct quoit_named_wait *row, struct named_wait *ret)
{
	*ret = (struct named_wait){.number = row->number,
				   .uid = row->uid,
				   .kind = row->kind,
				   .ticks = {row->ticks[0], row->ticks[1]},
				   .jobs = row->jobs,
				   .servers = row->servers,
				   .lanes = row->lanes};
	memcpy(ret->name, row->name, sizeof row->name);
}

void named_waits_take(const uint8_t *at, unsigned named, struct named_waits *ret)
{
	struct quoit_named_now now;

	ret->count = 0;
	memcpy(&now, at, sizeof now);
	at += sizeof now;
	for (unsigned i = 0; i < named && i < QUOIT_MAX_SERVICES; i++) {
		struct quoit_named_wait row;

		memcpy(&row, at + i * sizeof row, sizeof row);
		if (!is_sane(&row))
			continue;
		if (now.row == i && now.way < QUOIT_NAMED_WAYS && now.ticks < MOST_TICKS)
			row.ticks[now.way] += now.ticks;
		take(&row, &ret->wait[ret->count++]);
	}
}

static const struct named_wait *find(const struct named_waits *w, uint64_t number)
{
	for (unsigned i = 0; i < w->count; i++)
		if (w->wait[i].number == number)
			return &w->wait[i];
	return NULL;
}

/* A wait that went on at the first reading may have been for something else. */
void named_waits_since(const struct named_waits *from, struct named_waits *to)
{
	for (unsigned i = 0; i < to->count; i++) {
		const struct named_wait *before = find(from, to->wait[i].number);

		for (unsigned way = 0; before && way < QUOIT_NAMED_WAYS; way++) {
			uint64_t *ticks = &to->wait[i].ticks[way];

			*ticks = *ticks > before->ticks[way] ? *ticks - before->ticks[way] : 0;
		}
	}
}

const struct named_wait *named_waits_most(const struct named_waits *w,
					  enum quoit_named_way *ret_way, uint64_t *ret_all)
{
	const struct named_wait *most = NULL;

	*ret_all = 0;
	for (unsigned i = 0; i < w->count; i++)
		for (unsigned way = 0; way < QUOIT_NAMED_WAYS; way++) {
			const uint64_t ticks = w->wait[i].ticks[way];

			*ret_all += ticks;
			if (ticks <= (most ? most->ticks[*ret_way] : 0))
				continue;
			most = &w->wait[i];
			*ret_way = (enum quoit_named_way)way;
		}
	return most;
}
