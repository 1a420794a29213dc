/* SPDX-License-Identifier: MIT */
/* hello_charge.c - charges what a session leases at HELLO */
#include "hello_charge.h"

#include <stdio.h>

#include "charge.h"

static void return_lease(struct connection *c)
{
	charge_return_memory(c, c->leased);
	charge_return_device(c, c->device_leased);
}

/* A client that asks for no device memory may need none: it gets the default if that is left. */
static int lease_device(struct connection *c, bool asked, struct session_limits *limits,
			struct quoit_ctl *answer)
{
	uint64_t left;
	int err;

	if (!asked && budget_device_left(c->control->budget, c->uid) < limits->device_bytes)
		limits->device_bytes = 0;
	err = charge_device(c, limits->device_bytes, &left);
	if (err < 0)
		snprintf(answer->text, sizeof answer->text,
			 "cannot lease %llu bytes on each device: this user has %llu left; ask for "
			 "less, or close sessions",
			 (unsigned long long)limits->device_bytes, (unsigned long long)left);
	return err;
}

/* A session that brings kernels uses its devices in processes that its user has for itself. */
static int take_own(struct connection *c, const struct quoit_hello *h,
		    struct session_limits *limits, struct quoit_ctl *answer)
{
	int first;

	limits->kernels = h->features & QUOIT_FEATURE_KERNELS && limits->devices;
	if (!limits->kernels)
		return 0;
	first = executors_take_own(c->control->executors, c->uid);
	if (first < 0) {
		snprintf(answer->text, sizeof answer->text,
			 "%d users bring kernels already, the most that quoitd allows; try again "
			 "once one has ended",
			 CONFIG_OWN_USERS);
		totals_count(c->control->totals, QUOIT_DAEMON_REFUSED_KERNELS);
		return first;
	}
	limits->first_device = (uint32_t)first;
	c->has_own = true;
	return 0;
}

static void give_own(struct connection *c)
{
	if (c->has_own)
		executors_give_own(c->control->executors, c->uid);
	c->has_own = false;
}

/* Charge a slab on each device, beside the lease.  A session that cannot have one uses streams. */
static void grant_direct(struct connection *c, struct session_limits *limits)
{
	uint64_t left;

	if (limits->direct)
		limits->direct =
			limits->devices && limits->device_bytes &&
			budget_device_left(c->control->budget, c->uid) >= QUOIT_DIRECT_SLAB_BYTES &&
			charge_device(c, QUOIT_DIRECT_SLAB_BYTES, &left) == 0;
}

static unsigned long long mib_of(uint64_t bytes, bool up)
{
	return (bytes >> 20) + (up && bytes & ((1u << 20) - 1));
}

/* In MiB, to leave room for what the user can do.  Absurdly long sentences are cut off. */
static void say_no_lease(const struct connection *c, uint64_t bytes, uint64_t tables, uint64_t left,
			 struct quoit_ctl *answer)
{
	uint64_t all = budget_memory_of(c->control->budget, c->uid);
	char text[2 * QUOIT_TEXT_BYTES];

	snprintf(text, sizeof text,
		 "a lease of %llu MiB and %llu for tables: %llu of %llu are left; ask for less, "
		 "close sessions, or raise memory",
		 mib_of(bytes, true), mib_of(tables, true), mib_of(left, false),
		 mib_of(all, false));
	snprintf(answer->text, sizeof answer->text, "%.*s", (int)sizeof answer->text - 1, text);
}

static int lease(struct connection *c, bool asked_device, struct session_limits *limits,
		 struct quoit_ctl *answer)
{
	uint64_t tables = session_cost(limits), left;
	uint64_t bytes =
		limits->host_bytes > UINT64_MAX - tables ? UINT64_MAX : limits->host_bytes + tables;
	int err = charge_memory(c, bytes, &left);

	if (err < 0)
		say_no_lease(c, limits->host_bytes, tables, left, answer);
	if (!err)
		err = lease_device(c, asked_device, limits, answer);
	if (err < 0)
		return_lease(c);
	else
		grant_direct(c, limits);
	return err;
}

int hello_charge(struct connection *c, const struct quoit_hello *h, struct session_limits *limits,
		 struct quoit_ctl *answer)
{
	int err = take_own(c, h, limits, answer);

	if (!err)
		err = lease(c, h->device_bytes != 0, limits, answer);
	if (err < 0)
		give_own(c);
	return err;
}

void hello_uncharge(struct connection *c)
{
	return_lease(c);
	give_own(c);
}
