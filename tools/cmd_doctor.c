/* SPDX-License-Identifier: MIT */
/* cmd_doctor.c - `quoit doctor`: examine the machine, and say what to change */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/suggest.h"
#include "commands.h"
#include "doctor/checks.h"
#include "doctor/print.h"
#include "doctor/tree.h"
#include "read/runtime.h"

enum { NO_MEASURE, QUIET, CHECKS, JSON, ROOT, SOCKET };

static const struct args_option options[] = {
	[NO_MEASURE] = {"no-measure", NULL, "leave out the checks of the group 'measure'", 'n'},
	[QUIET] = {"quiet", NULL, "print warnings and failures only", 'q'},
	[CHECKS] = {"checks", NULL, "list all checks"},
	[JSON] = {"json", NULL, "print a JSON array; what is not known is null"},
	[ROOT] = {"root", "DIR",
		  "read the /proc, /sys and /dev in DIR, another machine's: nothing is tried"},
	[SOCKET] = {"socket", "PATH", "quoitd's socket"},
	{NULL},
};

static const struct args_command command = {
	"doctor", "[CHECK ...]",
	"Check the machine, and the quoitd that runs, for what Quoit needs; measure cores and\n"
	"memory.  Each finding says what was found, why it matters, and which command mends it.\n"
	"CHECK is the name of a check or of a group.  Exit status 0: all checks passed, or only\n"
	"notes were made; 1: a warning or failure, or the checks could not be made; 2: invalid\n"
	"command line.",
	options};

struct wanted {
	char **names; /* names of checks and groups; empty: all */
	int count;
	bool no_measure, quiet, json;
	const char *root, *socket;
};

/* ---- the command line ---- */

static bool is_called(const struct check *check, const char *name)
{
	return !strcmp(check->name, name) || !strcmp(check->group, name);
}

static bool name_is_known(const char *name)
{
	struct suggestion s = {.word = name};

	for (unsigned i = 0; i < checks_count; i++) {
		if (is_called(&checks[i], name))
			return true;
		suggest_try(&s, checks[i].name);
		suggest_try(&s, checks[i].group);
	}
	fprintf(stderr, "quoit doctor: unknown check '%s'", name);
	suggest_print(&s, "", stderr);
	fprintf(stderr, " (see quoit doctor --checks)\n");
	return false;
}

static bool is_wanted(const struct wanted *w, const struct check *check)
{
	bool named = !w->count;

	for (int i = 0; i < w->count; i++)
		named |= is_called(check, w->names[i]);
	return named && !(w->no_measure && !strcmp(check->group, CHECKS_MEASURE));
}

static bool any_is_wanted(const struct wanted *w)
{
	for (unsigned i = 0; i < checks_count; i++)
		if (is_wanted(w, &checks[i]))
			return true;
	return false;
}

static void print_checks(void)
{
	for (unsigned i = 0; i < checks_count; i++)
		printf("  %-8s %-15s %s\n", checks[i].group, checks[i].name, checks[i].help);
}

/* ---- the command ---- */

static int look_over(const struct wanted *w, struct examination *e)
{
	char socket[QUOIT_SOCKET_BYTES] = "";

	if (e->live && !runtime_find_socket("doctor", w->socket, socket))
		return 2;
	examination_read(e, socket);
	for (unsigned i = 0; i < checks_count; i++)
		if (is_wanted(w, &checks[i]))
			examination_run(e, &checks[i]);
	if (e->findings.failed) {
		fprintf(stderr, "quoit doctor: out of memory\n");
		return 1;
	}
	if (!w->json)
		findings_print(&e->findings, w->quiet);
	else if (!findings_print_json(&e->findings, w->quiet))
		return 1;
	return findings_count(&e->findings, LEVEL_FAILURE) != 0;
}

static int run(const struct wanted *w)
{
	struct examination *e = calloc(1, sizeof *e);
	int status;

	if (!e) {
		fprintf(stderr, "quoit doctor: out of memory\n");
		return 1;
	}
	e->live = !w->root;
	e->root = tree_open(w->root ? w->root : "/");
	if (e->root < 0) {
		fprintf(stderr, "quoit doctor: %s: %s\n", w->root ? w->root : "/",
			strerror(-e->root));
		status = 1;
	} else {
		status = look_over(w, e);
		close(e->root);
	}
	findings_free(&e->findings);
	free(e);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct wanted w = {0};
	int opt;

	while ((opt = args_next(&command, argc, argv)) >= 0) {
		w.no_measure |= opt == NO_MEASURE;
		w.quiet |= opt == QUIET;
		w.json |= opt == JSON;
		if (opt == ROOT)
			w.root = optarg;
		if (opt == SOCKET)
			w.socket = optarg;
		if (opt == CHECKS) {
			print_checks();
			return 0;
		}
	}
	if (opt != ARGS_END)
		return opt == ARGS_HELP ? 0 : 2;
	w.names = argv + optind;
	w.count = argc - optind;
	for (int i = 0; i < w.count; i++)
		if (!name_is_known(w.names[i]))
			return 2;
	if (!any_is_wanted(&w)) {
		fprintf(stderr, "quoit doctor: --no-measure leaves none of these checks\n");
		return 2;
	}
	return run(&w);
}
