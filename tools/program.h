/* SPDX-License-Identifier: MIT */
/* program.h - a program that a subcommand runs: started, signalled, waited for */
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

/* Block what is to be passed on, and SIGCHLD: for sigwaitinfo. */
void program_block_signals(sigset_t *ret_signals, sigset_t *ret_before);

/*
 * Run it with QUOIT_SOCKET set to `socket` and the signals of before; its PID, or -1 after a
 * message that begins with "quoit <command>".
 */
pid_t program_start(char *const *argv, const char *socket, const sigset_t *before,
		    const char *command);

/* Ours to pass on, unless the terminal has sent it to the program as well. */
void program_forward(pid_t program, const siginfo_t *info);

/* What ended among our children. */
struct program_ended {
	bool program, keeper;
	int status, keeper_status; /* of waitpid's */
};

/*
 * Reap all children that have ended.  Others than the two are somebody's orphans, which come to us
 * where we are the first process of a container.
 */
struct program_ended program_reap(pid_t program, pid_t keeper);

/* Its exit status, or 128 and the signal, by waitpid's. */
int program_status(int status);

#endif
