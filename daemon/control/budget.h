/* SPDX-License-Identifier: MIT */
/*
 * budget.h - who has how much: connections, rings and leases per uid, and all together.
 *
 * Quotas belong to uids, not to connections.  Control thread only.
 */
#ifndef QUOITD_BUDGET_H
#define QUOITD_BUDGET_H

#include <stdint.h>
#include <sys/types.h>

struct budget_limits {
	uint64_t memory;      /* all leases, tables and rings together */
	uint64_t uid_memory;  /* the same of one uid */
	uint64_t connections; /* of one uid */
	uint64_t rings;       /* of one uid, over all reactors */
};

struct budget;

/* NULL: out of memory. */
struct budget *budget_new(const struct budget_limits *limits);
void budget_free(struct budget *b);

/* A connection of uid comes; -EDQUOT: it has as many as it may; -ENOMEM. */
int budget_connect(struct budget *b, uid_t uid);
void budget_disconnect(struct budget *b, uid_t uid);

/* A lease; -EDQUOT, and *ret_left is what could be had. */
int budget_lease(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left);
void budget_return(struct budget *b, uid_t uid, uint64_t bytes);

/* Bytes of every device that leases may take together; none before this. */
void budget_set_device(struct budget *b, uint64_t bytes);

/* A lease of so many bytes on every device. */
int budget_lease_device(struct budget *b, uid_t uid, uint64_t bytes, uint64_t *ret_left);
uint64_t budget_device_left(const struct budget *b);
void budget_return_device(struct budget *b, uid_t uid, uint64_t bytes);

/* The same with rings, of which only a user's own count. */
int budget_rings(struct budget *b, uid_t uid, uint64_t count, uint64_t *ret_left);
void budget_return_rings(struct budget *b, uid_t uid, uint64_t count);

uint64_t budget_leased(const struct budget *b);

/* Half of what the memory cgroup, or else the machine, allows; the default of --memory. */
uint64_t budget_default_memory(void);

#endif
