/* SPDX-License-Identifier: MIT */
/* service_user.c - take the name of a service apart: its user, and its own name */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "refusal.h"
#include "service.h"

/* A user's number in digits; false: it is none. */
static bool read_number(const char *user, uint32_t *ret)
{
	unsigned long long n = 0;

	for (const char *at = user; *at; at++) {
		if (*at < '0' || *at > '9')
			return false;
		n = n * 10 + (unsigned)(*at - '0');
		if (n >= QUOIT_SERVICE_OWN)
			return false;
	}
	*ret = (uint32_t)n;
	return *user;
}

#define PASSWD_MOST (1u << 20) /* bytes of one user's entry */

/* -ENOENT: there is no such user. */
static int look_up(const char *user, uint32_t *ret)
{
	struct passwd entry, *found = NULL;
	size_t size = 1024;
	char *buffer = NULL;
	int err;

	do {
		char *larger = realloc(buffer, size);

		if (!larger) {
			err = ENOMEM;
			break;
		}
		buffer = larger;
		err = getpwnam_r(user, &entry, buffer, size, &found);
		size *= 2;
	} while (err == ERANGE && size <= PASSWD_MOST);
	if (found)
		*ret = entry.pw_uid;
	free(buffer);
	if (err == ENOMEM)
		return libquoit_text_refuse_memory();
	return found ? 0 : libquoit_text_refuse(-ENOENT, "there is no user '%s'", user);
}

static int find_user(const char *whole, size_t n, uint32_t *ret)
{
	char user[256];

	if (!n || n >= sizeof user)
		return libquoit_text_refuse(-EINVAL,
					    "'%.64s' does not begin with a user's name: a service "
					    "is NAME or USER/NAME",
					    whole);
	memcpy(user, whole, n);
	user[n] = '\0';
	return read_number(user, ret) ? 0 : look_up(user, ret);
}

int libquoit_service_parse(const char *whole, struct service_name *ret)
{
	const char *slash = strchr(whole, '/');
	const char *name = slash ? slash + 1 : whole;
	int err;

	if (!libquoit_is_service_name(name))
		return libquoit_refuse_service_name(name);
	*ret = (struct service_name){.uid = QUOIT_SERVICE_OWN};
	err = slash ? find_user(whole, (size_t)(slash - whole), &ret->uid) : 0;
	if (!err)
		memcpy(ret->name, name, strlen(name));
	return err;
}
