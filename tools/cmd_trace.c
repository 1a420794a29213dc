/* SPDX-License-Identifier: MIT */
/* cmd_trace.c - `quoit trace`: record what happens to jobs, and convert recordings */
#include <stdio.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "trace/chrome.h"
#include "trace/output.h"
#include "trace/record.h"

static const struct args_option options[] = {
	{"output", "FILE", "file to write (default: standard output)", 'o'},
	{NULL},
};

static const struct args_command command = {
	"trace json", "FILE",
	"Convert a recording to JSON in Chrome's trace event format, which ui.perfetto.dev and\n"
	"chrome://tracing read.  It has tracks of rings, reactors, workers, devices and\n"
	"clients, arrows from submit to reap, and counters of jobs, queues, memory and cores.",
	options};

static int json(int argc, char **argv)
{
	const char *path = NULL;
	int opt;

	while ((opt = args_next(&command, argc, argv)) >= 0)
		path = optarg;
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (argc - optind != 1) {
		fprintf(stderr, "quoit trace json: %s%s%s\n",
			argc == optind ? "name a recording"
				       : "one recording at a time: unexpected argument '",
			argc == optind ? "" : argv[optind + 1], argc == optind ? "" : "'");
		return 2;
	}
	return output_write("trace json", argv[optind], path, chrome_write);
}

static const struct args_option no_options[] = {{NULL}};

static const struct args_word subcommands[] = {
	{"record", "record a program, a process or all, into a file", trace_record},
	{"json", "convert a recording for Perfetto", json},
	{NULL},
};

static const struct args_command trace = {
	"trace", "COMMAND [options]",
	"`quoit trace COMMAND --help` lists the options of one; `quoit report` makes a page of a\n"
	"recording.",
	no_options, subcommands};

int cmd_trace(int argc, char **argv)
{
	return args_run(&trace, argc, argv);
}
