/* SPDX-License-Identifier: MIT */
/* cmd_ps.c - `quoit ps`: print a line per session, from the counter files */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "read/columns.h"
#include "read/format.h"
#include "read/runtime.h"
#include "read/sessions.h"
#include "read/users.h"

#define DEFAULT_COLUMNS                                                                            \
	"user,pid,session,%cpu,rss,used,leased,device,node,reactor,state,queued,running,done,"     \
	"failed,time,command"

#define MOST_WANTED 256

enum { EVERY, PID, USER, FORMAT, SORT, NO_HEADERS, WIDE, COLUMNS, JSON, SOCKET };

static const struct args_option options[] = {
	[EVERY] = {"every", NULL, "all sessions that you may see (default)", 'e'},
	[PID] = {"pid", "LIST", "only sessions of these processes", 'p'},
	[USER] = {"user", "LIST", "only sessions of these users, by name or number", 'u'},
	[FORMAT] = {"format", "LIST", "show these columns; KEY=TITLE sets a column's title", 'o'},
	[SORT] = {"sort", "LIST", "sort by these columns; -KEY: the largest first"},
	[NO_HEADERS] = {"no-headers", NULL, "leave out the line of titles"},
	[WIDE] = {"wide", NULL, "do not cut lines at the terminal's width", 'w'},
	[COLUMNS] = {"columns", NULL, "list all columns"},
	[JSON] = {"json", NULL, "print a JSON object; what is not known is null"},
	[SOCKET] = {"socket", "PATH", "quoitd's socket; counter files lie beside it"},
	{NULL},
};

static const struct args_command command = {
	"ps", "[aux] [PID ...]",
	"Print a line for each session, as ps does for processes.  Means and percentages, as\n"
	"%CPU, are over a session's lifetime.  USED and LEASED are bytes of host memory, DEVICE\n"
	"bytes on devices; RSS is the client's resident memory.  '-': not known.  Exit status\n"
	"1: there is no session to show, or the command line is invalid.",
	options};

/* The command line's wishes. */
struct wanted {
	struct column_choices columns, order;
	uint32_t pid[MOST_WANTED], uid[MOST_WANTED];
	unsigned pids, uids;
	const char *socket;
	bool no_headers, json, wide;
};

/* ---- the command line ---- */

static bool pid_of(const char *word, uint32_t *ret)
{
	return args_number(word, ret) && *ret;
}

/* Parse a list, and add its members; what: the list's name in an error. */
static bool add_list(const char *list, bool (*parse)(const char *, uint32_t *), const char *what,
		     uint32_t *numbers, unsigned *count)
{
	char *copy = strdup(list), *rest = NULL;
	bool good = copy && list[strspn(list, ", ")];

	if (copy && !good)
		fprintf(stderr, "quoit ps: '%s' is not a %s\n", list, what);
	for (char *word = good ? strtok_r(copy, ", ", &rest) : NULL; word && good;
	     word = strtok_r(NULL, ", ", &rest)) {
		good = *count < MOST_WANTED && parse(word, &numbers[*count]);
		if (good)
			++*count;
		else if (*count == MOST_WANTED)
			fprintf(stderr, "quoit ps: more than %d in a list, from '%s' on\n",
				MOST_WANTED, word);
		else
			fprintf(stderr, "quoit ps: '%s' is not a %s\n", word, what);
	}
	free(copy);
	return good;
}

/* Operands are words such as "aux", which people type from habit, and PIDs. */
static bool take_operand(const char *word, struct wanted *w)
{
	if (word[strspn(word, "aefgluwx")])
		return add_list(word, pid_of, "PID (1 or more)", w->pid, &w->pids);
	w->wide |= strchr(word, 'w') != NULL;
	return true;
}

static bool take_option(int opt, struct wanted *w)
{
	switch (opt) {
	case PID:
		return add_list(optarg, pid_of, "PID (1 or more)", w->pid, &w->pids);
	case USER:
		return add_list(optarg, users_number,
				"user: neither a user name of this machine nor a number", w->uid,
				&w->uids);
	case FORMAT:
		return columns_choose(&w->columns, optarg, false, "ps");
	case SORT:
		return columns_choose(&w->order, optarg, true, "ps");
	case NO_HEADERS:
		w->no_headers = true;
		return true;
	case WIDE:
		w->wide = true;
		return true;
	case COLUMNS:
		columns_print_help();
		exit(fflush(stdout) == 0 ? 0 : 1);
	case JSON:
		w->json = true;
		return true;
	case SOCKET:
		w->socket = optarg;
		return true;
	default:
		return true;
	}
}

/* -ef, -aux and the like: quoit ps already shows what these letters ask ps for. */
static bool asks_for_all(const char *word)
{
	return !strcmp(word, "-aux") ||
	       (word[0] == '-' && word[1] && !word[1 + strspn(word + 1, "Aaefgjlx")]);
}

/* 0; 1 after a message: the command line makes no sense; ARGS_HELP. */
static int parse(int argc, char **argv, struct wanted *ret)
{
	static char all[] = "-e";
	int opt;

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (asks_for_all(argv[i]))
			argv[i] = all;
	while ((opt = args_next(&command, argc, argv)) >= 0)
		if (!take_option(opt, ret))
			return 1;
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? ARGS_HELP : 1;
	for (int i = optind; i < argc; i++)
		if (!take_operand(argv[i], ret))
			return 1;
	if (!ret->columns.count)
		(void)columns_choose(&ret->columns, DEFAULT_COLUMNS, false, "ps");
	return 0;
}

/* ---- which sessions ---- */

static bool is_in(uint32_t number, const uint32_t *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return false;
}

/* As with ps: a session is shown if any of the lists names it. */
static bool is_wanted(const struct session_row *row, void *arg)
{
	const struct wanted *w = arg;

	return (!w->pids && !w->uids) || is_in(row->s.pid, w->pid, w->pids) ||
	       is_in(row->s.uid, w->uid, w->uids);
}

/* ---- printing ---- */

static unsigned terminal_width(void)
{
	struct winsize size;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
										     : 0;
}

static void print_table(const struct sessions *s, const struct wanted *w)
{
	columns_print(&w->columns, s->list, s->count, !w->no_headers,
		      w->wide ? 0 : terminal_width());
	if (s->unreadable && !w->pids && !w->uids && !w->no_headers)
		printf("%u sessions of other users\n", s->unreadable);
}

static json_t *nodes_json(const struct process *p)
{
	json_t *json = p->nodes_known ? json_object() : json_null();
	char node[16];

	for (unsigned i = 0; p->nodes_known && i < PROCESS_NODES; i++)
		if (p->node_bytes[i]) {
			snprintf(node, sizeof node, "%u", i);
			json_object_set_new(json, node, json_integer((json_int_t)p->node_bytes[i]));
		}
	return json;
}

/* All columns.  Columns that are costly to find out are null unless they were asked for. */
static json_t *session_json(const struct session_row *row)
{
	static const char *const labels[QUOIT_SESSION_NR] = {
#define LABEL(name, text) text,
		QUOIT_SESSION_STATS(LABEL)
#undef LABEL
	};
	json_t *json = columns_json(row), *counters = json_object();

	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		json_object_set_new(counters, labels[i], format_json_counter(row->s.value[i]));
	json_object_set_new(json, "node_bytes", nodes_json(&row->process));
	json_object_set_new(json, "counters", counters);
	return json;
}

static bool print_json(const struct sessions *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(list, session_json(&s->list[i]));
	return format_json_print(json_pack(
		"{s:s, s:b, s:o, s:I, s:i, s:i, s:o}", "daemon_state", daemon_state_word(s->state),
		"daemon_lives", s->daemon_lives, "daemon_start_time_seconds",
		format_json_time(s->totals.origin.started_ns), "tsc_hz",
		(json_int_t)s->totals.origin.tsc_hz, "unreadable", (int)s->unreadable, "damaged",
		(int)s->damaged, "sessions", list));
}

/* ---- the command ---- */

static int show(const char *socket, struct wanted *w)
{
	struct session_files files;
	struct sessions s = {0};
	int err = session_files_open(&files, socket);

	if (!err)
		err = sessions_read(&files, &s);
	if (err < 0) {
		sessions_free(&s);
		session_files_close(&files);
		return daemon_state_refuse("ps", socket, err);
	}
	sessions_warn(&s, "ps");
	sessions_filter(&s, is_wanted, w);
	if (columns_need_latency(&w->columns) || columns_need_latency(&w->order))
		sessions_look_at_latency(s.list, s.count, &files);
	session_files_close(&files);
	sessions_look(&s, columns_need(&w->columns) | columns_need(&w->order) |
				  (w->json ? PROCESS_NEED_RESIDENT : 0));
	columns_sort(&w->order, s.list, s.count);
	err = 0;
	if (w->json)
		err = !print_json(&s);
	else
		print_table(&s, w);
	err |= !s.count && (!s.unreadable || w->pids || w->uids);
	sessions_free(&s);
	return err;
}

int cmd_ps(int argc, char **argv)
{
	static struct wanted w;
	char socket[QUOIT_SOCKET_BYTES];
	int err = parse(argc, argv, &w);

	if (err)
		return err == ARGS_HELP ? 0 : 1;
	if (!runtime_find_socket("ps", w.socket, socket))
		return 1;
	return show(socket, &w);
}
