/* SPDX-License-Identifier: MIT */
/* shares.h - handles requests about users: what they have, and their shares */
#ifndef QUOITD_SHARES_H
#define QUOITD_SHARES_H

#include "connection.h"

/* QUOIT_CTL_USER and QUOIT_CTL_SHARE: answer, or refuse. */
void shares_tell(struct connection *c, const struct quoit_ctl *m);
void shares_set(struct connection *c, const struct quoit_ctl *m);

/* Apply the users' present shares to what they have of reactors, tiles and devices. */
void shares_apply(struct control *c);

#endif
