/* SPDX-License-Identifier: MIT */
/* budget.c - keeps leases, rings and connections per uid */
#include "budget.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct account {
	struct budget_user user;
	gid_t *gids;
	size_t gid_count;
};

struct budget {
	const struct config *config;
	uint64_t leased;
	uint64_t device_memory, device_leased; /* on each device */
	struct account *accounts;              /* of users that have anything */
	size_t count, room;
};

struct budget *budget_new(const struct config *config)
{
	struct budget *b = calloc(1, sizeof *b);

	if (b)
		b->config = config;
	return b;
}

void budget_free(struct budget *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->count; i++)
		free(b->accounts[i].gids);
	free(b->accounts);
	free(b);
}

/* What is left under a limit.  A reload may have put the limit below what is used. */
static uint64_t left_of(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What a user may have of `all` while the other users have `others`. */
static uint64_t part_of(const struct budget *b, const struct budget_user *user, enum rule rule,
			uint64_t all, uint64_t others)
{
	uint64_t open = left_of(all, others), limit = user->may.value[rule];
	uint64_t weight = BUDGET_PART * user->may.value[RULE_SHARE];
	uint64_t whole = weight + b->config->uid_share;

	if (limit)
		return lesser(open, limit);
	return open / whole * weight + open % whole * weight / whole; /* open may be near 2^64 */
}

/* ---- accounts: each is made, changes its share and is freed here alone ---- */

static struct account *find(const struct budget *b, uid_t uid)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->accounts[i].user.uid == uid)
			return &b->accounts[i];
	return NULL;
}

static void change_share(struct account *a, uint64_t share, bool is_set)
{
	a->user.may.value[RULE_SHARE] = share;
	a->user.share_is_set = is_set;
}

/* Apply the configuration.  keep_share: a share that was set at run time stays. */
static void resolve(const struct budget *b, struct account *a, bool keep_share)
{
	uint64_t share = a->user.may.value[RULE_SHARE];
	bool keep = keep_share && a->user.share_is_set;

	config_user(b->config, a->user.uid, a->gids, a->gid_count, &a->user.may);
	change_share(a, keep ? share : a->user.may.value[RULE_SHARE], keep);
}

static struct account *begin(struct budget *b, uid_t uid)
{
	struct account *a;

	if (b->count == b->room) {
		size_t room = b->room ? 2 * b->room : 16;
		struct account *grown = realloc(b->accounts, room * sizeof *grown);

		if (!grown)
			return NULL;
		b->accounts = grown;
		b->room = room;
	}
	a = &b->accounts[b->count++];
	*a = (struct account){.user = {.uid = uid}};
	resolve(b, a, false);
	return a;
}

static void end_if_empty(struct budget *b, struct account *a)
{
	const struct budget_user *u = &a->user;

	if (u->connections || u->waiting || u->rings || u->leased || u->device_leased ||
	    u->share_is_set)
		return;
	free(a->gids);
	*a = b->accounts[--b->count];
}

static int set_groups(struct account *a, const gid_t *gids, size_t count)
{
	gid_t *copy = count ? malloc(count * sizeof *copy) : NULL;

	if (count && !copy)
		return -ENOMEM;
	if (count)
		memcpy(copy, gids, count * sizeof *copy);
	free(a->gids);
	a->gids = copy;
	a->gid_count = count;
	return 0;
}

/* ---- users ---- */

static void resolve_all(struct budget *b, bool keep_shares)
{
	for (size_t i = b->count; i-- > 0;) { /* an account that ends is replaced by the last one */
		resolve(b, &b->accounts[i], keep_shares);
		end_if_empty(b, &b->accounts[i]);
	}
}

void budget_reload(struct budget *b)
{
	resolve_all(b, false);
}

void budget_learn(struct budget *b)
{
	resolve_all(b, true);
}

const struct budget_user *budget_next(const struct budget *b, uid_t least)
{
	const struct budget_user *next = NULL;

	for (size_t i = 0; i < b->count; i++) {
		const struct budget_user *u = &b->accounts[i].user;

		if (u->uid >= least && (!next || u->uid < next->uid))
			next = u;
	}
	return next;
}

const struct budget_user *budget_of(const struct budget *b, uid_t uid)
{
	const struct account *a = find(b, uid);

	return a ? &a->user : NULL;
}

int budget_set_share(struct budget *b, uid_t uid, uint64_t share)
{
	struct account *a = find(b, uid);

	if (uid == (uid_t)-1 || share < SHARE_LEAST || share > SHARE_MOST)
		return -EINVAL;
	a = a ? a : begin(b, uid);
	if (!a)
		return -ENOMEM;
	change_share(a, share, true);
	return 0;
}

bool budget_has_connection(const struct budget *b, uid_t uid)
{
	const struct account *a = find(b, uid);

	return a && a->user.connections;
}

int budget_connect(struct budget *b, uid_t uid, const gid_t *gids, size_t count)
{
	struct account *a = find(b, uid);
	int err = 0;

	a = a ? a : begin(b, uid);
	if (!a)
		return -ENOMEM;
	if (!a->user.connections) {
		err = set_groups(a, gids, count);
		if (!err)
			resolve(b, a, true);
	}
	if (!err && a->user.connections >= a->user.may.value[RULE_CONNECTIONS])
		err = -EDQUOT;
	if (err < 0)
		end_if_empty(b, a);
	else
		a->user.connections++;
	return err;
}

bool budget_wait(struct budget *b, uid_t uid)
{
	struct account *a = find(b, uid);

	if (!a || a->user.waiting >= BUDGET_WAITING)
		return false;
	a->user.waiting++;
	return true;
}

void budget_wait_over(struct budget *b, uid_t uid)
{
	struct account *a = find(b, uid);

	if (!a)
		return;
	a->user.waiting--;
	end_if_empty(b, a);
}

/* ---- what a user has ---- */

void budget_may_leave(struct budget *b, uid_t uid)
{
	find(b, uid)->user.leaving++;
}

void budget_stays(struct budget *b, uid_t uid)
{
	struct account *a = find(b, uid);

	a->user.leaving--;
	a->user.returns++; /* perhaps nothing more is to come */
}

bool budget_one_may_leave(const struct budget *b, uid_t uid)
{
	const struct account *a = find(b, uid);

	return a && a->user.leaving;
}

uint64_t budget_returns(const struct budget *b, uid_t uid)
{
	const struct account *a = find(b, uid);

	return a ? a->user.returns : 0;
}

void budget_disconnect(struct budget *b, uid_t uid)
{
	struct account *a = find(b, uid);

	assert(a->user.connections > 0 && a->user.leaving > 0);
	a->user.connections--;
	a->user.leaving--;
	a->user.returns++;
	end_if_empty(b, a);
}

int budget_lease(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left)
{
	struct account *a = find(b, uid); /* it has a connection */

	*ret_left = left_of(budget_memory_of(b, uid), a->user.leased);
	if (bytes > *ret_left)
		return -EDQUOT;
	a->user.leased += bytes;
	b->leased += bytes;
	return 0;
}

uint64_t budget_memory_of(const struct budget *b, uid_t uid)
{
	const struct budget_user *user = &find(b, uid)->user;

	return part_of(b, user, RULE_MEMORY, b->config->memory, b->leased - user->leased);
}

uint64_t budget_memory_alone(const struct budget *b, uid_t uid)
{
	return part_of(b, &find(b, uid)->user, RULE_MEMORY, b->config->memory, 0);
}

void budget_return(struct budget *b, uid_t uid, uint64_t bytes)
{
	struct account *a = find(b, uid);

	a->user.leased -= bytes;
	b->leased -= bytes;
	a->user.returns += bytes != 0; /* one that was refused returns nothing */
	end_if_empty(b, a);
}

void budget_set_device(struct budget *b, uint64_t bytes)
{
	b->device_memory = bytes;
}

uint64_t budget_device_left(const struct budget *b, uid_t uid)
{
	const struct budget_user *user = &find(b, uid)->user;
	uint64_t others = b->device_leased - user->device_leased;

	return left_of(part_of(b, user, RULE_GPU_MEMORY, b->device_memory, others),
		       user->device_leased);
}

int budget_lease_device(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left)
{
	struct account *a = find(b, uid); /* it has a connection */

	*ret_left = budget_device_left(b, uid);
	if (bytes > *ret_left)
		return -EDQUOT;
	a->user.device_leased += bytes;
	b->device_leased += bytes;
	return 0;
}

void budget_return_device(struct budget *b, uid_t uid, uint64_t bytes)
{
	struct account *a = find(b, uid);

	a->user.device_leased -= bytes;
	b->device_leased -= bytes;
	a->user.returns += bytes != 0; /* one that was refused returns nothing */
	end_if_empty(b, a);
}

int budget_rings(struct budget *b, uid_t uid, uint64_t count, uint64_t *ret_left)
{
	struct account *a = find(b, uid); /* it has a connection */

	*ret_left = left_of(a->user.may.value[RULE_RINGS], a->user.rings);
	if (count > *ret_left)
		return -EDQUOT;
	a->user.rings += count;
	return 0;
}

void budget_return_rings(struct budget *b, uid_t uid, uint64_t count)
{
	struct account *a = find(b, uid);

	a->user.rings -= count;
	end_if_empty(b, a);
}

uint64_t budget_leased(const struct budget *b)
{
	return b->leased;
}

uint64_t budget_device_leased(const struct budget *b)
{
	return b->device_leased;
}
