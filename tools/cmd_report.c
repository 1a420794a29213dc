/* SPDX-License-Identifier: MIT */
/* cmd_report.c - `quoit report`: turn a recording into a page */
#include <stdio.h>
#include <unistd.h>

#include "cli/args.h"
#include "commands.h"
#include "trace/output.h"
#include "trace/page.h"

#define DEFAULT_PATH "report.html"

static const struct args_option options[] = {
	{"output", "FILE", "file to write (default: report.html; -: standard output)", 'o'},
	{NULL},
};

static const struct args_command command = {
	"report", "FILE",
	"Make one page of a recording of `quoit trace record`: timeline, cores, queue depth, memory\n"
	"and a table of operations.  It needs nothing else: no network, no other file.",
	options};

int cmd_report(int argc, char **argv)
{
	const char *path = DEFAULT_PATH;
	int opt;

	while ((opt = args_next(&command, argc, argv)) >= 0)
		path = optarg;
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	if (argc == optind) {
		fprintf(stderr, "quoit report: name a recording (see quoit report --help)\n");
		return 2;
	}
	if (argc - optind > 1) {
		fprintf(stderr, "quoit report: unexpected argument '%s': one recording at a time\n",
			argv[optind + 1]);
		return 2;
	}
	return output_write("report", argv[optind], path, page_write);
}
