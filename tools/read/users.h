/* SPDX-License-Identifier: MIT */
/* users.h - translate between users' names and numbers */
#ifndef QUOIT_TOOLS_USERS_H
#define QUOIT_TOOLS_USERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A user's name, or the number if there is no name.  Valid until many other users were looked up.
 */
const char *users_name(uint32_t uid);

/* The number of a user given by name or number; false: there is no such user. */
bool users_number(const char *word, uint32_t *ret);

#endif
