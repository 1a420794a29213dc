/* SPDX-License-Identifier: MIT */
/* list.h - grow an array that is appended to */
#ifndef QUOIT_TOOLS_READ_LIST_H
#define QUOIT_TOOLS_READ_LIST_H

#include <stdlib.h>

/*
 * The array with room for twice as many elements, at least 16, and *room set; it may have moved.
 * NULL: there is no memory, and the array stays as it is.
 */
static inline void *list_grow(void *list, size_t *room, size_t element_bytes)
{
	size_t more = *room ? 2 * *room : 16;
	void *grown = reallocarray(list, more, element_bytes);

	if (grown)
		*room = more;
	return grown;
}

#endif
