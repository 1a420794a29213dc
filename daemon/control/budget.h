/* SPDX-License-Identifier: MIT */
/*
 * budget.h - keeps what each uid, and all users together, have of connections, rings and leases.
 *
 * Quotas belong to uids, not to connections.  The configuration (config_user) sets a user's limits
 * and share when its first connection comes, and again at a reload.  Control thread only.
 */
#ifndef QUOITD_BUDGET_H
#define QUOITD_BUDGET_H

#include "config/config.h"

struct budget;

/* The config must be settled and outlive the budget.  NULL: out of memory. */
struct budget *budget_new(const struct config *config);
void budget_free(struct budget *b);

/*
 * The config has changed: apply it.  A user that has more than it may now have keeps it.  Shares
 * that were set at run time are replaced by those of the config.
 */
void budget_reload(struct budget *b);

/* The config has learnt more names: as budget_reload, but shares set at run time stay. */
void budget_learn(struct budget *b);

/* Has the user a connection?  If not, budget_connect needs its groups. */
bool budget_has_connection(const struct budget *b, uid_t uid);

/*
 * Count a connection of the uid.  The groups are copied, and used only if it is the user's first
 * connection.  -EDQUOT: the user has as many connections as it may have; -ENOMEM.
 */
int budget_connect(struct budget *b, uid_t uid, const gid_t *gids, size_t count);

/*
 * A counted connection is being hung up, or is not looked at for a while and may have ended: soon it
 * may be one less.  budget_stays: it is looked at again.
 */
void budget_may_leave(struct budget *b, uid_t uid);
void budget_stays(struct budget *b, uid_t uid);

/* May any of the user's connections leave? */
bool budget_one_may_leave(const struct budget *b, uid_t uid);

/*
 * Counts each time that a connection of the user stays or is freed, or that memory of the user comes
 * back.  A connection that waits looks again when the count has changed.
 */
uint64_t budget_returns(const struct budget *b, uid_t uid);

/*
 * A counted connection that may leave is freed.  It counts until then: closing its descriptors may
 * hang, and a user must not have any number of those.
 */
void budget_disconnect(struct budget *b, uid_t uid);

/*
 * Count a connection of the uid that waits, after -EDQUOT, for what may be given back.  False:
 * BUDGET_WAITING wait already.  budget_wait_over: it waits no more.
 */
#define BUDGET_WAITING 64u
bool budget_wait(struct budget *b, uid_t uid);
void budget_wait_over(struct budget *b, uid_t uid);

/* What a user has, and may have. */
struct budget_user {
	uid_t uid;
	struct user_rule may;
	bool share_is_set; /* at run time */
	uint64_t connections, rings;
	uint64_t leaving;       /* of the connections, those that may leave */
	uint64_t waiting;       /* connections that wait for what may be given back */
	uint64_t returns;       /* see budget_returns */
	uint64_t leased;        /* bytes of host memory */
	uint64_t device_leased; /* bytes of each device */
};

/* The user with the lowest uid from `least` on; NULL: none.  Valid until the next change. */
const struct budget_user *budget_next(const struct budget *b, uid_t least);

/* The user with this uid; NULL: it has nothing.  Valid until the next change. */
const struct budget_user *budget_of(const struct budget *b, uid_t uid);

/* Give a user a share, until a reload or the next call.  -EINVAL: it is out of range; -ENOMEM. */
int budget_set_share(struct budget *b, uid_t uid, uint64_t share);

/*
 * How memory is divided.  A lease is a promise: it is never taken back for the sake of users who
 * come later, so memory is divided when a lease is given.  Of what the other users leave, a user
 * may have w in w + n, where w is BUDGET_PART times its share and n is the share that holds for all
 * (uid-share).  In other words, it may have at most w / n times what it leaves free (dynamic
 * thresholds, Choudhury and Hahne, 1998).  A limit that the configuration sets counts instead.  So,
 * with M bytes in all:
 *
 *	- a user that is alone, with the share that holds for all, may have three quarters of M;
 *	- users that have leases by their shares leave free at least M times the product of their
 *	  n / (n + w), in whatever order they came and whatever they have given back.  One more
 *	  user may have its w in w + n of that.  Proof: when the last of them was given a lease, it
 *	  had at most w in w + n of what the others left, and the others have no more now than
 *	  then.  So n in n + w of that is free.  It is no less than the others would leave without
 *	  the last one, whose lease has only kept them from having more;
 *	- users that want more than they get come to have, as leases come and go, w / n times what
 *	  is free, each: what they have is in proportion to their shares.
 *
 * The number of a user's sessions makes no difference.
 */
#define BUDGET_PART 3u

/*
 * Lease so many bytes to a user that has a connection.  -EDQUOT: it may have *ret_left bytes more.
 * *ret_left is set either way, to what was left before.
 */
int budget_lease(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left);
void budget_return(struct budget *b, uid_t uid, uint64_t bytes);

/* Bytes that the user may have in all, given what the others have now. */
uint64_t budget_memory_of(const struct budget *b, uid_t uid);

/* Bytes that the user may have if no other user has any. */
uint64_t budget_memory_alone(const struct budget *b, uid_t uid);

/* Set the bytes of each device that all leases together may take; 0 until then. */
void budget_set_device(struct budget *b, uint64_t bytes);

/* As budget_lease: so many bytes on every device. */
int budget_lease_device(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left);
uint64_t budget_device_left(const struct budget *b, uid_t uid);
void budget_return_device(struct budget *b, uid_t uid, uint64_t bytes);

/* As budget_lease, but only the user's own rings count. */
int budget_rings(struct budget *b, uid_t uid, uint64_t count, uint64_t *ret_left);
void budget_return_rings(struct budget *b, uid_t uid, uint64_t count);

uint64_t budget_leased(const struct budget *b);
uint64_t budget_device_leased(const struct budget *b); /* on each device */

#endif
