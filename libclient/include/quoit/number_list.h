/* SPDX-License-Identifier: MIT */
/*
 * number_list.h - lists of CPUs and nodes as the kernel writes them, "0-3,8"; for quoitd and the
 * tools.  The parsers of hwloc and libnuma silently take "3-1" or "1,,x".
 */
#ifndef QUOIT_NUMBER_LIST_H
#define QUOIT_NUMBER_LIST_H

#include <stdbool.h>
#include <stdlib.h>

/* Digits only: strtoul() would accept a sign and blanks before them.  Too many are ULONG_MAX. */
static inline bool quoit_number_list_digits(const char **text, unsigned long *ret)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*ret = strtoul(*text, &end, 10);
	*text = end;
	return true;
}

/*
 * Take the first number or range off a list that is not empty; *list is then "" or the rest.
 * False: it is not a list of numbers and ascending ranges between commas.
 */
static inline bool quoit_number_list_take(const char **list, unsigned long *ret_first,
					  unsigned long *ret_last)
{
	if (!quoit_number_list_digits(list, ret_first))
		return false;
	*ret_last = *ret_first;
	if (**list == '-') {
		++*list;
		if (!quoit_number_list_digits(list, ret_last) || *ret_last < *ret_first)
			return false;
	}
	if (**list != ',')
		return !**list;
	return *++*list;
}

#endif
