/* SPDX-License-Identifier: MIT */
/* users.h - users by their names and numbers */
#ifndef QUOIT_TOOLS_USERS_H
#define QUOIT_TOOLS_USERS_H

#include <stdbool.h>
#include <stdint.h>

/* A user's name, or its number where it has none.  It stays until many others were asked for. */
const char *users_name(uint32_t uid);

/* The number of a user that is given by its name or number; false: there is none. */
bool users_number(const char *word, uint32_t *ret);

#endif
