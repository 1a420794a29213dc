/* SPDX-License-Identifier: MIT */
/* cmd_share.c - `quoit share`: list the users' shares, or change one */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "read/control.h"
#include "read/daemon_state.h"
#include "read/format.h"
#include "read/list.h"
#include "read/runtime.h"
#include "read/share.h"
#include "read/users.h"

static const struct args_option options[] = {
	{"socket", "PATH", "quoitd's socket"},
	{"json", NULL, "print a JSON array; of a change, an object"},
	{NULL},
};

static const struct args_command command = {
	"share", "[USER [WEIGHT]]",
	"Print the users that quoitd knows, or one of them: their shares, the origin of these,\n"
	"and what the users have.  MEMORY is leased memory, LIMIT the most that it may be.  The\n"
	"command watches for half a second: CORES is the cores that a user had in it on\n"
	"average, %GETS the same in percent of what all users had, %MAY the user's share in\n"
	"percent among the users that wanted cores.  '-': not known.  Only root and quoitd's\n"
	"own user see other users, and only they may give a WEIGHT: the user has that share\n"
	"until quoitd restarts or reloads.",
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

static void cell_real(struct format_table *t, struct reading r)
{
	if (r.known)
		format_cell(t, "%.*f", r.value < 9.995 ? 2 : 1, r.value);
	else
		format_cell(t, "-");
}

static void add_row(struct format_table *t, const struct listed *l)
{
	const struct quoit_user_reply *u = &l->user;

	format_cell_escaped(t, users_name(u->uid));
	format_cell(t, "%" PRIu32, u->share);
	format_cell(t, "%s", from_words(u->from));
	format_cell(t, "%" PRIu32, u->sessions);
	format_cell(t, "%" PRIu64, u->connections);
	format_cell(t, "%" PRIu64, u->rings);
	format_cell_bytes(t, (struct counter){.value = u->host_bytes, .known = true});
	format_cell_bytes(t, (struct counter){.value = u->host_limit, .known = true});
	format_cell_bytes(t, (struct counter){.value = u->device_bytes, .known = true});
	cell_real(t, l->got.may_percent);
	cell_real(t, l->got.gets_percent);
	cell_real(t, l->got.cores);
	format_cell(t, "%s", l->where);
}

static json_t *json_reading(struct reading r)
{
	return r.known ? json_real(r.value) : json_null();
}

static json_t *object_of(const struct listed *l)
{
	const struct quoit_user_reply *u = &l->user;

	return json_pack("{s:I, s:s, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
			 "uid", (json_int_t)u->uid, "user", users_name(u->uid), "share",
			 (json_int_t)u->share, "from", from_words(u->from), "where", l->where,
			 "sessions", (json_int_t)u->sessions, "connections",
			 (json_int_t)u->connections, "rings", (json_int_t)u->rings, "memory_bytes",
			 (json_int_t)u->host_bytes, "memory_limit_bytes", (json_int_t)u->host_limit,
			 "device_memory_bytes", (json_int_t)u->device_bytes, "may_percent",
			 json_reading(l->got.may_percent), "gets_percent",
			 json_reading(l->got.gets_percent), "cores", json_reading(l->got.cores));
}

/* The user with the lowest uid at or above this one; -ENOENT: there is none. */
static int next_user(const struct place *p, uint32_t least, struct quoit_ctl *m,
		     char text[CONTROL_TEXT_BYTES])
{
	*m = (struct quoit_ctl){.type = QUOIT_CTL_USER, .user.uid = least};
	return control_ask(p->fd, p->socket, m, text);
}

static bool append(struct users_list *l, const struct quoit_user_reply *user, const char *where)
{
	if (l->count == l->room) {
		void *list = list_grow(l->list, &l->room, sizeof *l->list);

		if (!list)
			return false;
		l->list = list;
	}
	l->list[l->count] = (struct listed){.user = *user};
	snprintf(l->list[l->count++].where, CONTROL_TEXT_BYTES, "%s", where);
	return true;
}

/* Read all users that quoitd shows us; 0, or -errno after a line on stderr. */
static int read_users(const struct place *p, struct users_list *ret)
{
	char text[CONTROL_TEXT_BYTES];
	uint32_t least = 0;
	struct quoit_ctl m;
	int err;

	while (!(err = next_user(p, least, &m, text)) && m.user_reply.uid >= least) {
		if (!append(ret, &m.user_reply, text)) {
			snprintf(text, sizeof text, "out of memory");
			err = -ENOMEM;
			break;
		}
		least = m.user_reply.uid + 1;
	}
	if (err >= 0 || err == -ENOENT)
		return 0;
	fprintf(stderr, "quoit share: %s\n", text);
	return err;
}

static int print_table(const struct users_list *l, const uint32_t *only)
{
	static const struct format_column columns[] = {
		{"USER", true}, {"SHARE"},  {"FROM", true}, {"SESSIONS"}, {"CONNECTIONS"},
		{"RINGS"},      {"MEMORY"}, {"LIMIT"},      {"DEVICE"},   {"%MAY"},
		{"%GETS"},      {"CORES"},  {"WHERE", true}};
	struct format_table t = {.columns = columns, .count = sizeof columns / sizeof columns[0]};

	for (size_t i = 0; i < l->count; i++)
		if (!only || l->list[i].user.uid == *only)
			add_row(&t, &l->list[i]);
	if (only && !t.used) {
		fprintf(stderr,
			"quoit share: quoitd does not know this user, or may not show it to you\n");
		return 1;
	}
	format_print(&t, true);
	return 0;
}

static int print_json(const struct users_list *l, const uint32_t *only)
{
	json_t *json = json_array();

	for (size_t i = 0; i < l->count; i++)
		if (!only || l->list[i].user.uid == *only)
			json_array_append_new(json, object_of(&l->list[i]));
	return format_json_print(json) ? 0 : 1;
}

/* List all users, or the one with this uid. */
static int list(const struct place *p, const uint32_t *only)
{
	struct users_list l = {0};
	int status = read_users(p, &l) < 0;

	if (!status) {
		share_look(p->socket, &l);
		status = p->json ? print_json(&l, only) : print_table(&l, only);
	}
	free(l.list);
	return status;
}

/* ---- a change ---- */

/* is_there: that file has a section of this user; otherwise any file may get one. */
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

/* 0, or 2 after a line that names the wrong word. */
static int read_operands(int count, char **words, uint32_t *uid, uint32_t *share)
{
	if (count > 0 && !users_number(words[0], uid)) {
		fprintf(stderr,
			"quoit share: '%s' is neither a user name of this machine nor a number\n",
			words[0]);
		return 2;
	}
	if (count > 1 && (!args_number(words[1], share) || !*share)) {
		fprintf(stderr, "quoit share: invalid weight '%s' (1 to 10000)\n", words[1]);
		return 2;
	}
	if (count > 2) {
		fprintf(stderr, "quoit share: unexpected argument '%s' (see quoit share --help)\n",
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
	daemon_state_check_version("share", p.socket);
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
