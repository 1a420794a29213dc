/* SPDX-License-Identifier: MIT */
/*
 * record.c - `quoit trace record`: record a program, a process or all, until it ends or for a time
 */
#include "record.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <quoit/socket.h>

#include "cli/args.h"
#include "launch/private_daemon.h"
#include "launch/program.h"
#include "read/runtime.h"
#include "recorder.h"

#define DEFAULT_PATH    "quoit.trace"
#define DEFAULT_SIZE    (UINT64_C(256) << 20)
#define LEAST_SIZE      (UINT64_C(2) << 20)
#define DEFAULT_RECORDS 16384u /* quoitd has room for 32 sessions with this many records */
#define MOST_SECONDS    86400.0
#define MOST_OPTIONS    32u
#define SETTLE_MS       1000u /* the longest wait for quoitd's last records */
#define QUIET_LOOKS     3u    /* the wait ends after this many looks without new ones */

enum { OUTPUT, PID, ALL, TIME, SIZE, RECORDS, QUOITD, SOCKET, SHARED };

static const struct args_option options[] = {
	[OUTPUT] = {"output", "FILE", "file to write (default: quoit.trace)", 'o'},
	[PID] = {"pid", "PID", "record the sessions of this process", 'p'},
	[ALL] = {"all", NULL, "record all your sessions; as root, all users' sessions", 'a'},
	[TIME] = {"time", "SECONDS", "with -p or -a, record for S seconds, not until interrupted",
		  't'},
	[SIZE] = {"size", "BYTES", "most bytes of the file (256M); what does not fit is counted"},
	[RECORDS] = {"records", "N", "records that quoitd keeps for each session (16384)"},
	[QUOITD] = {"quoitd", "OPTION", "option for the private quoitd, as --quoitd=--lease=256M"},
	[SOCKET] = {"socket", "PATH", "run CMD with the quoitd at this socket, not a private one"},
	[SHARED] = {"shared", NULL, "run CMD with the quoitd where programs look for it"},
	{NULL},
};

static const struct args_command command = {
	"trace record", "-- CMD [ARG...]",
	"Record what happens to each job: of CMD, with a quoitd of its own, until it ends; or with -p\n"
	"or -a of a quoitd that runs, until interrupted.  `quoit report` and `quoit trace json` read\n"
	"the file.  Exit status: CMD's own, as with quoit run; with -p and -a 1 when it failed.",
	options};

struct record {
	struct recorder_what what;
	bool all, shared;
	double seconds; /* 0: until it is interrupted */
	const char *socket;
	/* the option of $QUOIT_GPU first; ended by a NULL */
	const char *daemon_options[MOST_OPTIONS + 2];
	unsigned daemon_options_used;
	char gpu[64];
};

/* ---- the command line ---- */

/* Parse a size such as "256M"; false: it is not one. */
static bool parse_size(const char *word, uint64_t *ret)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	errno = 0;
	*ret = strtoull(word, &end, 10);
	if (*word < '0' || *word > '9' || errno)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit && !end[1] && *ret < UINT64_C(1) << 30) {
		*ret <<= 10 * (unit - units + 1);
		return true;
	}
	return !*end;
}

static bool is_records(uint32_t n)
{
	return n >= QUOIT_TRACE_LEAST && n <= QUOIT_TRACE_MOST && !(n & (n - 1));
}

static int bad(const char *word, const char *what)
{
	fprintf(stderr, "quoit trace record: '%s' is %s\n", word, what);
	return ARGS_BAD;
}

static int take_option(struct record *r, int opt, const char *value)
{
	char *end;

	r->all |= opt == ALL;
	r->shared |= opt == SHARED;
	if (opt == OUTPUT)
		r->what.path = value;
	if (opt == SOCKET)
		r->socket = value;
	if (opt == PID && (!args_number(value, &r->what.pid) || !r->what.pid))
		return bad(value, "not a PID (1 or more)");
	if (opt == SIZE && (!parse_size(value, &r->what.size) || r->what.size < LEAST_SIZE))
		return bad(value, "not a size of 2M or more, as 256M");
	if (opt == RECORDS &&
	    (!args_number(value, &r->what.records) || !is_records(r->what.records)))
		return bad(value, "not a power of two from 4096 to 65536");
	if (opt == TIME) {
		r->seconds = strtod(value, &end);
		if (*end || end == value || !(r->seconds >= 0.001 && r->seconds <= MOST_SECONDS))
			return bad(value, "not a time in seconds (0.001 to 86400)");
	}
	if (opt == QUOITD) {
		if (r->daemon_options_used == MOST_OPTIONS)
			return bad(value, "one option of quoitd too many");
		r->daemon_options[r->daemon_options_used++] = value;
	}
	return 0;
}

/* How many arguments stand before the first `--`; these are ours. */
static int count_ours(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

/* Check that exactly one of a program, a process, and all is to be recorded. */
static int check_choice(const struct record *r, int left, const char *first)
{
	const char *wrong = NULL;

	if (left)
		wrong = "the program must come after `--`, as in quoit trace record -- CMD";
	else if (r->what.command && (r->what.pid || r->all))
		wrong = "-p and -a record sessions that run already: they take no program";
	else if (r->what.pid && r->all)
		wrong = "give -p or -a, not both";
	else if (!r->what.command && !r->what.pid && !r->all)
		wrong = "say what to record: `-- CMD`, -p PID or -a (see quoit trace record "
			"--help)";
	else if (r->what.command && r->seconds > 0)
		wrong = "-t is for -p and -a: a program is recorded until it ends";
	else if (r->daemon_options_used && (!r->what.command || r->socket || r->shared))
		wrong = "--quoitd is for a private quoitd";
	if (!wrong)
		return 0;
	fprintf(stderr, "quoit trace record: %s%s%s%s\n", left ? "'" : "", left ? first : "",
		left ? "': " : "", wrong);
	return ARGS_BAD;
}

/* 0, or the last result of args_next. */
static int parse(struct record *r, int argc, char **argv)
{
	int ours = count_ours(argc, argv), opt, err;

	r->what = (struct recorder_what){
		.path = DEFAULT_PATH, .size = DEFAULT_SIZE, .records = DEFAULT_RECORDS};
	if (ours + 1 < argc)
		r->what.command = argv + ours + 1;
	if (getenv("QUOIT_GPU"))
		snprintf(r->gpu, sizeof r->gpu, "--gpu=%s", getenv("QUOIT_GPU"));
	while ((opt = args_next(&command, ours, argv)) >= 0) {
		err = take_option(r, opt, optarg);
		if (err)
			return err;
	}
	if (opt != ARGS_END)
		return opt;
	return check_choice(r, ours - optind, argv[optind]);
}

/* ---- wait for the end ---- */

struct signals {
	const sigset_t *set;
	int heard; /* a signalfd, only polled and never read; -1: there is none */
};

/*
 * Wait for a signal, but not longer than until the next look; a new session ends the wait, too.
 * Returns the signal; not positive: none came.
 */
static int next_signal(const struct recorder *r, uint64_t came, const struct signals *s,
		       siginfo_t *ret)
{
	const struct timespec at_once = {0};
	struct pollfd events[] = {{.fd = s->heard, .events = POLLIN},
				  {.fd = r->watch, .events = POLLIN}};

	(void)poll(events, 2, (int)recorder_pause_ms(r, came));
	return sigtimedwait(s->set, ret, &at_once);
}

static struct signals hear(const sigset_t *set)
{
	return (struct signals){set, signalfd(-1, set, SFD_CLOEXEC)};
}

static void hear_no_more(const struct signals *s)
{
	if (s->heard >= 0)
		close(s->heard);
}

/* Wait for what quoitd has not reported yet: a session's last jobs, and its end. */
static void settle(struct recorder *r)
{
	unsigned quiet = 0;

	for (unsigned ms = 0; ms < SETTLE_MS && quiet < QUIET_LOOKS; ms += 20) {
		const struct timespec pause = {.tv_nsec = 20000000};
		uint64_t came = recorder_look(r);

		quiet = came || (!recorder_is_over(r) && !r->daemon_died) ? 0 : quiet + 1;
		nanosleep(&pause, NULL);
	}
}

/* Record until the program has ended; returns its exit status. */
static int await_program(struct recorder *r, pid_t program, pid_t *keeper,
			 const struct signals *signals)
{
	uint64_t came = 0;
	siginfo_t info;

	for (;;) {
		struct program_ended ended = {false};
		int sig = next_signal(r, came, signals, &info);

		came = recorder_look(r);
		if (sig > 0 && sig != SIGCHLD)
			program_forward(program, &info);
		if (sig == SIGCHLD)
			ended = program_reap(program, *keeper);
		if (ended.keeper)
			*keeper = 0;
		if (ended.program)
			return program_status(ended.status);
	}
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Record until a signal comes, the time is over, quoitd has ended or the file cannot be written. */
static void await_time(struct recorder *r, double seconds, const struct signals *signals)
{
	double until = seconds > 0 ? seconds_now() + seconds : 0;
	uint64_t came = 0;
	int sig = 0;

	while (!r->daemon_died && !recorder_has_failed(r) && (sig <= 0 || sig == SIGCHLD) &&
	       (seconds <= 0 || seconds_now() < until)) {
		sig = next_signal(r, came, signals, NULL);
		came = recorder_look(r);
	}
	(void)recorder_look(r);
}

/*
 * Signals that are ignored, as nohup does, must stay ignored: if they were blocked, they would
 * reach us.
 */
static void leave_out_ignored(sigset_t *signals)
{
	struct sigaction action;

	if (sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		sigdelset(signals, SIGHUP);
}

static int record_running(struct record *r, const sigset_t *signals)
{
	struct recorder recorder;
	sigset_t wanted = *signals;
	struct signals heard;

	(void)signal(SIGPIPE, SIG_IGN);
	if (recorder_begin(&recorder, &r->what) < 0)
		return 1;
	leave_out_ignored(&wanted);
	heard = hear(&wanted);
	await_time(&recorder, r->seconds, &heard);
	hear_no_more(&heard);
	return recorder_finish(&recorder) < 0 || recorder.daemon_died;
}

static int record_program(struct record *r, const sigset_t *signals, const sigset_t *before,
			  pid_t *keeper)
{
	struct recorder recorder;
	struct signals heard;
	int status = PROGRAM_OURS;
	pid_t program;

	if (recorder_begin(&recorder, &r->what) < 0)
		return status;
	program = program_start(r->what.command, r->what.socket, before, "trace record");
	(void)signal(SIGPIPE, SIG_IGN); /* the program keeps its own setting */
	if (program > 0) {
		heard = hear(signals);
		status = await_program(&recorder, program, keeper, &heard);
		hear_no_more(&heard);
		settle(&recorder);
	}
	if (recorder_finish(&recorder) < 0 && !status)
		status = PROGRAM_OURS;
	return status;
}

static int record_privately(struct record *r, const sigset_t *signals, const sigset_t *before)
{
	const char *daemon_options[MOST_OPTIONS + 2] = {NULL};
	struct private_daemon daemon;
	unsigned n = 0;
	int status;

	if (*r->gpu) /* before the others, so that an option overrides it */
		daemon_options[n++] = r->gpu;
	for (unsigned i = 0; i < r->daemon_options_used; i++)
		daemon_options[n++] = r->daemon_options[i];
	if (private_daemon_start(&daemon, daemon_options) < 0)
		return PROGRAM_OURS;
	r->what.socket = daemon.socket;
	r->what.alone = true;
	status = record_program(r, signals, before, &daemon.keeper);
	private_daemon_stop(&daemon);
	return status;
}

int trace_record(int argc, char **argv)
{
	static struct record r;
	char socket[QUOIT_SOCKET_BYTES];
	sigset_t signals, before;
	pid_t no_keeper = 0;
	int err = parse(&r, argc, argv);

	if (err)
		return err == ARGS_HELP ? 0 : 2;
	if (!runtime_find_socket(command.name, r.socket, socket))
		return 2;
	program_block_signals(&signals, &before);
	if (r.what.command && !r.socket && !r.shared)
		return record_privately(&r, &signals, &before);
	r.what.socket = socket;
	return r.what.command ? record_program(&r, &signals, &before, &no_keeper)
			      : record_running(&r, &signals);
}
