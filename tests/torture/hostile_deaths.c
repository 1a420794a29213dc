/* SPDX-License-Identifier: MIT */
/* hostile_deaths.c - clients that die at the moment when quoitd starts an executor */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stage.h"

#define PATIENCE_MS 30000
#define CROWD       64u
#define LIFE_US     6000u

/* sample_sleep is the module's third operation; `arg` chooses what it does. */
enum { OP_SLEEP = QUOIT_OP_MODULE_FIRST + 2, SLEEP_WELL = 0, SLEEP_EXIT = 2 };

/* Let the executor run a job, so that it does not count as lost, and then exit. */
static void end_executor(const char *socket)
{
	static const struct raw_wish wish = {
		.host_bytes = 1u << 20, .max_tensors = 16, .sq_entries = 8};
	struct quoit_sqe job = {.opcode = OP_SLEEP, .arg = SLEEP_WELL};
	struct quoit_cqe cqe;
	struct raw_client c;

	if (raw_open(&c, socket, &wish) || !raw_submit(&c, &job) ||
	    raw_reap(&c, PATIENCE_MS, &cqe, NULL))
		_exit(1);
	job.arg = SLEEP_EXIT;
	_exit(raw_submit(&c, &job) ? 0 : 1);
}

static void live_and_die(const char *socket, unsigned us)
{
	struct raw_client c;

	if (raw_connect(&c, socket))
		_exit(1);
	usleep(us);
	_exit(0);
}

static pid_t start_client(struct stage *s, bool kills)
{
	unsigned us = stage_random(s, LIFE_US);
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (kills)
			end_executor(s->daemon.socket);
		live_and_die(s->daemon.socket, us);
	}
	stage_expect(s, kills ? QUOIT_DAEMON_CLIENTS_DIED : QUOIT_DAEMON_CLIENTS_LEFT, pid > 0);
	return pid;
}

static void bury(struct stage *s, pid_t pid)
{
	int status = -1;

	CHECK(s, pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

/*
 * A process that is about to execute its program has copies of all descriptors, also of dead
 * clients'.
 */
static void clients_die_while_an_executor_starts(struct stage *s)
{
	pid_t client[CROWD] = {0};
	unsigned n;

	for (n = 0; n < stage_times(s, 1000, 20000) && !s->bad; n++) {
		pid_t *slot = &client[n % CROWD];

		if (n >= CROWD)
			bury(s, *slot);
		*slot = start_client(s, n % 16 == 0);
		if (n % 16 == 15)
			usleep(1000);
	}
	for (unsigned i = 0; i < n && i < CROWD; i++)
		bury(s, client[i]);
}

static const struct stage_case cases[] = {
	{"clients die while an executor starts", clients_die_while_an_executor_starts},
};

int main(int argc, char **argv)
{
	const char *build = getenv("QUOIT_BUILD");
	char module[512];
	const char *const options[] = {module, "--log=error", NULL};
	const struct stage_scene scene = {.options = options};

	snprintf(module, sizeof module, "--module=%s/modules/sample.so", build ? build : "build");
	return stage_main(argc, argv, &scene, cases, sizeof cases / sizeof cases[0]);
}
