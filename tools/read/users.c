/* SPDX-License-Identifier: MIT */
/* users.c - translate between users' names and numbers */
#include "users.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>

#include "cli/args.h"

/* How many names are kept: each lookup opens a file, or asks a server. */
#define USERS_KNOWN 64

const char *users_name(uint32_t uid)
{
	static struct {
		uint32_t uid;
		char name[64];
	} known[USERS_KNOWN];
	static unsigned count;
	const struct passwd *user;
	unsigned i = 0;

	while (i < count && i < USERS_KNOWN && known[i].uid != uid)
		i++;
	if (i < count && i < USERS_KNOWN)
		return known[i].name;
	i = count++ % USERS_KNOWN;
	user = getpwuid(uid);
	known[i].uid = uid;
	if (user)
		snprintf(known[i].name, sizeof known[i].name, "%s", user->pw_name);
	else
		snprintf(known[i].name, sizeof known[i].name, "%" PRIu32, uid);
	return known[i].name;
}

bool users_number(const char *word, uint32_t *ret)
{
	const struct passwd *user = getpwnam(word);

	if (user)
		*ret = user->pw_uid;
	return user || args_number(word, ret);
}
