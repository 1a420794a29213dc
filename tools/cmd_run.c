/* SPDX-License-Identifier: MIT */
/* cmd_run.c - `quoit run`: run a program with a quoitd of its own */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/args.h"
#include "commands.h"
#include "launch/private_daemon.h"
#include "launch/program.h"

static const struct args_option options[] = {
	{"reactors", "N", "and every other option of quoitd: see quoitd --help"},
	{NULL},
};

static const struct args_command command = {
	"run", "[--] CMD [ARG...]",
	"Start a private quoitd, run CMD with QUOIT_SOCKET set to it, and stop it when CMD\n"
	"ends.  Options before CMD go to quoitd.  CMD begins at the first word that is neither\n"
	"an option nor the value of one, or after the first `--`.  With --check-config quoitd\n"
	"only prints the errors in its options, and nothing is run.\n"
	"Exit status: CMD's own; 128 + n when signal n ended it; 125 quoitd did not start; 126\n"
	"CMD cannot be executed; 127 it is not found.  $QUOIT_GPU acts as --gpu; with soft, a\n"
	"program for devices runs where there is none.",
	options};

/* ---- the command line ---- */

/*
 * These are the only options of quoitd without a value; the value of another may be the next word.
 */
static bool takes_next(const char *option)
{
	static const char *const flags[] = {
		"-h",     "-V",           "--check-config", "--eager",   "--gpu-peers",
		"--help", "--lax-memory", "--no-io-uring",  "--private", "--version"};

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (!strcmp(option, flags[i]))
			return false;
	return !strchr(option, '=');
}

/*
 * As for env and timeout: the first word that is not an option begins CMD; a first `--` is dropped.
 */
static int find_command(char **argv, int *ret_end_of_options)
{
	int i = 1;

	while (argv[i] && argv[i][0] == '-' && strcmp(argv[i], "--") != 0)
		i += takes_next(argv[i]) && argv[i + 1] ? 2 : 1;
	*ret_end_of_options = i;
	return argv[i] && !strcmp(argv[i], "--") ? i + 1 : i;
}

/* The variable that chooses the daemon's devices, like its option of that name. */
#define GPU "QUOIT_GPU"

/* The first option that quoit run sets itself, and that a user may not set; NULL: there is none. */
static const char *find_reserved(char **argv, int end)
{
	static const char *const names[] = {"--socket", "--private", "--ready-fd"};

	for (int i = 1; i < end; i++)
		for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
			if (!strncmp(argv[i], names[k], strlen(names[k])))
				return argv[i];
	return NULL;
}

/* Shall quoitd only check its options? */
static bool only_checks(char **argv, int end)
{
	for (int i = 1; i < end; i++)
		if (!strcmp(argv[i], "--check-config"))
			return true;
	return false;
}

/* ---- the program ---- */

static int await_program(pid_t program, pid_t *keeper, const sigset_t *signals)
{
	struct program_ended ended;
	siginfo_t info;

	for (;;) {
		if (sigwaitinfo(signals, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD) {
			program_forward(program, &info);
			continue;
		}
		ended = program_reap(program, *keeper);
		if (ended.keeper)
			*keeper = 0;
		if (ended.program)
			return program_status(ended.status);
		if (ended.keeper)
			fprintf(stderr, "quoit run: quoitd has ended (status %d)\n",
				WEXITSTATUS(ended.keeper_status));
	}
}

static int run(char **argv, const char *const *daemon_options)
{
	struct private_daemon daemon;
	sigset_t signals, before;
	pid_t program;
	int status = PROGRAM_OURS;

	program_block_signals(&signals, &before);
	if (private_daemon_start(&daemon, daemon_options) < 0)
		return status;
	program = program_start(argv, daemon.socket, &before, "run");
	if (program > 0)
		status = await_program(program, &daemon.keeper, &signals);
	private_daemon_stop(&daemon);
	return status;
}

int cmd_run(int argc, char **argv)
{
	int end, status, first = find_command(argv, &end);
	const char *reserved = find_reserved(argv, end), **daemon_options;
	char *gpu = NULL;
	size_t n = 0;

	if (args_describe(&command, argc, argv))
		return 0;
	for (int i = 1; i < end; i++)
		if (args_is_common(&command, argv[i]))
			return 0;
	if (reserved) {
		fprintf(stderr, "quoit run: '%s' is not allowed: quoit run sets it itself\n",
			reserved);
		return PROGRAM_OURS;
	}
	if (first >= argc && !only_checks(argv, end)) {
		fprintf(stderr, "quoit run: name a program to run (see quoit run --help)\n");
		return PROGRAM_OURS;
	}
	daemon_options = calloc((size_t)end + 1, sizeof *daemon_options);
	if (!daemon_options || (getenv(GPU) && asprintf(&gpu, "--gpu=%s", getenv(GPU)) < 0))
		return PROGRAM_OURS;
	if (gpu) /* before the others, so that an option overrides it */
		daemon_options[n++] = gpu;
	for (int i = 1; i < end; i++)
		daemon_options[n++] = argv[i];
	if (only_checks(argv, end)) {
		/* checks only; does not return if quoitd could be run */
		private_daemon_check(daemon_options);
		return PROGRAM_OURS;
	}
	status = run(argv + first, daemon_options);
	free(gpu);
	free(daemon_options);
	return status;
}
