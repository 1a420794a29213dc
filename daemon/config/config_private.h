/* SPDX-License-Identifier: MIT */
/* config_private.h - declares what the readers of the option table share */
#ifndef QUOITD_CONFIG_PRIVATE_H
#define QUOITD_CONFIG_PRIVATE_H

#include "config.h"

#define CONFIG_ROWS 35

_Static_assert(CONFIG_ROWS <= CONFIG_OPTIONS, "each has its origin");

extern const struct option_row config_rows[CONFIG_ROWS];

/* The row of a name; NULL: there is none. */
const struct option_row *config_find(const char *name);

/* Put a value into the row's field, and note its origin.  False: it does not fit the row. */
bool config_assign(struct config *c, const struct option_row *row, const char *text,
		   struct config_origin origin);

/* Write "; did you mean ...?", or nothing if no option is near. */
void config_suggest(const char *word, const char *prefix, FILE *err);

#endif
