/* SPDX-License-Identifier: MIT */
/*
 * charge.h - charges what a connection uses to its user's budget.
 *
 * The charge is the most that a thing can cost quoitd.  Pages are touched late and stay: if they
 * were charged only then, a promise to another user could be broken.
 */
#ifndef QUOITD_CHARGE_H
#define QUOITD_CHARGE_H

#include "connection.h"

/*
 * 0 or -EDQUOT.  *ret_left: the bytes that were left before.  A caller that then
 * refuses the client calls charge_refused, which counts that; HELLO may wait and try again instead.
 */
int charge_memory(struct connection *c, uint64_t bytes, uint64_t *ret_left);
void charge_refused(const struct connection *c);

void charge_return_memory(struct connection *c, uint64_t bytes);

/*
 * Answer a reactor that asks about its session's lease (memory/lease.h): charge more if the user
 * may have it, or return what the session gives back.
 */
void charge_lease(struct connection *c, const struct mail *m);

/*
 * Show in the counters what is leased in all.  That includes leases that belong to no connection,
 * as those of traces.
 */
void charge_show(const struct control *control);

/* As charge_memory: so many bytes on each device. */
int charge_device(struct connection *c, uint64_t bytes, uint64_t *ret_left);
void charge_return_device(struct connection *c, uint64_t bytes);

/* For rings: 0, or -EDQUOT, which is counted. */
int charge_rings(struct connection *c, uint32_t count, uint64_t *ret_left);
void charge_return_rings(struct connection *c, uint32_t count);

#endif
