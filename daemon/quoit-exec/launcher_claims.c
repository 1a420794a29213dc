/* SPDX-License-Identifier: MIT */
/*
 * launcher_claims.c - count what users have used of a device: time at the head of its streams.
 *
 * A flight's time is known when it is over, and many flights enter a stream before that.  Each is
 * first counted with what its user's flights took of late, and later with the difference.
 */
#include "launcher_claims.h"

#include "base/tsc.h"
#include "launcher_private.h"

/* The last flight's time makes up 1/USUAL_PART of the usual time. */
#define USUAL_PART 8

static struct claim *claim_of(struct launcher *l, const struct flight *f)
{
	return &l->claim[f->user];
}

void claim_take(struct launcher *l, struct flight *f)
{
	const struct quoit_exec_owner *owner =
		&l->channels->channel[flight_channel(l, f)].daemon->owner[f->q.slot];

	f->user = __atomic_load_n(&owner->user, __ATOMIC_RELAXED) % QUOIT_EXEC_USERS;
	f->share = __atomic_load_n(&owner->share, __ATOMIC_RELAXED);
	f->share = f->share ? f->share : SHARE_NORMAL;
	l->holding[flight_holding(l, f)].user = f->user;
	ledger_open(&claim_of(l, f)->page, &l->clock);
}

void claim_start(struct launcher *l, struct flight *f)
{
	struct claim *c = claim_of(l, f);

	f->counted = c->usual;
	ledger_choose(&c->page, &l->clock);
	ledger_count(&c->page, f->counted, f->share);
}

void claim_end(struct launcher *l, const struct flight *f)
{
	ledger_close(&claim_of(l, f)->page);
}

void claim_waits(struct stream *s)
{
	s->passed = tsc_now();
}

void claim_passed(struct launcher *l, struct stream *s, uint32_t index, uint32_t count)
{
	uint64_t now = tsc_now(), from = l->flight[index].issued;
	int64_t each;

	from = from > s->passed ? from : s->passed;
	each = (int64_t)((now - from) / count);
	s->passed = now;
	for (; count; count--) {
		const struct flight *f = &l->flight[index];
		struct claim *c = claim_of(l, f);

		channel_count(&l->channels->channel[flight_channel(l, f)], f->q.slot, each);
		ledger_count(&c->page, each - f->counted, f->share);
		c->usual += (each - c->usual) / USUAL_PART;
		index = f->next;
	}
}
