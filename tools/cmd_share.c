/* SPDX-License-Identifier: MIT */
/* cmd_share.c - `quoit share`: the users' shares, and another one for a user */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "control.h"
#include "format.h"
#include "runtime.h"
#include "users.h"

static const struct args_option options[] = {
	{"socket", "PATH", "quoitd's socket"},
	{"json", NULL, "print a JSON array; of a change, an object"},
	{NULL},
};

static const struct args_command command = {
	"share", "[USER [WEIGHT]]",
	"Print the users that quoitd knows with their shares, where these are from and what they\n"
	"have, or one of them; each but root and quoitd's own user sees itself alone.  With a\n"
	"WEIGHT, which is for those two, give the user that share until quoitd restarts or reloads.",
	options};

struct place {
	char socket[QUOIT_SOCKET_BYTES];
	int fd;
	bool json;
};

/* ---- the list ---- */

static const char *from_words(uint32_t from)
{
	static const char *const words[] = {[QUOIT_SHARE_OF_ALL] = "all",
					    [QUOIT_SHARE_OF_GROUP] = "group",
					    [QUOIT_SHARE_OF_USER] = "user",
					    [QUOIT_SHARE_SET] = "set"};

	return from < sizeof words / sizeof words[0] ? words[from] : "unknown";
}

static void add_row(struct format_table *t, const struct quoit_user_reply *u, const char *where)
{
	format_cell_escaped(t, users_name(u->uid));
	format_cell(t, "%" PRIu32, u->share);
	format_cell(t, "%s", from_words(u->from));
	format_cell(t, "%" PRIu32, u->sessions);
	format_cell(t, "%" PRIu64, u->connections);
	format_cell(t, "%" PRIu64, u->rings);
	format_cell_bytes(t, (struct counter){.value = u->host_bytes, .known = true});
	format_cell_bytes(t, (struct counter){.value = u->host_limit, .known = true});
	format_cell_bytes(t, (struct counter){.value = u->device_bytes, .known = true});
	format_cell(t, "%s", where);
}

static json_t *object_of(const struct quoit_user_reply *u, const char *where)
{
	return json_pack("{s:I, s:s, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "uid",
			 (json_int_t)u->uid, "user", users_name(u->uid), "share",
			 (json_int_t)u->share, "from", from_words(u->from), "where", where,
			 "sessions", (json_int_t)u->sessions, "connections",
			 (json_int_t)u->connections, "rings", (json_int_t)u->rings, "memory",
			 (json_int_t)u->host_bytes, "memory_limit", (json_int_t)u->host_limit,
			 "device_memory", (json_int_t)u->device_bytes);
}

/* The user with the lowest uid from this one on; -ENOENT: there is none. */
static int next_user(const struct place *p, uint32_t least, struct quoit_ctl *m,
		     char text[CONTROL_TEXT_BYTES])
{
	*m = (struct quoit_ctl){.type = QUOIT_CTL_USER, .user.uid = least};
	return control_ask(p->fd, p->socket, m, text);
}

/* All, or the one with this uid. */
static int list(const struct place *p, const uint32_t *only)
{
	static const struct format_column columns[] = {
		{"USER", true}, {"SHARE"},  {"FROM", true}, {"SESSIONS"}, {"CONNECTIONS"},
		{"RINGS"},      {"MEMORY"}, {"LIMIT"},      {"DEVICE"},   {"WHERE", true}};
	struct format_table t = {.columns = columns, .count = sizeof columns / sizeof columns[0]};
	json_t *json = p->json ? json_array() : NULL;
	char text[CONTROL_TEXT_BYTES];
	uint32_t least = only ? *only : 0;
	struct quoit_ctl m;
	int err;

	while (!(err = next_user(p, least, &m, text)) && m.user_reply.uid >= least &&
	       (!only || m.user_reply.uid == *only)) {
		if (p->json)
			json_array_append_new(json, object_of(&m.user_reply, text));
		else
			add_row(&t, &m.user_reply, text);
		least = m.user_reply.uid + 1;
	}
	if (err < 0 && err != -ENOENT) {
		fprintf(stderr, "quoit share: %s\n", text);
		format_free(&t);
		json_decref(json);
		return 1;
	}
	if (p->json)
		return format_json_print(json) ? 0 : 1;
	if (only && !t.used) {
		fprintf(stderr, "quoit share: quoitd knows no such user, or none that is yours\n");
		return 1;
	}
	format_print(&t, true);
	return 0;
}

/* ---- a change ---- */

/* is_there: the file says a share of this user's already; else any file may. */
static void print_change(const char *user, uint32_t share, const char *file, bool is_there)
{
	printf("%s has share %" PRIu32
	       " until quoitd restarts or reloads.  To keep it, put this into the "
	       "one section of that user, in ",
	       user, share);
	if (*file && is_there)
		printf("%s:\n\n", file);
	else if (*file)
		printf("%s or a file of %s.d:\n\n", file, file);
	else
		printf("a file that quoitd reads (--config):\n\n");
	printf("[user %s]\nshare = %" PRIu32 "\n", user, share);
}

static int change(const struct place *p, uint32_t uid, uint32_t share)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SHARE, .user = {uid, share}};
	char text[CONTROL_TEXT_BYTES], user[FORMAT_CELL_BYTES];
	int err = control_ask(p->fd, p->socket, &m, text);

	if (err < 0) {
		fprintf(stderr, "quoit share: %s\n", text);
		return 1;
	}
	if (p->json)
		return format_json_print(json_pack("{s:I, s:I, s:s}", "uid", (json_int_t)uid,
						   "share", (json_int_t)share, "file", text))
			       ? 0
			       : 1;
	format_escape(users_name(uid), user, sizeof user);
	print_change(user, share, text, m.user_reply.from == QUOIT_SHARE_OF_USER);
	return 0;
}

/* ---- the command line ---- */

/* 0, or 2 after a line that names the word. */
static int read_operands(int count, char **words, uint32_t *uid, uint32_t *share)
{
	if (count > 0 && !users_number(words[0], uid)) {
		fprintf(stderr, "quoit share: '%s' is no user\n", words[0]);
		return 2;
	}
	if (count > 1 && !args_number(words[1], share)) {
		fprintf(stderr, "quoit share: '%s' is no weight\n", words[1]);
		return 2;
	}
	if (count > 2) {
		fprintf(stderr, "quoit share: unwanted word: '%s' (see quoit share --help)\n",
			words[2]);
		return 2;
	}
	return 0;
}

int cmd_share(int argc, char **argv)
{
	struct args_target target;
	struct place p;
	char text[CONTROL_TEXT_BYTES];
	uint32_t uid = 0, share = 0;
	int status = args_read_target(&command, argc, argv, &target);

	if (status >= 0)
		return status;
	status = read_operands(argc - optind, argv + optind, &uid, &share);
	if (status)
		return status;
	if (!runtime_find_socket("share", target.socket, p.socket))
		return 2;
	p.json = target.json;
	p.fd = control_connect(p.socket, text);
	if (p.fd < 0) {
		fprintf(stderr, "quoit share: %s\n", text);
		return 1;
	}
	status =
		argc - optind == 2 ? change(&p, uid, share) : list(&p, argc > optind ? &uid : NULL);
	close(p.fd);
	return status;
}
