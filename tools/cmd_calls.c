/* SPDX-License-Identifier: MIT */
/* cmd_calls.c - `quoit calls`: list who calls services */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "read/callers.h"
#include "read/daemon_state.h"
#include "read/list.h"
#include "read/listing.h"
#include "read/runtime.h"
#include "read/services.h"
#include "read/users.h"

#define DEFAULT_COLUMNS                                                                            \
	"service,user,pid,session,waiting,running,calls,failed,mean,wait,longest,command"

static const struct args_command command = {
	"calls", "[SERVICE]",
	"Print a line for each session that has a service, lock, flag, semaphore, barrier, queue or\n"
	"keyspace open; with a SERVICE (NAME, or USER/NAME if it is another user's) only for that\n"
	"one.\n"
	"MEAN is the mean time that a call ran, WAIT the mean time that it waited before, LONGEST\n"
	"the longest time that one ran.  '-': not known.  You see your own callers and the\n"
	"callers of your services; root, quoitd's own user and the group of its option\n"
	"stats-group see all.  Exit status 1: there is none to show, there is no such service,\n"
	"or quoitd is not there.",
	listing_options};

/* ---- the columns ---- */

struct row {
	struct quoit_caller_reply c;
	char service[SERVICES_NAME_BYTES];
	char command[FORMAT_CELL_BYTES];
	double tick_s; /* 0: not known */
};

enum {
	SERVICE,
	USER,
	UID,
	PID,
	SESSION,
	COMMAND,
	WAITING,
	RUNNING,
	CALLS,
	FAILED,
	MEAN,
	WAIT,
	LONGEST,
	TIME,
	WAITED,
	NUMBER,
	COLUMNS
};

static const struct table_column columns[COLUMNS] = {
	[SERVICE] = {"service", "", "SERVICE", COLUMN_TEXT,
		     "name of the service, behind USER/ if it is another user's"},
	[USER] = {"user", "", "USER", COLUMN_TEXT, "name of the caller's user"},
	[UID] = {"uid", "", "UID", COLUMN_COUNT, "number of the caller's user"},
	[PID] = {"pid", "", "PID", COLUMN_COUNT, "process that calls"},
	[SESSION] = {"session", "", "SESSION", COLUMN_COUNT,
		     "number of the session that calls, as quoit kill takes it"},
	[COMMAND] = {"command", "", "COMMAND", COLUMN_TEXT,
		     "name of the session as quoit ps shows it, or of its process"},
	[WAITING] = {"waiting", "", "WAITING", COLUMN_COUNT,
		     "calls of the caller that no process has got yet"},
	[RUNNING] = {"running", "", "RUNNING", COLUMN_COUNT,
		     "calls of the caller that a process has got and not returned yet"},
	[CALLS] = {"calls", "", "CALLS", COLUMN_COUNT, "calls of the caller that have returned"},
	[FAILED] = {"failed", "", "FAILED", COLUMN_COUNT, "calls of the caller that have failed"},
	[MEAN] = {"mean", "", "MEAN", COLUMN_SPAN, "mean time that a call ran"},
	[WAIT] = {"wait", "", "WAIT", COLUMN_SPAN, "mean time that a call waited before it ran"},
	[LONGEST] = {"longest", "", "LONGEST", COLUMN_SPAN, "longest time that one call ran"},
	[TIME] = {"time", "", "TIME", COLUMN_SPAN, "time that all calls together ran"},
	[WAITED] = {"waited", "", "WAITED", COLUMN_SPAN, "time that all calls together waited"},
	[NUMBER] = {"number", "", "NUMBER", COLUMN_COUNT, "number of the caller"},
};

static void set_text(const struct row *r, unsigned column, struct figure *ret)
{
	if (column == USER)
		format_escape(users_name(r->c.uid), ret->text, sizeof ret->text);
	else
		snprintf(ret->text, sizeof ret->text, "%.*s", (int)sizeof ret->text - 1,
			 column == SERVICE ? r->service : r->command);
	ret->known = *ret->text;
}

static void set_span(const struct row *r, unsigned column, struct figure *ret)
{
	const struct quoit_caller_reply *c = &r->c;
	const uint64_t ticks = column == LONGEST                    ? c->longest
			       : column == WAIT || column == WAITED ? c->wait_ticks
								    : c->ticks;
	const bool is_mean = column == MEAN || column == WAIT;

	ret->known = r->tick_s > 0 && (c->calls || !(is_mean || column == LONGEST));
	if (ret->known)
		ret->real = (double)ticks * r->tick_s / (is_mean ? (double)c->calls : 1);
}

static uint64_t count_of(const struct quoit_caller_reply *c, unsigned column)
{
	const uint64_t counts[COLUMNS] = {
		[UID] = c->uid,         [PID] = c->pid,         [SESSION] = c->session,
		[WAITING] = c->waiting, [RUNNING] = c->running, [CALLS] = c->calls,
		[FAILED] = c->failed,   [NUMBER] = c->caller};

	return counts[column];
}

static void figure_of(const void *row, unsigned column, struct figure *ret)
{
	const struct row *r = row;

	*ret = (struct figure){.known = true};
	switch (columns[column].kind) {
	case COLUMN_TEXT:
		set_text(r, column, ret);
		break;
	case COLUMN_SPAN:
		set_span(r, column, ret);
		break;
	default:
		ret->count = count_of(&r->c, column);
		break;
	}
}

static int by_number(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->c.service != y->c.service)
		return x->c.service < y->c.service ? -1 : 1;
	return (x->c.caller > y->c.caller) - (x->c.caller < y->c.caller);
}

static const struct table table = {"calls",   columns,  COLUMNS, sizeof(struct row),
				   figure_of, by_number};

/* ---- which service ---- */

/* The one that was named; name NULL: all. */
struct wanted {
	const char *name;
	uint32_t uid;
};

/* False after a line on stderr: there is no such user. */
static bool read_name(const char *word, struct wanted *ret)
{
	const char *slash = strchr(word, '/');
	char user[FORMAT_CELL_BYTES];

	*ret = (struct wanted){slash ? slash + 1 : word, geteuid()};
	if (!slash)
		return true;
	snprintf(user, sizeof user, "%.*s", (int)(slash - word), word);
	if (users_number(user, &ret->uid))
		return true;
	fprintf(stderr, "quoit calls: '%s' is neither a user name of this machine nor a number\n",
		user);
	return false;
}

static bool is_wanted(const struct wanted *w, const struct quoit_service_reply *s)
{
	return !w->name || (s->uid == w->uid && !strcmp(s->name, w->name));
}

/* ---- asking ---- */

struct rows {
	struct row *list;
	size_t count, room;
};

static bool append(struct rows *rows, const struct row *one)
{
	if (rows->count == rows->room) {
		void *list = list_grow(rows->list, &rows->room, sizeof *rows->list);

		if (!list)
			return false;
		rows->list = list;
	}
	rows->list[rows->count++] = *one;
	return true;
}

/* Add the callers of one service; 0, or -errno with a sentence in `text`. */
static int read_service(int fd, const char *socket, const struct quoit_service_reply *s,
			struct rows *rows, char text[CONTROL_TEXT_BYTES])
{
	struct service_callers callers = {0};
	int err = services_read_callers(fd, socket, s->service, &callers, text);
	struct row row = {0};

	services_name(s, row.service);
	for (size_t i = 0; i < callers.count && !err; i++) {
		row.c = callers.list[i];
		if (!append(rows, &row)) {
			snprintf(text, CONTROL_TEXT_BYTES, "out of memory");
			err = -ENOMEM;
		}
	}
	free(callers.list);
	return err;
}

static int read_rows(int fd, const char *socket, const struct wanted *w, struct rows *rows,
		     char text[CONTROL_TEXT_BYTES])
{
	struct services s = {0};
	int err = services_read(fd, socket, &s, text);
	bool found = !w->name;

	for (size_t i = 0; i < s.count && !err; i++)
		if (is_wanted(w, &s.list[i])) {
			found = true;
			err = read_service(fd, socket, &s.list[i], rows, text);
		}
	free(s.list);
	if (err || found)
		return err;
	snprintf(text, CONTROL_TEXT_BYTES,
		 "there is no service '%.64s' that you may call (see quoit ls)", w->name);
	return -ENOENT;
}

static void name_rows(const char *socket, struct rows *rows)
{
	const double tick_s = runtime_tick_s(socket);
	struct callers c;

	callers_open(&c, socket);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *r = &rows->list[i];

		r->tick_s = tick_s;
		callers_command(&c, r->c.session, r->c.pid, r->command);
	}
	callers_close(&c);
}

/* ---- the command ---- */

static int show(const struct listing *l, const char *socket, const struct wanted *w)
{
	char text[CONTROL_TEXT_BYTES];
	struct rows rows = {0};
	int fd = control_connect(socket, text), status = 1;
	int err = fd < 0 ? fd : read_rows(fd, socket, w, &rows, text);

	if (fd >= 0)
		close(fd);
	if (err < 0) {
		fprintf(stderr, "quoit calls: %s\n", text);
	} else {
		name_rows(socket, &rows);
		status = listing_print(l, rows.list, rows.count) | !rows.count;
	}
	free(rows.list);
	return status;
}

int cmd_calls(int argc, char **argv)
{
	char socket[QUOIT_SOCKET_BYTES];
	struct wanted w = {0};
	struct listing l;
	int status = listing_parse(&command, &table, DEFAULT_COLUMNS, argc, argv, &l);

	if (status >= 0)
		return status;
	if (argc - optind > 1) {
		fprintf(stderr, "quoit calls: unexpected argument '%s' (see quoit calls --help)\n",
			argv[optind + 1]);
		return 2;
	}
	if (optind < argc && !read_name(argv[optind], &w))
		return 2;
	if (!runtime_find_socket("calls", l.socket, socket))
		return 2;
	daemon_state_check_version("calls", socket);
	return show(&l, socket, &w);
}
