/* SPDX-License-Identifier: MIT */
/* program.c - start, signal and await a program that a subcommand runs */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void program_block_signals(sigset_t *ret_signals, sigset_t *ret_before)
{
	sigemptyset(ret_signals);
	sigaddset(ret_signals, SIGINT);
	sigaddset(ret_signals, SIGTERM);
	sigaddset(ret_signals, SIGHUP);
	sigaddset(ret_signals, SIGQUIT);
	sigaddset(ret_signals, SIGUSR1); /* batch systems ask for a checkpoint by these two */
	sigaddset(ret_signals, SIGUSR2);
	sigaddset(ret_signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, ret_signals, ret_before);
}

pid_t program_start(char *const *argv, const char *socket, const sigset_t *before,
		    const char *command)
{
	pid_t program = fork();
	int err;

	if (program < 0)
		fprintf(stderr, "quoit %s: %s\n", command, strerror(errno));
	if (program)
		return program;
	if (setenv("QUOIT_SOCKET", socket, 1) == 0) {
		sigprocmask(SIG_SETMASK, before, NULL);
		execvp(argv[0], argv);
	}
	err = errno;
	fprintf(stderr, "quoit %s: %s: %s\n", command, argv[0], strerror(err));
	_exit(err == ENOENT ? PROGRAM_NOT_FOUND : PROGRAM_CANNOT_EXEC);
}

void program_forward(pid_t program, const siginfo_t *info)
{
	if (info->si_code != SI_KERNEL)
		(void)kill(program, info->si_signo);
}

struct program_ended program_reap(pid_t program, pid_t keeper)
{
	struct program_ended ended = {false};
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == program) {
			ended.program = true;
			ended.status = status;
		} else if (pid == keeper) {
			ended.keeper = true;
			ended.keeper_status = status;
		}
	}
	return ended;
}

int program_status(int status)
{
	return WIFSIGNALED(status) ? PROGRAM_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
