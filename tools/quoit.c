/* SPDX-License-Identifier: MIT */
/* quoit.c - the `quoit` command: one table of subcommands for dispatch and usage */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <quoit/descriptors.h>

#include "cli/suggest.h"
#include "commands.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *description;
} commands[] = {
	{"ps", cmd_ps, "list sessions: their users, jobs and memory"},
	{"top", cmd_top, "show cores, nodes and sessions, updated all the time"},
	{"stat", cmd_stat, "print a line of quoitd's figures, once or every few seconds"},
	{"ls", cmd_ls, "list services: functions of other processes"},
	{"calls", cmd_calls, "list who calls services, how often and for how long"},
	{"topo", cmd_topo, "print what quoitd found on this machine, and what its reactors do"},
	{"config", cmd_config, "print the options that quoitd runs with, and their origins"},
	{"share", cmd_share, "print the users' shares, or change one"},
	{"doctor", cmd_doctor, "check and measure this machine, and say what to change"},
	{"exporter", cmd_exporter, "serve quoitd's counters to Prometheus"},
	{"kill", cmd_kill, "end sessions"},
	{"run", cmd_run, "run a program with a quoitd of its own"},
	{"serve", cmd_serve, "run processes that serve, and start them again when they end"},
	{"trace", cmd_trace, "record what happens to each job"},
	{"report", cmd_report, "make a page of a recording"},
	{"bench", cmd_bench, "measure quoitd beside the floor of the hardware and its peers"},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void usage(FILE *out)
{
	fprintf(out, "usage: quoit COMMAND [options]\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  %-10s%s\n", commands[i].name, commands[i].description);
	fprintf(out,
		"\n`quoit COMMAND --help` lists the options of one; `quoit` alone is `quoit ps`.\n");
}

/* Like args_describe, but for all commands, for documentation. */
static void describe(void)
{
	for (size_t i = 0; i < COMMANDS; i++)
		printf("%s\t%s\n", commands[i].name, commands[i].description);
}

static int refuse(const char *word)
{
	struct suggestion s = {.word = word};

	for (size_t i = 0; i < COMMANDS; i++)
		suggest_try(&s, commands[i].name);
	fprintf(stderr, "quoit: unknown command '%s'", word);
	suggest_print(&s, "", stderr);
	fprintf(stderr, " (see quoit --help)\n");
	return 2;
}

/* Mend what our parent may have left: closed standard descriptors, ignored SIGCHLD. */
static void set_right(void)
{
	quoit_descriptors_open_standard();
	(void)signal(SIGCHLD, SIG_DFL);
}

static int run(int argc, char **argv)
{
	char *ps[] = {(char[]){"ps"}, NULL};

	if (argc < 2)
		return cmd_ps(1, ps);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--describe")) {
		describe();
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("quoit %s\n", QUOIT_VERSION);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	return refuse(argv[1]);
}

int main(int argc, char **argv)
{
	int status;

	set_right();
	status = run(argc, argv);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "quoit: standard output: %s\n", strerror(errno));
	return status ? status : 1;
}
