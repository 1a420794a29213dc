/* SPDX-License-Identifier: MIT */
/* charge.c - a connection's share of the budget, and the counters that show it */
#include "charge.h"

void charge_show(const struct control *control)
{
	totals_set(control->totals, QUOIT_DAEMON_HOST_LEASED, budget_leased(control->budget));
	totals_set(control->totals, QUOIT_DAEMON_DEVICE_LEASED,
		   budget_device_leased(control->budget));
}

int charge_memory(struct connection *c, uint64_t bytes, uint64_t *ret_left)
{
	int err = budget_lease(c->control->budget, c->uid, bytes, ret_left);

	if (err < 0) {
		totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_LEASE);
		return err;
	}
	c->leased += bytes;
	charge_show(c->control);
	return 0;
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

	if (err < 0) {
		totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_LEASE);
		return err;
	}
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
