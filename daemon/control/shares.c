/* SPDX-License-Identifier: MIT */
/* shares.c - handles requests about users: what they have, and their shares */
#include "shares.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "connection_private.h"

static uint32_t sessions_of(const struct control *control, uid_t uid)
{
	uint32_t n = 0;

	for (const struct connection *c = control->connections; c; c = c->next)
		n += c->session && c->uid == uid;
	return n;
}

/* Of a path that is too long, keep the end. */
static void say_place(char text[QUOIT_TEXT_BYTES], const char *place)
{
	size_t length = strlen(place), most = QUOIT_TEXT_BYTES - 1;

	snprintf(text, QUOIT_TEXT_BYTES, "%s", place + (length > most ? length - most : 0));
}

static uint32_t say_from(const struct control *control, const struct budget_user *user,
			 char text[QUOIT_TEXT_BYTES])
{
	const struct rule_section *s = user->may.share_from;
	char place[CONFIG_WHERE_BYTES];

	if (user->share_is_set) {
		say_place(text, "set while quoitd runs");
		return QUOIT_SHARE_SET;
	}
	if (!s) {
		say_place(text, config_where(control->config, "uid-share", 0, place));
		return QUOIT_SHARE_OF_ALL;
	}
	say_place(text, config_place(control->config, s->origin[RULE_SHARE], place));
	return s->is_group ? QUOIT_SHARE_OF_GROUP : QUOIT_SHARE_OF_USER;
}

static void fill(const struct control *control, const struct budget_user *user,
		 struct quoit_ctl *answer)
{
	struct quoit_user_reply *r = &answer->user_reply;

	r->uid = user->uid;
	r->share = (uint32_t)user->may.value[RULE_SHARE];
	r->from = say_from(control, user, answer->text);
	r->sessions = sessions_of(control, user->uid);
	r->connections = user->connections;
	r->rings = user->rings;
	r->host_bytes = user->leased;
	r->device_bytes = user->device_leased;
	r->host_limit = budget_memory_of(control->budget, user->uid);
}

void shares_tell(struct connection *c, const struct quoit_ctl *m)
{
	const struct budget *budget = c->control->budget;
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	const struct budget_user *user;

	if (connection_is_in_charge(c))
		user = budget_next(budget, m->user.uid);
	else
		user = m->user.uid <= c->uid ? budget_of(budget, c->uid) : NULL;
	if (!user) {
		connection_reply_result(c, m->type, m->seq, -ENOENT, "no further user");
		return;
	}
	fill(c->control, user, &answer);
	connection_reply(c, &answer, NULL, 0);
}

/*
 * Name the file in which to keep the share: the one where the user's section sets it, else the
 * first that was read.  "": no file was read, or its name is too long.
 */
static void name_file(const struct config *config, uid_t uid, struct quoit_ctl *answer)
{
	const struct rule_section *s = user_rules_of(&config->rules, uid);
	unsigned file = 0;

	answer->user_reply.from = QUOIT_SHARE_OF_ALL;
	if (s && s->origin[RULE_SHARE].kind == CONFIG_FILE) {
		file = s->origin[RULE_SHARE].file;
		answer->user_reply.from = QUOIT_SHARE_OF_USER;
	}
	if (file < config->files && strlen(config->file[file]) < QUOIT_TEXT_BYTES)
		strcpy(answer->text, config->file[file]);
}

void shares_apply(struct control *c)
{
	for (struct user *u = c->users.first; u; u = u->next) {
		const struct budget_user *b = budget_of(c->budget, u->uid);

		if (b)
			atomic_store_explicit(&u->share, (uint32_t)b->may.value[RULE_SHARE],
					      memory_order_relaxed);
	}
}

void shares_set(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	int err;

	if (!connection_is_in_charge(c)) {
		connection_reply_result(c, m->type, m->seq, -EPERM,
					"only root and quoitd's own user may change shares");
		return;
	}
	err = budget_set_share(c->control->budget, m->user.uid, m->user.share);
	if (err < 0) {
		connection_reply_result(
			c, m->type, m->seq, err,
			err == -EINVAL ? "invalid share %u for uid %u: allowed are %u to %u"
				       : "no memory for share %u of uid %u",
			m->user.share, m->user.uid, SHARE_LEAST, SHARE_MOST);
		return;
	}
	shares_apply(c->control);
	log_client(c->uid, "uid %u gives uid %u the share %u", c->uid, m->user.uid, m->user.share);
	name_file(c->control->config, m->user.uid, &answer);
	connection_reply(c, &answer, NULL, 0);
}
