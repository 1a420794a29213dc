/* SPDX-License-Identifier: MIT */
/*
 * budget.h - who has how much: connections, rings and leases per uid, and all together.
 *
 * Quotas belong to uids, not to connections.  What a user may have, and its share, is what the
 * configuration says of it (config_user) when its first connection comes, and again at a reload.
 * Control thread only.
 */
#ifndef QUOITD_BUDGET_H
#define QUOITD_BUDGET_H

#include "host/config.h"

struct budget;

/* By a config that is settled, and stays; NULL: out of memory. */
struct budget *budget_new(const struct config *config);
void budget_free(struct budget *b);

/*
 * The config says something else now.  Who has more than is allowed keeps it; shares that were set
 * at run time are what it says again.
 */
void budget_reload(struct budget *b);

/* The config has come to know more names: the same, but such shares stay. */
void budget_learn(struct budget *b);

/* Has it a connection?  If not, its groups are to be known for the first one. */
bool budget_has_connection(const struct budget *b, uid_t uid);

/*
 * A connection of uid comes; -EDQUOT: it has as many as it may; -ENOMEM.  The groups count where it
 * is the first one, and are copied.
 */
int budget_connect(struct budget *b, uid_t uid, const gid_t *gids, size_t count);
void budget_disconnect(struct budget *b, uid_t uid);

/* What a user has and may have. */
struct budget_user {
	uid_t uid;
	struct user_rule may;
	bool share_is_set; /* at run time */
	uint64_t connections, rings;
	uint64_t leased;        /* bytes of host memory, */
	uint64_t device_leased; /* and of each device */
};

/* The one with the lowest uid that is at least this one's; NULL: there is none.  Until the next
 * change. */
const struct budget_user *budget_next(const struct budget *b, uid_t least);

/* The one with this uid; NULL: it has nothing. */
const struct budget_user *budget_of(const struct budget *b, uid_t uid);

/* Give a user a share until the end, or a reload.  -EINVAL: it is none; -ENOMEM. */
int budget_set_share(struct budget *b, uid_t uid, uint64_t share);

/*
 * How memory is divided.  A lease is a promise, and nothing of it is taken back for who comes
 * later: so it is divided when it is given.  Of what the others leave, a user may have w in w + n,
 * w being BUDGET_PART times its share and n what holds for all (uid-share): no more than it leaves
 * free, times w / n (dynamic thresholds, Choudhury and Hahne, 1998).  A limit that the
 * configuration says counts instead.  So, with M bytes in all:
 *
 *	- who is alone, with the share that holds for all, has three quarters of M;
 *	- those who have leases by their shares, in whatever order they came, and whatever they have
 *	  given back, leave free at least M times the product of their n / (n + w), of which one
 *	  more may have its w in w + n.  Proof: the last of them to be given one had then at most w
 *	  in w + n of what the rest of them left, who have no more now than then.  So n in n + w of
 *	  that is free, and it is no less than the rest would leave without the last: what that one
 *	  had has only kept them from having more;
 *	- those who want more than they get come to have, as leases come and go, w / n times what is
 *	  free, each: what they have is in proportion to their shares.
 *
 * How many sessions a user has does not come into it.
 */
#define BUDGET_PART 3u

/* A lease; -EDQUOT, and *ret_left is what could be had. */
int budget_lease(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left);
void budget_return(struct budget *b, uid_t uid, uint64_t bytes);

/* Bytes that it may have in all, by what others have now. */
uint64_t budget_memory_of(const struct budget *b, uid_t uid);

/* The same, were there no others. */
uint64_t budget_memory_alone(const struct budget *b, uid_t uid);

/* Bytes of every device that leases may take together; none before this. */
void budget_set_device(struct budget *b, uint64_t bytes);

/* A lease of so many bytes on every device. */
int budget_lease_device(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left);
uint64_t budget_device_left(const struct budget *b, uid_t uid);
void budget_return_device(struct budget *b, uid_t uid, uint64_t bytes);

/* The same with rings, of which only a user's own count. */
int budget_rings(struct budget *b, uid_t uid, uint64_t count, uint64_t *ret_left);
void budget_return_rings(struct budget *b, uid_t uid, uint64_t count);

uint64_t budget_leased(const struct budget *b);
uint64_t budget_device_leased(const struct budget *b); /* of each device */

#endif
