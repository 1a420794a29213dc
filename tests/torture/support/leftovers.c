/* SPDX-License-Identifier: MIT */
/* leftovers.c - see that a quoitd without clients has kept nothing of theirs */
#include "leftovers.h"

#include <errno.h>
#include <unistd.h>

#define PATIENCE_MS 10000u

static int ask(const struct daemon *d, struct quoit_ctl *m)
{
	struct raw_client c;
	int err = raw_connect(&c, d->socket);

	if (err)
		return err;
	err = raw_call_with(&c, m, -1, NULL);
	raw_close(&c);
	return err;
}

static bool has_none(const struct daemon *d)
{
	struct quoit_ctl services = {.type = QUOIT_CTL_SERVICES}, user = {.type = QUOIT_CTL_USER};
	int err;

	if (ask(d, &services) != -ENOENT)
		return false;
	user.user.uid = geteuid();
	err = ask(d, &user);
	return err == -ENOENT || (!err && !user.user_reply.host_bytes && !user.user_reply.sessions);
}

void leftovers_await_none(struct stage *s, const struct daemon *d)
{
	for (unsigned ms = 0; !has_none(d); ms += 10) {
		if (!CHECK(s, ms < PATIENCE_MS))
			return;
		usleep(10000);
	}
}
