/* SPDX-License-Identifier: MIT */
/* ids.h - users and groups by their names */
#ifndef QUOITD_IDS_H
#define QUOITD_IDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The uid, or gid, of a name; a number that is no name stands for itself.  -ENOENT: there is none.
 * It may ask a server, and take its time.
 */
int ids_find(bool is_group, const char *name, uint32_t *ret);

#endif
