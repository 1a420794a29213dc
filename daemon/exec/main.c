/* SPDX-License-Identifier: MIT */
/*
 * main.c - quoit-exec: the process in which a plug-in module runs
 *
 * quoitd starts one per module: quoit-exec MODULE QUOITD'S-PID, with a socket as
 * descriptor 3 (exec.h).  It lives no longer than quoitd.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "affinity.h"
#include "module.h"
#include "serve.h"

/* Die with quoitd, keep nothing of its descriptors, gain no rights, leave no core of users' data.
 */
static int confine(const char *parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != (pid_t)strtol(parent, NULL, 10))
		return -1;
	(void)syscall(SYS_close_range, QUOIT_EXEC_SOCKET + 1, ~0u, 0);
	(void)prctl(PR_SET_DUMPABLE, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int main(int argc, char **argv)
{
	struct quoit_exec_hello hello;
	struct module module;
	int err;

	if (argc != 3 || confine(argv[2]) < 0) {
		fprintf(stderr, "quoit-exec is started by quoitd\n");
		return 2;
	}
	(void)affinity_give_way(); /* where that is forbidden it works all the same */
	module_load(argv[1], &module, &hello);
	if (send(QUOIT_EXEC_SOCKET, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
		return 1;
	err = module.api ? serve(QUOIT_EXEC_SOCKET, &module) : hello.result;
	module_unload(&module);
	return err ? 1 : 0;
}
