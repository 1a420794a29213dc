/* SPDX-License-Identifier: MIT */
/* cmd_top.c - `quoit top`: show cores, nodes and sessions, again and again */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "read/daemon_state.h"
#include "read/runtime.h"
#include "read/sessions.h"
#include "top/follow.h"
#include "top/keys.h"
#include "top/machine.h"
#include "top/screen.h"
#include "top/view.h"

#define DEFAULT_COLUMNS "user,pid,session,%cpu,rate,aqu,wait,rss,used,device,state,command"

#define BATCH_WIDTH   VIEW_COLUMNS_MOST
#define FIRST_SECONDS 0.25

enum { BATCH, DELAY, ITERATIONS, FORMAT, SORT, USER, SESSION, BY_USER, NO_COLOR, NO_MOUSE, SOCKET };

static const struct args_option options[] = {
	[BATCH] = {"batch", NULL, "print plain text and read no keys, for files and pipes", 'b'},
	[DELAY] = {"delay", "SECONDS", "seconds between readings (2)", 'd'},
	[ITERATIONS] = {"iterations", "N", "end after N readings", 'n'},
	[FORMAT] = {"format", "LIST", "show these columns (see quoit ps --columns)", 'o'},
	[SORT] = {"sort", "COLUMN", "sort by this column; +KEY: the smallest first"},
	[USER] = {"user", "USER", "only this user's sessions, by name or number", 'u'},
	[SESSION] = {"session", "NUMBER", "show the page of this session"},
	[BY_USER] = {"by-user", NULL, "one line for each user, its sessions below"},
	[NO_COLOR] = {"no-color", NULL, "no colours (as $NO_COLOR)"},
	[NO_MOUSE] = {"no-mouse", NULL, "leave the mouse to the terminal, for marking text"},
	[SOCKET] = {"socket", "PATH", "quoitd's socket; counter files lie beside it"},
	{NULL},
};

static const struct args_command command = {
	"top", "",
	"Show what quoitd does: a bar for each core, beside what the system says of that core;\n"
	"nodes; devices; and the sessions.  A bar tells a reactor's work, its polling, and\n"
	"tiles apart; a tile is a piece of a long job, which one core runs.  Figures are of the\n"
	"time between two readings.  'h' lists the keys.  Exit status 1: there is no quoitd.",
	options};

struct top {
	struct view_options o;
	struct follow f;
	struct machine m;
	struct view v;
	unsigned long left; /* readings; 0: without end */
	bool batch, colour, mouse;
	struct question question;
};

/* ---- words ---- */

static bool parse_sort(const char *word, struct view_options *o)
{
	struct column_choices c = {0};

	if (!columns_choose(&c, word, true, "top") || !c.count)
		return false;
	o->sorted_by = c.list[0].column;
	o->ascending = *word == '+';
	return true;
}

static bool take_option(int opt, struct top *t)
{
	char *end;

	switch (opt) {
	case BATCH:
		t->batch = true;
		return true;
	case DELAY:
		if (question_read_interval(optarg, &t->o.interval))
			return true;
		fprintf(stderr, "quoit top: invalid delay in seconds '%s' (%g to %g)\n", optarg,
			QUESTION_INTERVAL_LEAST, QUESTION_INTERVAL_MOST);
		return false;
	case ITERATIONS:
		t->left = strtoul(optarg, &end, 10);
		if (t->left && !*end && *optarg >= '0' && *optarg <= '9')
			return true;
		fprintf(stderr, "quoit top: invalid number of readings '%s' (1 or more)\n", optarg);
		return false;
	case FORMAT:
		return columns_choose(&t->o.columns, optarg, false, "top");
	case SORT:
		return parse_sort(optarg, &t->o);
	case USER:
		if (question_read_user(optarg, &t->o))
			return true;
		fprintf(stderr,
			"quoit top: '%s' is neither a user name of this machine nor a number\n",
			optarg);
		return false;
	case SESSION:
		t->o.chosen = strtoul(optarg, &end, 10);
		t->o.page = VIEW_SESSION;
		if (t->o.chosen && !*end && *optarg >= '0' && *optarg <= '9')
			return true;
		fprintf(stderr, "quoit top: '%s' is not a session's number (see quoit ps)\n",
			optarg);
		return false;
	case BY_USER:
		t->o.groups = VIEW_TREE;
		return true;
	case NO_MOUSE:
		t->mouse = false;
		return true;
	case NO_COLOR:
		t->colour = false;
		return true;
	default:
		return true;
	}
}

/* ---- lookups ---- */

/* The columns that are shown or sorted by. */
static struct column_choices in_use(const struct view_options *o)
{
	struct column_choices c = o->columns;

	if (c.count < sizeof c.list / sizeof c.list[0])
		c.list[c.count++].column = o->sorted_by;
	return c;
}

/* ---- the loop ---- */

static void draw(struct top *t)
{
	unsigned width, height;

	question_show(&t->question, &t->o);
	screen_size(&width, &height);
	view_fill(&t->v, &t->o, &t->f, &t->m, width, height);
	screen_draw(&t->v);
}

static int until(uint64_t deadline_ns)
{
	uint64_t now = runtime_now_ns();

	return now < deadline_ns ? (int)((deadline_ns - now + 999999) / 1000000) : 0;
}

/* 0 or -errno; after an error the last reading stays. */
static int read_all(struct top *t)
{
	struct column_choices c = in_use(&t->o);
	int err = follow_read(&t->f, columns_need(&c));

	if (!err)
		follow_look_at_devices(&t->f);
	if (columns_need_latency(&c))
		follow_look_at_latency(&t->f);
	if (t->o.page == VIEW_SESSION)
		follow_choose(&t->f, t->o.chosen);
	return err;
}

static void read_again(struct top *t)
{
	(void)read_all(t);
	machine_read(&t->m);
}

/*
 * When the next reading is due; asked again each time, since the user may change the interval.  The
 * second reading follows the first soon, because only two readings give current figures.
 */
static uint64_t next_reading(const struct top *t, bool first, uint64_t since)
{
	double seconds = t->o.interval;

	if (first && seconds > FIRST_SECONDS)
		seconds = FIRST_SECONDS;
	return since + (uint64_t)(seconds * 1e9);
}

/* Run until `q`, or until there were as many readings as asked for. */
static void show(struct top *t)
{
	bool first = true; /* the reading at the start, with means since then */

	for (;;) {
		uint64_t since = runtime_now_ns();
		int key = SCREEN_NOTHING;

		if (!first)
			read_again(t);
		do {
			draw(t);
			key = screen_key(until(next_reading(t, first, since)));
			if (key == SCREEN_GONE ||
			    (key >= 0 && !keys_press(&t->question, key, &t->o, &t->f, &t->v)))
				return;
		} while (key != ' ' && runtime_now_ns() < next_reading(t, first, since));
		if (t->left && !first && !--t->left)
			return;
		first = false;
	}
}

static int print(struct top *t)
{
	for (;;) {
		view_fill(&t->v, &t->o, &t->f, &t->m, BATCH_WIDTH, 0);
		for (unsigned i = 0; i < t->v.count; i++) {
			unsigned n = t->v.lines[i].length;

			while (n && t->v.lines[i].text[n - 1] == ' ')
				n--;
			printf("%.*s\n", (int)n, t->v.lines[i].text);
		}
		putchar('\n');
		if (fflush(stdout) != 0)
			return 1;
		if (!t->f.daemon_lives) {
			fprintf(stderr, "quoit top: quoitd (PID %u) is dead\n",
				follow_now(&t->f)->origin.daemon_pid);
			return 1;
		}
		if (t->left && !--t->left)
			return 0;
		usleep((useconds_t)(t->o.interval * 1e6));
		read_again(t);
	}
}

/* Two descriptors for each session; so raise the limit to its maximum. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int run(struct top *t, const char *socket)
{
	int err = follow_open(&t->f, socket);

	raise_limit();
	if (!err)
		err = read_all(t);
	if (err)
		return daemon_state_refuse("top", socket, err);
	t->question.socket = socket;
	daemon_state_compare_versions("top", follow_now(&t->f));
	machine_open(&t->m);
	machine_read(&t->m);
	if (t->batch) {
		err = print(t);
	} else if (!screen_open(t->colour, t->mouse)) {
		fprintf(stderr, "quoit top: unknown terminal type '%s' ($TERM); see --batch\n",
			getenv("TERM") ? getenv("TERM") : "");
		err = 1;
	} else {
		show(t);
		screen_close();
	}
	machine_close(&t->m);
	follow_close(&t->f);
	view_free(&t->v);
	return err;
}

int cmd_top(int argc, char **argv)
{
	static struct top t;
	char socket[QUOIT_SOCKET_BYTES];
	const char *given = NULL, *no_color = getenv("NO_COLOR");
	int opt;

	t = (struct top){.o = {.sorted_by = COLUMN_OF_CPU, .interval = 2, .footer = true},
			 .mouse = true,
			 .colour = !no_color || !*no_color};
	while ((opt = args_next(&command, argc, argv)) >= 0) {
		if (!take_option(opt, &t))
			return 2;
		if (opt == SOCKET)
			given = optarg;
	}
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (!args_no_operands(&command, argc, argv))
		return 2;
	if (!t.o.columns.count)
		(void)columns_choose(&t.o.columns, DEFAULT_COLUMNS, false, "top");
	if (!runtime_find_socket("top", given, socket))
		return 2;
	if (!t.batch && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		fprintf(stderr,
			"quoit top: standard input or output is not a terminal; see --batch\n");
		return 2;
	}
	return run(&t, socket);
}
