/* SPDX-License-Identifier: MIT */
/* ids.h - finds users and groups by their names */
#ifndef QUOITD_IDS_H
#define QUOITD_IDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Find the uid, or gid, of a name.  A number that is not a name stands for itself.  -ENOENT: there
 * is none.  It may ask a server, and take long.
 */
int ids_find(bool is_group, const char *name, uint32_t *ret);

#endif
