/* SPDX-License-Identifier: MIT */
/* program.h - start, signal and await a program that a subcommand runs */
#ifndef QUOIT_TOOLS_PROGRAM_H
#define QUOIT_TOOLS_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* The exit statuses of env(1) and nohup(1). */
enum {
	PROGRAM_OURS = 125,
	PROGRAM_CANNOT_EXEC = 126,
	PROGRAM_NOT_FOUND = 127,
	PROGRAM_SIGNAL = 128,
};

/* Block the signals that are passed on, and SIGCHLD, for sigwaitinfo. */
void program_block_signals(sigset_t *ret_signals, sigset_t *ret_before);

/*
 * Run it with QUOIT_SOCKET set to `socket` and with the signal mask `before`; returns its PID, or
 * -1 after a message that begins with "quoit <command>".
 */
pid_t program_start(char *const *argv, const char *socket, const sigset_t *before,
		    const char *command);

/* Pass a signal on to the program, unless the terminal has sent it there as well. */
void program_forward(pid_t program, const siginfo_t *info);

/* Which of our children have ended. */
struct program_ended {
	bool program, keeper;
	int status, keeper_status; /* as of waitpid */
};

/*
 * Reap all children that have ended.  Other children than these two are orphans, which the kernel
 * gives us if we are the first process of a container.
 */
struct program_ended program_reap(pid_t program, pid_t keeper);

/* The program's exit status, or 128 plus the signal, from waitpid's status. */
int program_status(int status);

#endif
