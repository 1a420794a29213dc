/* SPDX-License-Identifier: MIT */
/* connection_arena.c - lets an arena grow: charges and checks what the client has added */
#include "connection_memory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "charge.h"

/* ---- a blocking call ---- */

/*
 * A client asks before it allocates the pages.  Say so without touching them: where no SIGBUS guard
 * is on the mapping, that would make the pages, and charge them to quoitd.
 */
static bool lacks_pages(const struct handover *h)
{
	struct stat st;

	return fstat(h->memory[0].fd, &st) == 0 && (uint64_t)st.st_blocks * 512 < h->upto;
}

static void lock_and_check(void *of)
{
	struct handover *h = of;

	if (lacks_pages(h)) {
		snprintf(h->text, sizeof h->text,
			 "a page of its bytes %llu to %llu is not allocated: allocate all "
			 "(fallocate)",
			 (unsigned long long)h->from, (unsigned long long)h->upto - 1);
		h->result = -EFAULT;
		return;
	}
	if (!h->wish.locked) {
		connection_check_memory(h);
		return;
	}
	h->result = shared_more(&h->memory[0], h->from, h->upto, h->seals, h->text, sizeof h->text);
	if (!h->result)
		connection_count_away(h);
}

/* ---- charges ---- */

/*
 * Page tables that are not charged yet.  Once quoitd has looked at the pages, the tables stay as
 * long as the mapping.
 */
static uint64_t tables(const struct connection *c, uint64_t upto)
{
	return upto > c->arena_peak ? page_table_bytes(upto) - page_table_bytes(c->arena_peak) : 0;
}

static void give_up(struct connection *c, int err, const char *why)
{
	charge_return_memory(c, c->handover.upto - c->handover.from);
	c->pending = 0;
	connection_reply_result(c, QUOIT_CTL_ARENA_MORE, c->pending_seq, err,
				"the arena is refused: %s", why);
}

/* ---- what is asked for ---- */

/* arena: how many bytes it is to have, without the shared region before it. */
static int check(struct connection *c, uint64_t arena, char *text, size_t size)
{
	const struct session *s = c->session;
	uint64_t bytes = arena + s->shared_bytes, cost, left;
	int err;

	if (!s->arena) {
		snprintf(text, size, "ARENA_MORE was sent too early: send ARENA and READY first");
		return -EINVAL;
	}
	if (arena % QUOIT_CTL_PAGE || arena > s->arena_most - s->shared_bytes ||
	    bytes <= c->arena_bytes) {
		snprintf(text, size,
			 "the arena cannot have %llu bytes: allowed are whole pages, more than "
			 "%llu, at most %llu",
			 (unsigned long long)arena,
			 (unsigned long long)(c->arena_bytes - s->shared_bytes),
			 (unsigned long long)(s->arena_most - s->shared_bytes));
		return -EINVAL;
	}
	c->handover.from = c->arena_bytes;
	c->handover.upto = bytes;
	cost = bytes - c->arena_bytes + tables(c, bytes);
	err = charge_memory(c, cost, &left);
	if (err < 0) {
		charge_refused(c);
		snprintf(text, size,
			 "the arena cannot grow by %llu KiB: %llu KiB are left to this user; close "
			 "sessions",
			 (unsigned long long)cost >> 10, (unsigned long long)left >> 10);
	} else {
		c->arena_peak = bytes > c->arena_peak ? bytes : c->arena_peak;
	}
	return err;
}

void connection_arena_more(struct connection *c, const struct quoit_ctl *m)
{
	struct handover *h = &c->handover;
	char text[QUOIT_TEXT_BYTES];
	int err = check(c, m->arena_more.bytes, text, sizeof text);

	if (err < 0) {
		connection_reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	h->kind = HANDOVER_ARENA;
	h->count = 1;
	h->seals = connection_seals(c, HANDOVER_ARENA);
	h->memory[0] = c->session->arena_memory; /* it stays as long as there are blocking calls */
	h->wish = (struct shared_wish){.locked = c->control->config->is_private ? 0 : h->upto,
				       .node = c->session->memory_node};
	connection_begin_blocking(c, m, lock_and_check);
}

/* ---- what is answered ---- */

void connection_arena_checked(struct connection *c, bool late)
{
	struct handover *h = &c->handover;
	struct mail m = {.type = MAIL_ARENA, .session = c->session, .bytes = h->upto};
	int err = h->result;

	if (late)
		return; /* the memory goes back with the session, or has gone */
	if (!err)
		err = connection_look_at_locks(c);
	if (err < 0) {
		give_up(c, err, h->text);
		return;
	}
	c->arena_bytes = h->upto;
	__atomic_fetch_add(&c->session->arena_away, h->away, __ATOMIC_RELAXED);
	mailbox_send(&c->control->reactors[c->reactor].inbox, &m);
}
