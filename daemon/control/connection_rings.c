/* SPDX-License-Identifier: MIT */
/* connection_rings.c - the rings of a connection: checked, charged, made, and let go */
#include "connection_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "charge.h"
#include "host/process_limits.h"
#include "memory/bind.h"

/* ---- what is asked for ---- */

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

static int check_ring_open(const struct quoit_ring_open *o, struct quoit_ring_open *ret, char *text,
			   size_t size)
{
	*ret = *o;
	if (!ret->cq_entries && o->sq_entries <= QUOIT_MAX_ENTRIES)
		ret->cq_entries = 2 * o->sq_entries;
	if (!is_power_of_two(ret->sq_entries) || ret->sq_entries < QUOIT_MIN_ENTRIES ||
	    ret->sq_entries > QUOIT_MAX_ENTRIES)
		snprintf(text, size, "sq_entries %u: a power of two from %u to %u", o->sq_entries,
			 QUOIT_MIN_ENTRIES, QUOIT_MAX_ENTRIES);
	else if (!is_power_of_two(ret->cq_entries) || ret->cq_entries < ret->sq_entries ||
		 ret->cq_entries > 2 * QUOIT_MAX_ENTRIES)
		snprintf(text, size, "cq_entries %u: a power of two from sq_entries to %u",
			 o->cq_entries, 2 * QUOIT_MAX_ENTRIES);
	else if (o->flags & ~QUOIT_RING_FLAGS)
		snprintf(text, size, "unknown ring flags %#x", o->flags & ~QUOIT_RING_FLAGS);
	else if (!o->count || o->count > QUOIT_MAX_RINGS)
		snprintf(text, size, "%u rings: 1 to %u", o->count, QUOIT_MAX_RINGS);
	else
		return 0;
	return -EINVAL;
}

static int check_ring_count(const struct connection *c, char *text, size_t size)
{
	if (c->ring_open.count <= QUOIT_MAX_RINGS - c->first_ring)
		return 0;
	snprintf(text, size, "%u more rings: a session has at most %u", c->ring_open.count,
		 QUOIT_MAX_RINGS);
	return -ENFILE;
}

/* ---- descriptors and charges ---- */

static void close_ring_fds(struct connection *c, uint32_t rings)
{
	for (uint32_t i = 0; i < 3 * rings; i++)
		if (c->ring_fds[i] >= 0)
			close(c->ring_fds[i]);
}

/* Rings are charged on top of the lease. */
static uint64_t rings_cost(const struct quoit_ring_open *open)
{
	struct quoit_ring_layout layout;

	ring_layout(open, &layout);
	return open->count * ring_cost(&layout);
}

/* Slots in a reactor, and memory. */
static int charge_ring_open(struct connection *c, char *text, size_t size)
{
	uint64_t bytes = rings_cost(&c->ring_open), left;
	int err = charge_rings(c, c->ring_open.count, &left);

	if (err < 0) {
		snprintf(text, size, "%u rings: %llu are left of the %llu of a user",
			 c->ring_open.count, (unsigned long long)left,
			 (unsigned long long)budget_of(c->control->budget, c->uid)
				 ->may.value[RULE_RINGS]);
		return err;
	}
	err = charge_memory(c, bytes, &left);
	if (err < 0) {
		charge_return_rings(c, c->ring_open.count);
		snprintf(text, size, "%llu bytes of rings: %llu are left",
			 (unsigned long long)bytes, (unsigned long long)left);
	}
	return err;
}

void connection_drop_ring(struct connection *c, struct ring *ring)
{
	charge_return_rings(c, 1);
	charge_return_memory(c, ring_cost(&ring->layout));
	ring_free(ring);
}

/* ---- opening ---- */

/* Ring indices are never used again, so that a late message cannot mean another ring. */
static int make_rings(struct connection *c, const struct quoit_ring_open *open)
{
	for (uint32_t i = 0; i < open->count; i++) {
		int *fds = &c->ring_fds[3 * i];
		int err = ring_new(c->session, c->first_ring + i, open, &c->new_rings[i], &fds[0],
				   &fds[1], &fds[2]);

		if (err < 0) {
			while (i-- > 0)
				ring_free(c->new_rings[i]);
			return err;
		}
		bind_ring(c->session, c->new_rings[i]);
	}
	return 0;
}

/* Make what is charged; if that fails, nothing is left, and nothing is charged any more. */
static int make_charged_rings(struct connection *c, char *text, size_t size)
{
	char why[QUOIT_TEXT_BYTES - sizeof "cannot make a ring: "];
	int err;

	for (uint32_t i = 0; i < 3 * c->ring_open.count; i++)
		c->ring_fds[i] = -1;
	err = make_rings(c, &c->ring_open);
	if (err < 0) {
		charge_return_rings(c, c->ring_open.count);
		charge_return_memory(c, rings_cost(&c->ring_open));
		close_ring_fds(c, c->ring_open.count);
		process_limits_explain(err, why, sizeof why);
		snprintf(text, size, "cannot make a ring: %s", why);
	}
	return err;
}

/* The reactor answers for each of them. */
static void hand_rings_over(struct connection *c)
{
	c->rings_expected = c->ring_open.count;
	c->rings_error = 0;
	for (uint32_t i = 0; i < c->ring_open.count; i++) {
		struct mail mail = {.type = MAIL_RING_ADD, .session = c->session};

		mail.ring = c->new_rings[i];
		mailbox_send(&c->control->reactors[c->reactor].inbox, &mail);
	}
}

void connection_open_rings(struct connection *c, const struct quoit_ctl *m)
{
	char text[QUOIT_TEXT_BYTES];
	int err = check_ring_open(&m->ring_open, &c->ring_open, text, sizeof text);

	if (!err)
		err = check_ring_count(c, text, sizeof text);
	if (!err)
		err = charge_ring_open(c, text, sizeof text);
	if (!err)
		err = make_charged_rings(c, text, sizeof text);
	if (err < 0) {
		connection_reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	c->pending = m->type;
	c->pending_seq = m->seq;
	hand_rings_over(c);
}

void connection_answer_ring(struct connection *c, const struct mail *m)
{
	struct quoit_ctl answer = {.type = QUOIT_CTL_RING_OPEN, .seq = c->pending_seq};

	if (m->result < 0) {
		c->rings_error = m->result;
		connection_drop_ring(c, m->ring);
	}
	if (--c->rings_expected)
		return;
	c->pending = 0;
	answer.result = c->rings_error;
	if (!c->rings_error) {
		answer.ring_reply.ring = c->first_ring;
		answer.ring_reply.count = c->ring_open.count;
		ring_layout(&c->ring_open, &answer.ring_reply.layout);
	} else {
		snprintf(answer.text, sizeof answer.text, "cannot add a ring: %s",
			 strerror(-c->rings_error));
	}
	c->first_ring += c->ring_open.count; /* of a failure some may be there until the end */
	if (c->state != CONNECTION_GONE)
		connection_reply(c, &answer, c->ring_fds,
				 c->rings_error ? 0 : 3 * c->ring_open.count);
	close_ring_fds(c, c->ring_open.count);
}
