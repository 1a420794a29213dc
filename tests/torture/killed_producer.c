/* SPDX-License-Identifier: MIT */
/*
 * killed_producer.c - a client killed at each instruction of a submit
 *
 * A child is single-stepped through quoit_push and quoit_flush and killed after a number of steps.
 * A prefix of its jobs was published, perhaps none; a prefix of those has run; quoitd and all
 * others go on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"
#include "scenes.h"
#include "stage.h"

#define JOBS 4u
/* Kills of each case.  Each goes through all instructions before it, and a sanitizer adds many. */
#ifdef QUOIT_SANITIZE
#define KILLS 10u
#else
#define KILLS 40u
#endif
#define KILLS_FULL 2000u /* all instructions, but for a sanitizer's */

/* Where the test finds the child's data. */
struct notes {
	const uint32_t *tail;
	const float *out; /* in its arena: job i writes i + 1 into out[i] */
	uint32_t before;  /* tail before the jobs */
	bool alone; /* each job is flushed by itself, and carried by the tail; set by the parent */
};

/* ---- the child ---- */

static void submit_between_stops(const char *socket, struct notes *notes)
{
	struct quoit_open_params p = {.socket = socket, .host_bytes = 1u << 20};
	struct quoit_shape one = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
	quoit_tensor tensor[JOBS];
	struct quoit_session *s;
	struct quoit_ring *q;
	float *out;

	if (stage_has_users())
		scene_become(SCENE_MALLORY);
	if (quoit_open(&p, &s) || quoit_open_ring(s, NULL, &q))
		_exit(1);
	out = quoit_alloc(s, JOBS * sizeof *out);
	for (unsigned i = 0; i < JOBS; i++) {
		out[i] = 0;
		tensor[i] = quoit_create_in(q, &one, &out[i]);
	}
	if (quoit_wait_all(q, QUOIT_FOREVER))
		_exit(1);
	notes->tail = &q->client->sq_tail;
	notes->out = out;
	notes->before = q->client->sq_tail;
	(void)raise(SIGSTOP);
	for (unsigned i = 0; i < JOBS; i++) {
		(void)quoit_push(q, quoit_fill(tensor[i], i + 1));
		if (notes->alone)
			(void)quoit_flush(q);
	}
	(void)quoit_flush(q);
	(void)raise(SIGSTOP);
	_exit(0);
}

static pid_t start_child(struct stage *s, struct notes *notes)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(1);
		submit_between_stops(s->daemon.socket, notes);
	}
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		return pid;
	printf("%s: the client did not get ready, wait status %#x\n", s->name, (unsigned)status);
	s->bad = true;
	return -1;
}

/* ---- the hunter ---- */

/* Step one instruction; false: the child has come to its second stop. */
static bool step(pid_t pid)
{
	int status;

	return !ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) && waitpid(pid, &status, 0) == pid &&
	       WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

static bool look(pid_t pid, const void *at, void *to, size_t size)
{
	struct iovec from = {(void *)(uintptr_t)at, size}, here = {to, size};

	return process_vm_readv(pid, &here, 1, &from, 1, 0) == (ssize_t)size;
}

static void check_prefix(struct stage *s, pid_t pid, const struct notes *notes, unsigned steps)
{
	uint32_t tail = 0, run = 0;
	float out[JOBS];
	bool good;

	usleep(200); /* quoitd may run the jobs that it sees */
	/* Read the outputs first: jobs that have run by now were published before. */
	good = look(pid, notes->out, out, sizeof out) && look(pid, notes->tail, &tail, sizeof tail);
	while (run < JOBS && out[run] == (float)(run + 1))
		run++;
	for (unsigned i = run; i < JOBS; i++)
		good &= out[i] == 0;
	if (good && tail - notes->before <= JOBS && run <= tail - notes->before)
		return;
	printf("%s: after %u steps: tail %u + %u, outputs %g %g %g %g\n", s->name, steps,
	       notes->before, tail - notes->before, out[0], out[1], out[2], out[3]);
	s->bad = true;
}

/* Returns the steps that it did, at most `steps`; then it is dead. */
static unsigned kill_after(struct stage *s, struct notes *notes, unsigned steps)
{
	pid_t pid = start_child(s, notes);
	unsigned done = 0;

	if (pid < 0)
		return 0;
	while (done < steps && step(pid))
		done++;
	check_prefix(s, pid, notes, done);
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) == pid)
		;
	stage_expect(s, QUOIT_DAEMON_CLIENTS_DIED, 1);
	return done;
}

static void kill_during_submits(struct stage *s, bool alone)
{
	struct notes *notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned steps, stride;

	if (!CHECK(s, notes != MAP_FAILED))
		return;
	notes->alone = alone;
	steps = kill_after(s, notes, UINT32_MAX);
	CHECK(s, steps > 50); /* otherwise it was not stepped at all */
	/* Flushed one by one, they take some thousand instructions more. */
	stride = steps / (s->times ? KILLS_FULL : alone ? KILLS / 2 : KILLS) + 1;
	for (unsigned n = 0; n <= steps && !s->bad; n += stride)
		(void)kill_after(s, notes, n);
	printf("  (%u instructions)\n", steps);
	munmap(notes, sizeof *notes);
}

static void killed_during_submit(struct stage *s)
{
	kill_during_submits(s, false);
}

static void killed_during_submits_of_one(struct stage *s)
{
	kill_during_submits(s, true);
}

static const struct stage_case cases[] = {
	{"killed during submit", killed_during_submit},
	{"killed during submits of one", killed_during_submits_of_one},
};

int main(int argc, char **argv)
{
	return stage_main(argc, argv, NULL, cases, sizeof cases / sizeof cases[0]);
}
