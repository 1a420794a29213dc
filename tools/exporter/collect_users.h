/* SPDX-License-Identifier: MIT */
/* collect_users.h - write the metrics of users; private to collect.c */
#ifndef QUOIT_TOOLS_EXPORTER_COLLECT_USERS_H
#define QUOIT_TOOLS_EXPORTER_COLLECT_USERS_H

#include "exposition.h"
#include "read/user_sums.h"

void collect_users(struct exposition *e, const struct user_sums *u);

#endif
