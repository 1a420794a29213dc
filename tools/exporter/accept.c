/* SPDX-License-Identifier: MIT */
/* accept.c - find out from a request's header what its sender accepts */
#include "accept.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Is the word of this length equal to the other one, ignoring case? */
static bool is_word(const char *word, size_t length, const char *other)
{
	return length == strlen(other) && !strncasecmp(word, other, length);
}

/* Is one element of the list, up to `end`, the word, with a weight other than zero? */
static bool takes(const char *element, const char *end, const char *word)
{
	size_t length;

	element += strspn(element, " \t");
	length = strcspn(element, ";, \t");
	if (!is_word(element, length, word))
		return false;
	for (element += length; element < end; element += strcspn(element, ";,")) {
		element += strspn(element, "; \t");
		if (element < end && !strncasecmp(element, "q=", 2))
			return strtod(element + 2, NULL) > 0;
	}
	return true;
}

bool accept_takes(const char *list, const char *word)
{
	while (list && *list) {
		const char *end = list + strcspn(list, ",");

		if (takes(list, end, word))
			return true;
		list = *end ? end + 1 : end;
	}
	return false;
}
