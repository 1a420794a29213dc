/* SPDX-License-Identifier: MIT */
/* charge.c - charges connections to the budget, and updates the counters that show it */
#include "charge.h"

#include <errno.h>

#include "memory/lease.h"

void charge_show(const struct control *control)
{
	totals_set(control->totals, QUOIT_DAEMON_HOST_LEASED, budget_leased(control->budget));
	totals_set(control->totals, QUOIT_DAEMON_DEVICE_LEASED,
		   budget_device_leased(control->budget));
}

int charge_memory(struct connection *c, uint64_t bytes, uint64_t *ret_left)
{
	int err = budget_lease(c->control->budget, c->uid, bytes, ret_left);

	if (err < 0)
		return err;
	c->leased += bytes;
	charge_show(c->control);
	return 0;
}

void charge_refused(const struct connection *c)
{
	totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_LEASE);
}

void charge_return_memory(struct connection *c, uint64_t bytes)
{
	c->leased -= bytes;
	budget_return(c->control->budget, c->uid, bytes);
	charge_show(c->control);
}

int charge_device(struct connection *c, uint64_t bytes, uint64_t *ret_left)
{
	int err = budget_lease_device(c->control->budget, c->uid, bytes, ret_left);

	if (err < 0)
		return err;
	c->device_leased += bytes;
	charge_show(c->control);
	return 0;
}

void charge_return_device(struct connection *c, uint64_t bytes)
{
	c->device_leased -= bytes;
	budget_return_device(c->control->budget, c->uid, bytes);
	charge_show(c->control);
}

int charge_rings(struct connection *c, uint32_t count, uint64_t *ret_left)
{
	int err = budget_rings(c->control->budget, c->uid, count, ret_left);

	if (err < 0) {
		totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_RINGS);
		return err;
	}
	c->rings += count;
	return 0;
}

void charge_return_rings(struct connection *c, uint32_t count)
{
	c->rings -= count;
	budget_return_rings(c->control->budget, c->uid, count);
}

/* ---- leases that grow ---- */

/* A refusal is not counted: the session goes on with what it has. */
static bool charge_more(struct connection *c, uint64_t bytes, uint64_t *ret_left)
{
	if (budget_lease(c->control->budget, c->uid, bytes, ret_left) < 0)
		return false;
	c->leased += bytes;
	charge_show(c->control);
	return true;
}

/* Charge so many bytes more, and what the growth costs besides if the lease was never so large. */
static bool grow(struct connection *c, uint64_t bytes, uint64_t *ret_left)
{
	uint64_t lease = c->lease + bytes, beside = 0;

	if (lease > c->lease_peak)
		beside = session_growth_cost(c->session, c->lease_peak, lease);
	if (!charge_more(c, bytes + beside, ret_left))
		return false;
	c->lease = lease;
	c->lease_peak = lease > c->lease_peak ? lease : c->lease_peak;
	return true;
}

static bool grow_tables(struct connection *c, uint32_t parts)
{
	uint64_t left;

	return charge_more(c,
			   session_tables_cost(c->session, parts) -
				   session_tables_cost(c->session, parts / 2),
			   &left);
}

void charge_lease(struct connection *c, const struct mail *m)
{
	struct mail answer = *m;
	bool is_alive = c->state != CONNECTION_GONE, granted;
	uint64_t left = 0;

	switch (m->a) {
	case LEASE_LESS:
		c->lease -= m->bytes;
		charge_return_memory(c, m->bytes);
		return;
	case LEASE_TABLES:
		granted = is_alive && grow_tables(c, m->b);
		break;
	default:
		granted = is_alive && grow(c, m->bytes, &left);
		if (!granted && is_alive && m->least < m->bytes) {
			answer.bytes = m->least;
			granted = grow(c, m->least, &left);
		}
		if (!granted)
			answer.bytes = left;
		break;
	}
	answer.result = granted ? 0 : -EDQUOT;
	mailbox_send(&c->control->reactors[c->reactor].inbox, &answer);
}
