/* SPDX-License-Identifier: MIT */
/* cmd_stat.c - `quoit stat`: print quoitd's activity, one line per interval, like vmstat */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "read/counters.h"
#include "read/daemon_state.h"
#include "read/format.h"
#include "read/rates.h"
#include "read/runtime.h"

#define LINES_PER_HEADER 22 /* with the header they fit on the smallest terminal */
#define INTERVAL_MOST    86400.0
#define COLUMN_WIDTH     7

enum { REACTORS, WIDE, RAW, JSON, NO_HEADERS, COLUMNS, SOCKET };

static const struct args_option options[] = {
	[REACTORS] = {"reactors", NULL, "a line for each reactor", 'r'},
	[WIDE] = {"wide", NULL, "all columns, in lines of 160 characters", 'w'},
	[RAW] = {"raw", NULL,
		 "tab-separated: seconds and plain numbers, nothing for what is not known"},
	[JSON] = {"json", NULL, "a JSON object on each line; what is not known is null"},
	[NO_HEADERS] = {"no-headers", NULL, "leave out the headers"},
	[COLUMNS] = {"columns", NULL, "explain the columns"},
	[SOCKET] = {"socket", "PATH", "quoitd's socket; counter files lie beside it"},
	{NULL},
};

static const struct args_command command = {
	"stat", "[INTERVAL [COUNT]]",
	"Print what quoitd does: a line of means since its start, and then one every INTERVAL\n"
	"seconds, COUNT in all or until interrupted.  '-': not known, or the mean of nothing.\n"
	"Lines have at most 80 characters and not all columns; --wide has all.\n"
	"Exit status 1: there is no quoitd, or it has ended.",
	options};

struct stat {
	const char *socket;
	int directory;
	double interval;     /* seconds; 0: print one line */
	unsigned long count; /* 0: without end */
	bool reactors, wide, raw, json, headers;
	unsigned long lines;
};

/* ---- one line ---- */

/* Eighty characters hold only some columns, unless all are asked for. */
static bool is_shown(const struct stat *s, enum rate rate)
{
	if (s->wide || s->raw)
		return true;
	switch (rate) {
	case RATE_JOBS_OF:
	case RATE_DEPTH_OF:
	case RATE_AWAIT_OF:
	case RATE_P50_OF:
	case RATE_P99_OF:
	case RATE_UTIL_OF:
		return true;
	case RATE_SESSIONS_OF:
	case RATE_OPEN_OF:
	case RATE_MOVED_OF:
	case RATE_CORES_OF:
		return !s->reactors;
	case RATE_WORK_OF:
	case RATE_POLL_OF:
	case RATE_SLEEP_OF:
		return s->reactors;
	default:
		return false;
	}
}

static void print_value(const struct rates *r, enum rate rate)
{
	char text[24];
	double v = r->value[rate];

	if (!r->known[rate]) {
		snprintf(text, sizeof text, "-");
	} else {
		switch (rates_kind(rate)) {
		case RATE_TIME:
			format_span(v, text, sizeof text);
			break;
		case RATE_PERCENT:
			snprintf(text, sizeof text, "%.1f", v);
			break;
		case RATE_MEAN:
			snprintf(text, sizeof text, v < 99.95 ? "%.2f" : "%.0f", v);
			break;
		default:
			snprintf(text, sizeof text, "%.0f", v);
			break;
		}
	}
	printf(" %*s", COLUMN_WIDTH, text);
}

static void print_raw(const struct rates *r)
{
	for (unsigned i = 0; i < RATE_NR; i++) {
		putchar('\t');
		if (r->known[i])
			printf("%.9g", r->value[i]);
	}
}

static void print_json(const struct stat *s, const struct rates *r, int reactor, double now)
{
	json_t *json = json_pack("{s:f}", "time_seconds", now);

	if (s->reactors)
		json_object_set_new(json, "reactor", json_integer(reactor));
	for (unsigned i = 0; i < RATE_NR; i++)
		json_object_set_new(json, rates_json_key((enum rate)i),
				    r->known[i] ? json_real(r->value[i]) : json_null());
	json_dumpf(json, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(json);
}

static void print_header(const struct stat *s)
{
	fputs(s->raw ? "time" : s->reactors ? "reactor" : "", stdout);
	if (s->raw && s->reactors)
		fputs("\treactor", stdout);
	for (unsigned i = 0; i < RATE_NR; i++)
		if (s->raw)
			printf("\t%s", rates_key((enum rate)i));
		else if (is_shown(s, (enum rate)i))
			printf(" %*s", COLUMN_WIDTH, rates_key((enum rate)i));
	putchar('\n');
}

/* reactor: -1: all together. */
static void print_line(struct stat *s, const struct rates *r, int reactor)
{
	struct timespec now;
	double seconds;

	clock_gettime(CLOCK_REALTIME, &now);
	seconds = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	if (s->json) {
		print_json(s, r, reactor, seconds);
		return;
	}
	if (s->headers && (s->raw ? !s->lines : s->lines % LINES_PER_HEADER == 0))
		print_header(s);
	s->lines++;
	if (s->raw) {
		printf("%.3f", seconds);
		if (reactor >= 0)
			printf("\t%d", reactor);
		print_raw(r);
	} else {
		if (reactor >= 0)
			printf("%7d", reactor);
		for (unsigned i = 0; i < RATE_NR; i++)
			if (is_shown(s, (enum rate)i))
				print_value(r, (enum rate)i);
	}
	putchar('\n');
}

/* Two files of quoitd, read at one time; without histograms the timings are not known. */
struct reading {
	struct counters_totals totals;
	struct timings timings;
};

/* now: CLOCK_BOOTTIME; 0: quoitd is dead, and it is not known how long it has lived. */
static void print_lines(struct stat *s, const struct reading *from, const struct reading *to,
			uint64_t now)
{
	const struct counters_totals *before = from ? &from->totals : NULL;
	const struct timings *timed = from ? &from->timings : NULL;
	struct rates r;

	for (unsigned i = 0; s->reactors && i < to->totals.reactors; i++) {
		rates_of_reactor(before, &to->totals, i, now, &r);
		rates_add_timings(timed, &to->timings, (int)i, &r);
		print_line(s, &r, (int)i);
	}
	if (!s->reactors) {
		rates_of_all(before, &to->totals, now, &r);
		rates_add_timings(timed, &to->timings, -1, &r);
		print_line(s, &r, -1);
	}
	fflush(stdout);
}

/* ---- the loop ---- */

/* Sleep until a fixed time, so that the time that printing takes does not add up. */
static void sleep_until(struct timespec *at, double seconds)
{
	uint64_t ns = (uint64_t)at->tv_nsec + (uint64_t)(seconds * 1e9);

	at->tv_sec += (time_t)(ns / 1000000000u);
	at->tv_nsec = (long)(ns % 1000000000u);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL) == EINTR)
		;
}

/* If the histograms are missing, or a former quoitd left them, the reading has none. */
static int read_once(const struct stat *s, struct reading *ret)
{
	const struct counters_origin *origin = &ret->totals.origin;
	int err = counters_read_totals(s->directory, &ret->totals);

	timings_free(&ret->timings);
	if (err || timings_read(s->directory, &ret->timings) < 0)
		return err;
	if (!timings_is_of(&ret->timings, origin->daemon_pid, origin->started_ns))
		timings_free(&ret->timings);
	return 0;
}

/* Each time that quoitd stops moving, this is said once. */
static int follow(struct stat *s, struct reading *reading)
{
	const struct reading *from = NULL;
	struct timespec at;
	enum daemon_state state = DAEMON_UP, last;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (unsigned long n = 0; !s->count || n < s->count; n++) {
		struct reading *to = &reading[n % 2];

		if (n)
			sleep_until(&at, s->interval);
		err = read_once(s, to);
		if (err && !from)
			return daemon_state_refuse("stat", s->socket, err);
		last = state;
		if (!err)
			state = daemon_state_look(s->directory, s->socket, &to->totals);
		if (err || state == DAEMON_DEAD) {
			if (!from)
				print_lines(s, NULL, to, 0);
			fprintf(stderr, "quoit stat: quoitd (PID %u) is dead\n",
				(err ? from : to)->totals.origin.daemon_pid);
			return 1;
		}
		if (from && !rates_are_of_one(&from->totals, &to->totals)) {
			fprintf(stderr, "quoit stat: quoitd was restarted, as PID %u\n",
				to->totals.origin.daemon_pid);
			from = NULL;
		}
		if (state != last || !from)
			(void)daemon_state_warn("stat", state, &to->totals);
		print_lines(s, from, to, runtime_now_ns());
		if (ferror(stdout))
			return 1;
		from = to;
	}
	return 0;
}

static int run(struct stat *s)
{
	static struct reading reading[2];
	int status = follow(s, reading);

	timings_free(&reading[0].timings);
	timings_free(&reading[1].timings);
	return status;
}

/* ---- the command line ---- */

static bool take_operands(int count, char **words, struct stat *s)
{
	char *end;

	if (count > 0) {
		s->interval = strtod(words[0], &end);
		if (*end || !(s->interval >= 0.01) || s->interval > INTERVAL_MOST) {
			fprintf(stderr,
				"quoit stat: invalid interval in seconds '%s' (0.01 to %.0f)\n",
				words[0], INTERVAL_MOST);
			return false;
		}
		s->count = 0;
	}
	if (count > 1) {
		s->count = strtoul(words[1], &end, 10);
		if (*end || *words[1] < '1' || *words[1] > '9') {
			fprintf(stderr, "quoit stat: invalid number of lines '%s' (1 or more)\n",
				words[1]);
			return false;
		}
	}
	if (count > 2)
		fprintf(stderr, "quoit stat: unexpected argument '%s' after INTERVAL and COUNT\n",
			words[2]);
	return count <= 2;
}

static void print_columns(void)
{
	for (unsigned i = 0; i < RATE_NR; i++)
		printf("  %-8s%s\n", rates_key((enum rate)i), rates_help((enum rate)i));
}

int cmd_stat(int argc, char **argv)
{
	struct stat s = {.count = 1, .headers = true};
	char socket[QUOIT_SOCKET_BYTES];
	const char *given = NULL;
	int opt, err;

	while ((opt = args_next(&command, argc, argv)) >= 0) {
		s.reactors |= opt == REACTORS;
		s.wide |= opt == WIDE;
		s.raw |= opt == RAW;
		s.json |= opt == JSON;
		s.headers &= opt != NO_HEADERS;
		if (opt == SOCKET)
			given = optarg;
		if (opt == COLUMNS) {
			print_columns();
			return 0;
		}
	}
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (!take_operands(argc - optind, argv + optind, &s))
		return 2;
	if (!runtime_find_socket("stat", given, socket))
		return 2;
	s.socket = socket;
	s.directory = runtime_open_directory(socket);
	if (s.directory < 0)
		return daemon_state_refuse("stat", socket, s.directory);
	err = run(&s);
	close(s.directory);
	return err;
}
