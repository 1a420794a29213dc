/* SPDX-License-Identifier: MIT */
/* service_name.c - what a service may be named */
#include <errno.h>

#include "refusal.h"
#include "service.h"

bool libquoit_is_service_name(const char *name)
{
	size_t n = 0;

	for (; name && n < QUOIT_NAME_BYTES && name[n]; n++)
		if (name[n] <= ' ' || name[n] > '~' || name[n] == '/')
			return false;
	return n && n < QUOIT_NAME_BYTES;
}

int libquoit_refuse_service_name(const char *name)
{
	return libquoit_text_refuse(-EINVAL,
				    "'%.64s' is not a name: allowed are 1 to %u "
				    "printable characters of ASCII, no blanks and no '/'",
				    name ? name : "", QUOIT_NAME_BYTES - 1);
}
