/* SPDX-License-Identifier: MIT */
/* mine.h - tells a child of fork() from the process that opened the session */
#ifndef LIBQUOIT_MINE_H
#define LIBQUOIT_MINE_H

#include <stdbool.h>
#include <stdint.h>

/* Is this the process that opened the session? */
static inline bool libquoit_is_mine(const uint32_t *mine)
{
	return __atomic_load_n(mine, __ATOMIC_RELAXED) != 0;
}

/* Make the word that libquoit_is_mine reads; -errno. */
int libquoit_mine_new(uint32_t **ret);
void libquoit_mine_free(uint32_t *mine); /* may be NULL */

#endif
