/* SPDX-License-Identifier: MIT */
/* hosts.c - check the host name by which the exporter is asked */
#include "hosts.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define LONGEST 256

void hosts_init(struct hosts *h)
{
	*h = (struct hosts){0};
	if (gethostname(h->own, sizeof h->own - 1) < 0)
		h->own[0] = '\0';
}

bool hosts_add(struct hosts *h, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	if (h->count == HOSTS_MOST || !*name || strlen(name) >= LONGEST ||
	    name[strspn(name, letters)])
		return false;
	h->name[h->count++] = name;
	return true;
}

/* Take the name or address without brackets, port and a trailing dot; false: it is neither. */
static bool take_apart(const char *host, char ret[LONGEST], bool *ret_is_v6)
{
	size_t length;

	*ret_is_v6 = *host == '[';
	host += *ret_is_v6;
	length = strcspn(host, *ret_is_v6 ? "]" : ":");
	if (length >= LONGEST || (*ret_is_v6 && host[length] != ']'))
		return false;
	memcpy(ret, host, length);
	ret[length] = '\0';
	if (!*ret_is_v6 && length && ret[length - 1] == '.')
		ret[length - 1] = '\0';
	return true;
}

bool hosts_has(const struct hosts *h, const char *host)
{
	char name[LONGEST];
	struct in6_addr address;
	bool is_v6;

	if (!host)
		return true;
	if (!take_apart(host, name, &is_v6) || !*name) /* this machine may have no usable name */
		return false;
	if (is_v6)
		return inet_pton(AF_INET6, name, &address) == 1;
	if (inet_pton(AF_INET, name, &address) == 1 || !strcasecmp(name, "localhost") ||
	    !strcasecmp(name, h->own))
		return true;
	for (unsigned i = 0; i < h->count; i++)
		if (!strcasecmp(name, h->name[i]))
			return true;
	return false;
}
