/* SPDX-License-Identifier: MIT */
/* cmd_ls.c - `quoit ls`: list services, locks and their kin */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "read/daemon_state.h"
#include "read/listing.h"
#include "read/runtime.h"
#include "read/services.h"
#include "read/users.h"

#define DEFAULT_COLUMNS                                                                            \
	"name,kind,user,mode,servers,lanes,callers,waiting,running,holder,value,size,calls,failed,again,mean"

static const struct args_command command = {
	"ls", "",
	"Print a line for each service, lock, flag, semaphore, barrier, queue, tensor and keyspace\n"
	"that you may use: NAME, or USER/NAME if it is another user's.  MODE is who may call\n"
	"besides its user and root: own (nobody), group:NAME or all.  HOLDER is the process that\n"
	"holds a lock.  VALUE: 1 if a flag is set, how many a semaphore has, how many wait at a\n"
	"barrier, messages of a queue, bytes of a tensor, keys of a keyspace; SIZE is what these\n"
	"messages or keys take.  MEAN is the mean time that a call of a service ran.  '-': not\n"
	"known, or there is none.  Root, quoitd's own user and the group of its option stats-group\n"
	"see all of them.  Exit status 1: there is none to show, or quoitd is not there.",
	listing_options};

/* ---- the columns ---- */

struct row {
	struct quoit_service_reply s;
	double tick_s; /* 0: not known */
};

enum {
	NAME,
	KIND,
	USER,
	UID,
	MODE,
	GID,
	SERVERS,
	LANES,
	CALLERS,
	WAITING,
	RUNNING,
	HOLDER,
	VALUE,
	SIZE,
	CALLS,
	FAILED,
	AGAIN,
	MEAN,
	TIME,
	NUMBER,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	[NAME] = {"name", "", "NAME", COLUMN_TEXT,
		  "its name, behind USER/ if it is another user's"},
	[KIND] = {"kind", "", "KIND", COLUMN_TEXT,
		  "service, lock, flag, semaphore, barrier, queue, tensor or keyspace"},
	[USER] = {"user", "", "USER", COLUMN_TEXT, "name of its user"},
	[UID] = {"uid", "", "UID", COLUMN_COUNT, "number of its user"},
	[MODE] = {"mode", "", "MODE", COLUMN_TEXT,
		  "who may call besides its user and root: own (nobody), group:NAME or all"},
	[GID] = {"gid", "", "GID", COLUMN_COUNT, "number of the group that may call"},
	[SERVERS] = {"servers", "", "SERVERS", COLUMN_COUNT, "processes that serve it"},
	[LANES] = {"lanes", "", "LANES", COLUMN_COUNT, "threads that serve it, in all processes"},
	[CALLERS] = {"callers", "", "CALLERS", COLUMN_COUNT, "sessions that have it open"},
	[WAITING] =
		{"waiting", "", "WAITING", COLUMN_COUNT,
		 "calls that no process has got yet, or that wait for their turn at a lock or its kin"},
	[RUNNING] =
		{"running", "", "RUNNING", COLUMN_COUNT,
		 "calls that a process has got and not returned yet; some may wait there for a thread"},
	[HOLDER] = {"holder", "", "HOLDER", COLUMN_COUNT, "process that holds the lock"},
	[VALUE] =
		{"value", "", "VALUE", COLUMN_COUNT,
		 "1 if the flag is set; how many the semaphore has; how many wait at the barrier; "
		 "messages of the queue; bytes of the tensor; keys of the keyspace"},
	[SIZE] =
		{"size", "", "SIZE", COLUMN_BYTES,
		 "bytes that messages of the queue, or keys of the keyspace, take, in steps of 1 KiB"},
	[CALLS] = {"calls", "", "CALLS", COLUMN_COUNT, "calls that have returned"},
	[FAILED] =
		{"failed", "", "FAILED", COLUMN_COUNT,
		 "calls of these that have failed, or whose process ended; not those that were late"},
	[AGAIN] = {"again", "", "AGAIN", COLUMN_COUNT,
		   "calls that went to another process because theirs ended before they began"},
	[MEAN] = {"mean", "", "MEAN", COLUMN_SPAN, "mean time that a call ran"},
	[TIME] = {"time", "", "TIME", COLUMN_SPAN, "time that all calls together ran"},
	[NUMBER] = {"number", "", "NUMBER", COLUMN_COUNT, "its number"},
};

static void set_text(const struct quoit_service_reply *s, unsigned column, struct figure *ret)
{
	char mode[FORMAT_CELL_BYTES], name[SERVICES_NAME_BYTES];

	if (column == NAME) {
		services_name(s, name);
		snprintf(ret->text, sizeof ret->text, "%.*s", (int)sizeof ret->text - 1, name);
	} else if (column == KIND) {
		snprintf(ret->text, sizeof ret->text, "%s", services_kind(s));
	} else if (column == USER) {
		format_escape(users_name(s->uid), ret->text, sizeof ret->text);
	} else {
		services_mode(s, mode, sizeof mode);
		format_escape(mode, ret->text, sizeof ret->text);
	}
}

static uint64_t count_of(const struct quoit_service_reply *s, unsigned column)
{
	const uint64_t counts[COLUMNS] = {[UID] = s->uid,         [GID] = s->gid,
					  [SERVERS] = s->servers, [LANES] = s->lanes,
					  [CALLERS] = s->callers, [WAITING] = s->waiting,
					  [RUNNING] = s->running, [CALLS] = s->calls,
					  [FAILED] = s->failed,   [AGAIN] = s->again,
					  [NUMBER] = s->service,  [HOLDER] = s->holder,
					  [VALUE] = s->value,     [SIZE] = s->kib * UINT64_C(1024)};

	return counts[column];
}

static bool is_of_processes(unsigned column)
{
	return column == SERVERS || column == LANES || column == RUNNING || column == AGAIN;
}

/* What others do with it is shown only to its user, root and quoitd's own user. */
static bool is_known(const struct quoit_service_reply *s, unsigned column)
{
	if (column == GID)
		return (s->mode & QUOIT_SERVE_MODE) == QUOIT_SERVE_GROUP;
	if (column == HOLDER)
		return s->known && s->holder;
	if (column == VALUE)
		return s->known && s->kind > QUOIT_SYNC_LOCK;
	if (column == SIZE)
		return s->known && (s->kind == QUOIT_SYNC_QUEUE || s->kind == QUOIT_SYNC_KEYSPACE);
	if (s->kind && is_of_processes(column))
		return false;
	return s->known || column == UID || column == SERVERS || column == LANES ||
	       column == NUMBER;
}

static void figure_of(const void *row, unsigned column, struct figure *ret)
{
	const struct row *r = row;
	const struct quoit_service_reply *s = &r->s;
	const double seconds = (double)s->ticks * r->tick_s;

	*ret = (struct figure){.known = true};
	switch (columns[column].kind) {
	case COLUMN_TEXT:
		set_text(s, column, ret);
		break;
	case COLUMN_SPAN:
		ret->known = s->known && !s->kind && r->tick_s > 0 && (column == TIME || s->calls);
		if (ret->known)
			ret->real = column == TIME ? seconds : seconds / (double)s->calls;
		break;
	default:
		ret->known = is_known(s, column);
		ret->count = count_of(s, column);
		break;
	}
}

static int by_number(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->s.service > y->s.service) - (x->s.service < y->s.service);
}

static const struct table table = {"ls",      columns,  COLUMNS, sizeof(struct row),
				   figure_of, by_number};

/* ---- the command ---- */

static int print(const struct listing *l, const struct services *s, double tick_s)
{
	struct row *rows = calloc(s->count ? s->count : 1, sizeof *rows);
	int status;

	if (!rows) {
		fprintf(stderr, "quoit ls: out of memory\n");
		return 1;
	}
	for (size_t i = 0; i < s->count; i++)
		rows[i] = (struct row){s->list[i], tick_s};
	status = listing_print(l, rows, s->count);
	free(rows);
	return status | !s->count;
}

int cmd_ls(int argc, char **argv)
{
	char socket[QUOIT_SOCKET_BYTES], text[CONTROL_TEXT_BYTES];
	struct services s = {0};
	struct listing l;
	int status = listing_parse(&command, &table, DEFAULT_COLUMNS, argc, argv, &l), fd, err;

	if (status >= 0)
		return status;
	if (!args_no_operands(&command, argc, argv) || !runtime_find_socket("ls", l.socket, socket))
		return 2;
	daemon_state_check_version("ls", socket);
	fd = control_connect(socket, text);
	err = fd < 0 ? fd : services_read(fd, socket, &s, text);
	if (err < 0)
		fprintf(stderr, "quoit ls: %s\n", text);
	if (fd >= 0)
		close(fd);
	status = err < 0 ? 1 : print(&l, &s, runtime_tick_s(socket));
	free(s.list);
	return status;
}
