/* SPDX-License-Identifier: MIT */
/* cmd_ps.c - `quoit ps`: a line per session, from the counter files alone */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "commands.h"
#include "counters.h"
#include "format.h"
#include "process.h"
#include "runtime.h"

static const struct args_option options[] = {
	{"socket", "PATH", "quoitd's socket; counter files lie beside it"},
	{"no-headers", NULL, "leave the first line away"},
	{"json", NULL, "print a JSON object; what is not known is null"},
	{NULL},
};

static const struct args_command command = {
	"ps", "",
	"Print a line for each session.  %CPU is the time of cores charged to the session over\n"
	"its lifetime; USED and LEASED are bytes of host memory, DEVICE bytes on devices, RSS\n"
	"is its client's.  '-' is not known.  Exit status 1: there is no session to show.",
	options};

struct sessions {
	struct counters_session *list;
	size_t count, room;
	unsigned unreadable; /* other users' */
	unsigned damaged;
	bool daemon_lives;
};

/* ---- reading ---- */

static int add(struct sessions *s, const struct counters_session *one)
{
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		void *list = realloc(s->list, room * sizeof *s->list);

		if (!list)
			return -ENOMEM;
		s->list = list;
		s->room = room;
	}
	s->list[s->count++] = *one;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const struct counters_session *x = a, *y = b;

	return (x->session > y->session) - (x->session < y->session);
}

static int read_one(struct sessions *s, int directory, uint64_t number)
{
	struct counters_session one;
	int err = counters_read_session(directory, number, &one);

	if (!err)
		return add(s, &one);
	if (err == -EACCES)
		s->unreadable++;
	else if (err != -ENOENT) /* closed since we read the directory */
		s->damaged++;
	return 0;
}

static bool session_number(const char *name, uint64_t *ret)
{
	int end = 0;

	return sscanf(name, "session.%20" SCNu64 "%n", ret, &end) == 1 && !name[end];
}

static int read_all(struct sessions *s, int directory)
{
	DIR *dir = fdopendir(dup(directory));
	struct dirent *entry;
	uint64_t number;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (session_number(entry->d_name, &number))
			err = read_one(s, directory, number);
	closedir(dir);
	if (s->count)
		qsort(s->list, s->count, sizeof *s->list, by_number);
	return err;
}

/* ---- what the figures mean ---- */

static const char *state_of(const struct sessions *all, const struct counters_session *s)
{
	struct counter running = s->value[QUOIT_SESSION_RUNNING];
	struct counter queued = s->value[QUOIT_SESSION_QUEUED];

	if (s->ended || !all->daemon_lives)
		return "closed";
	if (running.known && running.value)
		return "running";
	if (queued.known && queued.value)
		return "queued";
	return running.known && queued.known ? "idle" : "-";
}

/* For how long it has been open, in ticks; not known once its daemon is dead. */
static struct counter lifetime(const struct sessions *all, const struct counters_session *s)
{
	uint64_t now = runtime_now_ns();

	if (!all->daemon_lives || !s->origin.tsc_hz || s->opened_ns >= now)
		return (struct counter){0};
	return (struct counter){
		.value = (uint64_t)((double)(now - s->opened_ns) * (double)s->origin.tsc_hz / 1e9),
		.known = true};
}

static struct counter resident(const struct counters_session *s)
{
	struct counter c = {0};

	c.known = process_resident(s->pid, s->opened_ns, &c.value);
	return c;
}

static void user_name(uint32_t uid, char *ret, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(ret, size, "%s", user->pw_name);
	else
		snprintf(ret, size, "%u", uid);
}

/* ---- printing ---- */

static void print_session(struct format_table *t, const struct sessions *all,
			  const struct counters_session *s)
{
	char name[FORMAT_CELL_BYTES], user[64];

	format_escape(s->name, name, sizeof name);
	user_name(s->uid, user, sizeof user);
	format_cell(t, "%" PRIu64, s->session);
	format_cell(t, "%u", s->pid);
	format_cell(t, "%s", user);
	format_cell(t, "%s", *name ? name : "-");
	format_cell(t, s->node < 0 ? "-" : "%d", s->node);
	format_cell(t, "%u", s->reactor);
	format_cell(t, "%s", state_of(all, s));
	format_cell_counter(t, s->value[QUOIT_SESSION_QUEUED]);
	format_cell_counter(t, s->value[QUOIT_SESSION_RUNNING]);
	format_cell_counter(t, s->value[QUOIT_SESSION_DONE]);
	format_cell_counter(t, s->value[QUOIT_SESSION_FAILED]);
	format_cell_percent(t, s->value[QUOIT_SESSION_CORE_TICKS], lifetime(all, s));
	format_cell_bytes(t, s->value[QUOIT_SESSION_HOST_USED]);
	format_cell_bytes(t, s->value[QUOIT_SESSION_HOST_LEASE]);
	format_cell_bytes(t, s->value[QUOIT_SESSION_DEVICE_USED]);
	format_cell_bytes(t, resident(s));
}

static void print_table(const struct sessions *s, bool headers)
{
	static const struct format_column columns[] = {
		{"SESSION", false}, {"PID", false},     {"USER", true},    {"COMMAND", true},
		{"NODE", false},    {"REACTOR", false}, {"STATE", true},   {"QUEUED", false},
		{"RUNNING", false}, {"DONE", false},    {"FAILED", false}, {"%CPU", false},
		{"USED", false},    {"LEASED", false},  {"DEVICE", false}, {"RSS", false}};
	struct format_table t = {.columns = columns, .count = sizeof columns / sizeof columns[0]};

	for (size_t i = 0; i < s->count; i++)
		print_session(&t, s, &s->list[i]);
	format_print(&t, headers);
	if (s->unreadable)
		printf("%u sessions of other users\n", s->unreadable);
}

static json_t *session_json(const struct sessions *all, const struct counters_session *s)
{
	static const char *const labels[QUOIT_SESSION_NR] = {
#define LABEL(name, text) text,
		QUOIT_SESSION_STATS(LABEL)
#undef LABEL
	};
	struct counter ticks = s->value[QUOIT_SESSION_CORE_TICKS], life = lifetime(all, s);
	char name[FORMAT_CELL_BYTES], user[64];
	json_t *counters = json_object();

	format_escape(s->name, name, sizeof name);
	user_name(s->uid, user, sizeof user);
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		json_object_set_new(counters, labels[i], format_json_counter(s->value[i]));
	return json_pack("{s:I, s:i, s:I, s:s, s:s, s:o, s:i, s:s, s:o, s:o, s:o}", "session",
			 (json_int_t)s->session, "pid", (int)s->pid, "uid", (json_int_t)s->uid,
			 "user", user, "command", name, "node",
			 s->node < 0 ? json_null() : json_integer(s->node), "reactor",
			 (int)s->reactor, "state", state_of(all, s), "cpu_percent",
			 ticks.known && life.known && life.value
				 ? json_real(100.0 * (double)ticks.value / (double)life.value)
				 : json_null(),
			 "rss_bytes", format_json_counter(resident(s)), "counters", counters);
}

static bool print_json(const struct sessions *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(list, session_json(s, &s->list[i]));
	return format_json_print(json_pack("{s:b, s:i, s:i, s:o}", "daemon_lives", s->daemon_lives,
					   "unreadable", (int)s->unreadable, "damaged",
					   (int)s->damaged, "sessions", list));
}

/* ---- the command ---- */

static void warn(const struct sessions *s, const struct counters_totals *totals)
{
	if (!s->daemon_lives)
		fprintf(stderr, "quoit ps: quoitd (PID %u) is dead; these are its last figures\n",
			totals->origin.daemon_pid);
	if (s->damaged)
		fprintf(stderr, "quoit ps: %u files are no session counters of this version\n",
			s->damaged);
}

static int show(const char *socket, bool headers, bool json)
{
	struct sessions s = {0};
	struct counters_totals totals;
	int directory = runtime_open_directory(socket);
	int err = directory < 0 ? directory : counters_read_totals(directory, &totals);

	if (!err) {
		s.daemon_lives = runtime_daemon_lives(&totals.origin);
		err = read_all(&s, directory);
	}
	if (directory >= 0)
		close(directory);
	if (err) {
		fprintf(stderr, "quoit ps: no counters of quoitd beside %s: %s\n", socket,
			strerror(-err));
		free(s.list);
		return 1;
	}
	warn(&s, &totals);
	if (json)
		err = !print_json(&s);
	else
		print_table(&s, headers);
	err |= !s.count && !s.unreadable;
	free(s.list);
	return err;
}

int cmd_ps(int argc, char **argv)
{
	enum { SOCKET, NO_HEADERS, JSON };
	char socket[QUOIT_SOCKET_BYTES];
	const char *given = NULL;
	bool headers = true, json = false;
	int opt;

	while ((opt = args_next(&command, argc, argv)) >= 0) {
		if (opt == SOCKET)
			given = optarg;
		headers &= opt != NO_HEADERS;
		json |= opt == JSON;
	}
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (optind < argc) {
		fprintf(stderr, "quoit ps: takes no operand: '%s'\n", argv[optind]);
		return 2;
	}
	if (quoit_socket_path(given, false, socket) < 0) {
		fprintf(stderr, "quoit ps: the socket's path is empty or too long\n");
		return 2;
	}
	return show(socket, headers, json);
}
