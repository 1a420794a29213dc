/* SPDX-License-Identifier: MIT */
/*
 * main.c - quoit-exec: the process in which a plug-in module or a device's driver runs.
 *
 * quoitd starts one for each, as quoit-exec MODULE-OR-DEVICE QUOITD'S-PID [shares], with a socket
 * as descriptor 3 (exec.h).  It does not outlive quoitd.  `shares`: other devices' processes may
 * read what it has on its device.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <quoit/descriptors.h>

#include "base/affinity.h"
#include "base/ctl_io.h"
#include "base/process_limits.h"
#include "base/tsc.h"
#include "launcher.h"
#include "module.h"
#include "serve.h"

#define OOM_MORE 500 /* thousandths of the machine's memory */

/*
 * When memory runs out, the kernel kills the process that uses most.  Make that this one: quoitd
 * has all sessions' memory, and can start another quoit-exec.  The score is inherited, and may
 * protect quoitd.
 */
static void go_first(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "r+e");
	int score;

	if (!f)
		return;
	if (fscanf(f, "%d", &score) == 1) {
		rewind(f);
		fprintf(f, "%d", score + OOM_MORE < 1000 ? score + OOM_MORE : 1000);
	}
	fclose(f);
}

/* Die with quoitd, close all its descriptors, gain no rights, leave no core with users' data. */
static int confine(const char *parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != (pid_t)strtol(parent, NULL, 10))
		return -1;
	quoit_descriptors_close(QUOIT_EXEC_SOCKET + 1, ~0u);
	go_first(); /* before it is not dumpable, and may not write there */
	(void)prctl(PR_SET_DUMPABLE, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Send the hello, with a descriptor for others to reach the device's memory; -1: none. */
static bool say_hello(const struct quoit_exec_hello *hello, int pool)
{
	return !ctl_send_bytes(QUOIT_EXEC_SOCKET, hello, sizeof *hello, &pool, pool >= 0);
}

/*
 * A module's process always runs at nice 19, as a worker's light thread.  A worker has a heavier
 * thread, too, for work that delays no small job (decision D23).  A module has one weight only,
 * since one thread makes all calls into it, and a thread cannot lower its nice value again.  At
 * equal weight the p99 of other sessions' NOPs beside a module that computes is 2 to 23 times as long.
 */
static int run_module(const char *path)
{
	struct quoit_exec_hello hello;
	struct module module;
	int err;

	(void)affinity_give_way(
		AFFINITY_BACKGROUND_NICE); /* if this is refused, the module works all the same */
	module_load(path, &module, &hello);
	if (!say_hello(&hello, -1))
		return -ECONNRESET;
	err = module.api ? serve(QUOIT_EXEC_SOCKET, &module) : hello.result;
	module_unload(&module);
	return err;
}

/* It does not lower its priority: it has little work of its own, but that is urgent. */
static int run_device(const char *name, bool shares)
{
	struct quoit_exec_hello hello;
	struct driver driver;
	int err, pool = -1;

	tsc_init();
	driver_open(name, &driver, &hello);
	if (shares && driver.api && driver.api->pool_export &&
	    driver.api->pool_export(driver.device, &pool) < 0)
		pool = -1;
	if (!say_hello(&hello, pool))
		return -ECONNRESET;
	if (pool >= 0)
		(void)close(pool);
	err = driver.api ? launch(QUOIT_EXEC_SOCKET, &driver) : hello.result;
	driver_close(&driver);
	return err;
}

int main(int argc, char **argv)
{
	int err;

	quoit_descriptors_open_standard();
	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "--version") ||
			  !strcmp(argv[1], "-h") || !strcmp(argv[1], "-V"))) {
		printf("quoit-exec %s: quoitd starts it for each module and device; see quoitd --help\n",
		       QUOIT_VERSION);
		return 0;
	}
	process_limits_set_stacks();
	if (argc < 3 || confine(argv[2]) < 0) {
		fprintf(stderr, "quoit-exec is started by quoitd\n");
		return 2;
	}
	err = driver_is_named(argv[1]) ? run_device(argv[1], argc > 3) : run_module(argv[1]);
	return err ? 1 : 0;
}
