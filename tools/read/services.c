/* SPDX-License-Identifier: MIT */
/* services.c - ask quoitd for the services and their callers that it shows us */
#include "services.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "format.h"
#include "list.h"
#include "users.h"

/* ---- asking ---- */

static bool append_service(struct services *l, const struct quoit_service_reply *one)
{
	if (l->count == l->room) {
		void *list = list_grow(l->list, &l->room, sizeof *l->list);

		if (!list)
			return false;
		l->list = list;
	}
	l->list[l->count] = *one;
	l->list[l->count++].name[QUOIT_NAME_BYTES - 1] = '\0';
	return true;
}

static bool append_caller(struct service_callers *l, const struct quoit_caller_reply *one)
{
	if (l->count == l->room) {
		void *list = list_grow(l->list, &l->room, sizeof *l->list);

		if (!list)
			return false;
		l->list = list;
	}
	l->list[l->count++] = *one;
	return true;
}

static int out_of_memory(char text[CONTROL_TEXT_BYTES])
{
	snprintf(text, CONTROL_TEXT_BYTES, "out of memory");
	return -ENOMEM;
}

/* quoitd says -ENOENT behind the last one. */
static int end_of_list(int err)
{
	return err == -ENOENT ? 0 : err;
}

int services_read(int fd, const char *socket, struct services *ret, char text[CONTROL_TEXT_BYTES])
{
	return services_read_some(fd, socket, SIZE_MAX, ret, text);
}

int services_read_some(int fd, const char *socket, size_t most, struct services *ret,
		       char text[CONTROL_TEXT_BYTES])
{
	uint64_t least = 0;
	int err;

	for (;;) {
		struct quoit_ctl m = {.type = QUOIT_CTL_SERVICES, .services.service = least};

		err = control_ask(fd, socket, &m, text);
		if (err < 0 || m.service_reply.service < least)
			return end_of_list(err);
		if (!append_service(ret, &m.service_reply))
			return out_of_memory(text);
		ret->is_cut = ret->count == most;
		if (ret->is_cut)
			return 0;
		least = m.service_reply.service + 1;
	}
}

int services_read_callers(int fd, const char *socket, uint64_t service, struct service_callers *ret,
			  char text[CONTROL_TEXT_BYTES])
{
	uint64_t least = 0;
	int err;

	for (;;) {
		struct quoit_ctl m = {.type = QUOIT_CTL_CALLERS, .services = {service, least}};

		err = control_ask(fd, socket, &m, text);
		if (err < 0 || m.caller_reply.caller < least)
			return end_of_list(err);
		if (!append_caller(ret, &m.caller_reply))
			return out_of_memory(text);
		least = m.caller_reply.caller + 1;
	}
}

/* ---- words ---- */

void services_name(const struct quoit_service_reply *s, char ret[SERVICES_NAME_BYTES])
{
	char name[FORMAT_CELL_BYTES], user[FORMAT_CELL_BYTES];

	format_escape(s->name, name, sizeof name);
	if (s->uid == geteuid()) {
		snprintf(ret, SERVICES_NAME_BYTES, "%s", name);
		return;
	}
	format_escape(users_name(s->uid), user, sizeof user);
	snprintf(ret, SERVICES_NAME_BYTES, "%.100s/%s", user, name);
}

const char *services_kind(const struct quoit_service_reply *s)
{
	static const char *const kinds[QUOIT_SYNC_NR] = QUOIT_SYNC_NAMES;

	return s->kind < QUOIT_SYNC_NR ? kinds[s->kind] : "?";
}

void services_mode(const struct quoit_service_reply *s, char *ret, size_t size)
{
	const struct group *group;

	if (s->mode & QUOIT_SERVE_OTHERS) {
		snprintf(ret, size, "all");
	} else if (s->mode & QUOIT_SERVE_GROUP) {
		group = getgrgid(s->gid);
		if (group)
			snprintf(ret, size, "group:%s", group->gr_name);
		else
			snprintf(ret, size, "group:%" PRIu32, s->gid);
	} else {
		snprintf(ret, size, "own");
	}
}
