/* SPDX-License-Identifier: MIT */
/* cmd_serve.c - `quoit serve`: run processes that serve, and start them again when they end */
#include <stdio.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "launch/program.h"
#include "launch/restart.h"
#include "launch/supervise.h"

enum { PROCESSES, RESTART_MS, STOP_MS, UNPINNED, ONCE };

#define STOP_MOST_MS 3600000u

static const struct args_option options[] = {
	[PROCESSES] = {"processes", "N", "run N processes (default 1; 1 to 1024)", 'n'},
	[RESTART_MS] = {"restart-ms", "MS",
			"the first pause before a process is started again (default 100; 1 to "
			"10000)"},
	[STOP_MS] = {"stop-ms", "MS",
		     "kill what has not ended so long after a signal to end (default 5000; 0 to "
		     "3600000)"},
	[UNPINNED] = {"unpinned", NULL, "let every process use all CPUs"},
	[ONCE] = {"once", NULL, "start no process again; the first that fails ends all"},
	{NULL},
};

static const struct args_command command = {
	"serve", "[--] CMD [ARG...]",
	"Run processes of CMD that serve (quoit_serve of libquoit), and start one again when it\n"
	"ends; why it ended is said on stderr.  The pause before a start doubles up to 10 s; it\n"
	"is short again after a process has lived for 10 s.  Each process may use its share of\n"
	"the CPUs that quoit serve may use, and finds its number, counted from 0, in\n"
	"$QUOIT_SERVE_NUMBER.  SIGTERM, SIGINT, SIGHUP and SIGQUIT are passed on and end all; a\n"
	"second one kills.  However quoit serve ends, no process is left.\n"
	"Exit status: 0 after such a signal; with --once 0, or the status of the first process\n"
	"that failed (128 + n: by signal n); 125 the command line is invalid; 126 CMD cannot be\n"
	"executed; 127 it is not found.",
	options, .runs_program = true};

static bool read_number(const char *option, uint32_t least, uint32_t most, uint32_t *ret)
{
	uint32_t n;

	if (args_number(optarg, &n) && n >= least && n <= most) {
		*ret = n;
		return true;
	}
	fprintf(stderr, "quoit serve: invalid value '%s' of --%s (%u to %u)\n", optarg, option,
		least, most);
	return false;
}

static uint64_t ns_of(uint32_t ms)
{
	return ms * UINT64_C(1000000);
}

static bool take_option(int opt, struct supervise_params *p)
{
	uint32_t n = 0;
	bool good = true;

	switch (opt) {
	case PROCESSES:
		good = read_number("processes", 1, SUPERVISE_MOST, &p->processes);
		break;
	case RESTART_MS:
		good = read_number("restart-ms", 1, RESTART_MOST_NS / 1000000, &n);
		p->restart_ns = ns_of(n);
		break;
	case STOP_MS:
		good = read_number("stop-ms", 0, STOP_MOST_MS, &n);
		p->stop_ns = ns_of(n);
		break;
	case UNPINNED:
		p->pinned = false;
		break;
	case ONCE:
		p->once = true;
		break;
	}
	return good;
}

int cmd_serve(int argc, char **argv)
{
	struct supervise_params p = {.command = "serve",
				     .number_variable = "QUOIT_SERVE_NUMBER",
				     .processes = 1,
				     .restart_ns = ns_of(100),
				     .stop_ns = ns_of(5000),
				     .pinned = true};
	int opt;

	while ((opt = args_next(&command, argc, argv)) >= 0)
		if (!take_option(opt, &p))
			return PROGRAM_OURS;
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : PROGRAM_OURS;
	if (optind == argc) {
		fprintf(stderr, "quoit serve: name a program to run (see quoit serve --help)\n");
		return PROGRAM_OURS;
	}
	p.argv = argv + optind;
	return supervise(&p);
}
