/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - run a program beside many processes, each with a session of its own
 *
 * Usage: crowd SESSIONS ACTIVE COMMAND [ARGUMENT...].  ACTIVE of the processes run a few short jobs
 * every 10 ms; the others do nothing.  $CROWD tells COMMAND the processes, separated by commas.
 * Exit status: COMMAND's own.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

#define SESSIONS_MOST 1000u
#define LEASE_BYTES   (UINT64_C(1) << 20)
#define JOBS          16
#define PAUSE_US      10000

/* ---- one process ---- */

static struct quoit_ring *enter(void)
{
	struct quoit_open_params params = {
		.host_bytes = LEASE_BYTES, .arena_bytes = 65536, .max_tensors = 64};
	struct quoit_session *session;
	struct quoit_ring *ring;
	int err = quoit_open(&params, &session);

	if (!err)
		err = quoit_open_ring(session, NULL, &ring);
	if (!err)
		return ring;
	fprintf(stderr, "crowd: %s: %s\n", quoit_strerror(err), quoit_open_text());
	return NULL;
}

static int work(struct quoit_ring *ring)
{
	quoit_tensor t = quoit_create_vector(ring, QUOIT_F32, 64);

	for (;;) {
		for (int i = 0; i < JOBS; i++)
			(void)quoit_push(ring, quoit_add_scalar(t, t, 1));
		if (quoit_wait_all(ring, QUOIT_FOREVER) < 0)
			return 1;
		usleep(PAUSE_US);
	}
}

/* It writes a byte when its session is open, and ends with its parent. */
static int live(bool active, int ready)
{
	struct quoit_ring *ring;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	ring = enter();
	if (!ring || write(ready, "", 1) != 1)
		return 1;
	close(ready);
	if (active)
		return work(ring);
	for (;;)
		pause();
}

/* ---- all processes ---- */

static bool gather(unsigned sessions, unsigned active, pid_t *list)
{
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return false;
	for (unsigned i = 0; i < sessions; i++) {
		list[i] = fork();
		if (list[i] == 0) {
			close(ready[0]);
			_exit(live(i < active, ready[1]));
		}
	}
	close(ready[1]);
	for (unsigned i = 0; i < sessions; i++)
		if (read(ready[0], &byte, 1) != 1)
			return false;
	close(ready[0]);
	return true;
}

static int run(char **command, const pid_t *list, unsigned sessions)
{
	char text[SESSIONS_MOST * 12] = "";
	size_t used = 0;
	int status;
	pid_t pid;

	for (unsigned i = 0; i < sessions; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? "," : "",
					 (int)list[i]);
	pid = fork();
	if (pid == 0) {
		setenv("CROWD", text, 1);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	static pid_t list[SESSIONS_MOST];
	unsigned sessions = argc > 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	int status = 1;

	if (!sessions || sessions > SESSIONS_MOST) {
		fprintf(stderr, "usage: crowd SESSIONS ACTIVE COMMAND [ARGUMENT...]\n");
		return 2;
	}
	if (gather(sessions, (unsigned)strtoul(argv[2], NULL, 10), list))
		status = run(argv + 3, list, sessions);
	for (unsigned i = 0; i < sessions; i++)
		if (list[i] > 0)
			kill(list[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return status;
}
