/* SPDX-License-Identifier: MIT */
/*
 * charge.h - what a connection has of its user's budget.
 *
 * Charged is the most that something can cost quoitd: pages are touched late and stay, and a
 * promise that is checked only then would be broken to somebody else.
 */
#ifndef QUOITD_CHARGE_H
#define QUOITD_CHARGE_H

#include "connection.h"

/* 0; -EDQUOT, counted, and *ret_left is what could be had. */
int charge_memory(struct connection *c, uint64_t bytes, uint64_t *ret_left);

void charge_return_memory(struct connection *c, uint64_t bytes);

/*
 * What a reactor says of its session's lease (memory/lease.h): more is charged, if it may be had,
 * or less is returned; the reactor is told.
 */
void charge_lease(struct connection *c, const struct mail *m);

/* Put what is leased of all into the counters: also of what no connection has, as traces. */
void charge_show(const struct control *control);

/* The same with memory of devices: so many bytes on each. */
int charge_device(struct connection *c, uint64_t bytes, uint64_t *ret_left);
void charge_return_device(struct connection *c, uint64_t bytes);

/* The same with rings. */
int charge_rings(struct connection *c, uint32_t count, uint64_t *ret_left);
void charge_return_rings(struct connection *c, uint32_t count);

#endif
