/* SPDX-License-Identifier: MIT */
/* connection_rings.c - checks, charges, makes and frees the rings of a connection */
#include "connection_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process_limits.h"
#include "charge.h"

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
		snprintf(text, size, "sq_entries is %u: allowed is a power of two from %u to %u",
			 o->sq_entries, QUOIT_MIN_ENTRIES, QUOIT_MAX_ENTRIES);
	else if (!is_power_of_two(ret->cq_entries) || ret->cq_entries < ret->sq_entries ||
		 ret->cq_entries > 2 * QUOIT_MAX_ENTRIES)
		snprintf(text, size,
			 "cq_entries is %u: allowed is a power of two from sq_entries to %u",
			 o->cq_entries, 2 * QUOIT_MAX_ENTRIES);
	else if (o->flags & ~QUOIT_RING_FLAGS)
		snprintf(text, size, "unknown ring flags %#x", o->flags & ~QUOIT_RING_FLAGS);
	else if (!o->count || o->count > QUOIT_MAX_RINGS)
		snprintf(text, size, "cannot open %u rings at once: allowed are 1 to %u", o->count,
			 QUOIT_MAX_RINGS);
	else
		return 0;
	return -EINVAL;
}

static int check_ring_count(const struct connection *c, char *text, size_t size)
{
	if (c->ring_open.count <= QUOIT_MAX_RINGS - c->first_ring)
		return 0;
	snprintf(text, size,
		 "cannot open %u more rings: a session has %u ring numbers in all, and they are "
		 "not reused",
		 c->ring_open.count, QUOIT_MAX_RINGS);
	return -ENFILE;
}

/* Is RING_OPEN allowed now, and is there memory for each ring? */
static int check_memory(const struct connection *c, const struct ctl_fds *fds, char *text,
			size_t size)
{
	if (!c->session->arena || c->rings_waiting || c->making.charged) {
		snprintf(text, size, "RING_OPEN was sent too early: send %s first",
			 !c->session->arena ? "ARENA and READY"
			 : c->rings_waiting ? "READY for the rings before"
					    : "READY for the tensor before");
		return -EINVAL;
	}
	if (fds->lost) {
		snprintf(text, size,
			 "quoitd has no file descriptor left (its limit: LimitNOFILE= of the unit, "
			 "ulimit -n)");
		return -EMFILE;
	}
	if (fds->count == c->ring_open.count)
		return 0;
	snprintf(text, size, "%u rings came with %u descriptors: send one for each",
		 c->ring_open.count, fds->count);
	return -EINVAL;
}

/* ---- charges ---- */

/* Rings are charged on top of the lease. */
static uint64_t rings_cost(const struct quoit_ring_open *open)
{
	struct quoit_ring_layout layout;

	quoit_ring_layout_of(open, &layout);
	return open->count * ring_cost(&layout);
}

/* Charge the rings themselves, and their memory. */
static int charge_ring_open(struct connection *c, char *text, size_t size)
{
	uint64_t bytes = rings_cost(&c->ring_open), left;
	int err = charge_rings(c, c->ring_open.count, &left);

	if (err < 0) {
		snprintf(text, size,
			 "cannot open %u rings: this user has %llu left of %llu; close some, or "
			 "raise uid-rings",
			 c->ring_open.count, (unsigned long long)left,
			 (unsigned long long)budget_of(c->control->budget, c->uid)
				 ->may.value[RULE_RINGS]);
		return err;
	}
	err = charge_memory(c, bytes, &left);
	if (err < 0) {
		charge_refused(c);
		charge_return_rings(c, c->ring_open.count);
		snprintf(
			text, size,
			"the rings need %llu KiB of %llu left; ask for less, close some, or raise memory",
			(unsigned long long)(bytes + 1023) >> 10, (unsigned long long)left >> 10);
	}
	return err;
}

void connection_uncharge_rings(struct connection *c)
{
	charge_return_rings(c, c->ring_open.count);
	charge_return_memory(c, rings_cost(&c->ring_open));
}

void connection_drop_ring(struct connection *c, struct ring *ring)
{
	charge_return_rings(c, 1);
	charge_return_memory(c, ring_cost(&ring->layout));
	ring_free(ring);
}

/* ---- opening ---- */

void connection_open_rings(struct connection *c, const struct quoit_ctl *m,
			   const struct ctl_fds *fds)
{
	struct quoit_ring_layout layout;
	char text[QUOIT_TEXT_BYTES];
	struct quoit_ring_open open;
	int err = check_ring_open(&m->ring_open, &open, text, sizeof text);

	if (!err && !c->rings_waiting) /* else ring_open describes the rings that wait for READY */
		c->ring_open = open;
	if (!err)
		err = check_memory(c, fds, text, sizeof text);
	if (!err)
		err = check_ring_count(c, text, sizeof text);
	if (!err)
		err = charge_ring_open(c, text, sizeof text);
	if (err < 0) {
		connection_drop_fds(c, fds);
		connection_reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	quoit_ring_layout_of(&c->ring_open, &layout);
	connection_map(c, m, fds, quoit_ring_bytes(&layout));
}

/* All rings, or none. */
static int make_rings(struct connection *c, struct shared *memory, int *sockets)
{
	for (uint32_t i = 0; i < c->ring_open.count; i++) {
		int err = ring_new(c->session, c->first_ring + i, &c->ring_open, &memory[i],
				   &c->new_rings[i], &sockets[i]);

		if (err < 0) {
			for (uint32_t k = i; k < c->ring_open.count; k++)
				blocking_drop(&c->blocking, &memory[k]);
			while (i-- > 0) {
				close(sockets[i]);
				ring_free(c->new_rings[i]);
			}
			return err;
		}
	}
	return 0;
}

void connection_make_rings(struct connection *c, struct shared *memory)
{
	struct quoit_ctl answer = {.type = c->pending, .seq = c->pending_seq};
	char why[QUOIT_TEXT_BYTES - sizeof "cannot make a ring: "];
	int sockets[QUOIT_MAX_RINGS];

	c->pending = 0;
	answer.result = make_rings(c, memory, sockets);
	if (answer.result < 0) {
		connection_uncharge_rings(c);
		process_limits_explain(answer.result, why, sizeof why);
		connection_reply_result(c, answer.type, answer.seq, answer.result,
					"cannot make a ring: %s", why);
		return;
	}
	c->rings_waiting = c->ring_open.count;
	answer.ring_reply.ring = c->first_ring;
	answer.ring_reply.count = c->ring_open.count;
	answer.ring_reply.seals = (uint32_t)connection_seals(c, HANDOVER_RINGS);
	connection_reply(c, &answer, sockets, c->ring_open.count);
	for (uint32_t i = 0; i < c->ring_open.count; i++)
		close(sockets[i]);
}

/* Ring indices are never used again, so that a late message cannot mean another ring. */
void connection_hand_rings_over(struct connection *c)
{
	c->rings_waiting = 0;
	c->first_ring += c->ring_open.count;
	c->rings_expected = c->ring_open.count;
	c->rings_error = 0;
	for (uint32_t i = 0; i < c->ring_open.count; i++) {
		struct mail mail = {.type = MAIL_RING_ADD, .session = c->session};

		mail.ring = c->new_rings[i];
		mailbox_send(&c->control->reactors[c->reactor].inbox, &mail);
	}
}

void connection_answer_ring(struct connection *c, const struct mail *m)
{
	if (m->result < 0) {
		c->rings_error = m->result;
		connection_drop_ring(c, m->ring);
	}
	if (--c->rings_expected)
		return;
	c->pending = 0;
	if (c->state == CONNECTION_GONE)
		return;
	if (c->rings_error)
		connection_reply_result(c, QUOIT_CTL_READY, c->pending_seq, c->rings_error,
					"cannot add a ring: %s", strerror(-c->rings_error));
	else
		connection_reply_result(c, QUOIT_CTL_READY, c->pending_seq, 0, NULL);
}
