/* SPDX-License-Identifier: MIT */
/* processes.h - start processes, join them, and what each of them has of Quoit */
#ifndef EXAMPLES_PROCESSES_H
#define EXAMPLES_PROCESSES_H

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quoit.h>

/* What a process opens for itself: a session and a ring are not handed on to children. */
struct own {
	struct quoit_session *s;
	struct quoit_ring *q;
};

static inline int own_open(struct own *o)
{
	const struct quoit_open_params params = {.shared_bytes = 1 << 20};
	int err = quoit_open(&params, &o->s);

	if (!err)
		err = quoit_open_ring(o->s, NULL, &o->q);
	if (err)
		fprintf(stderr, "process %d: %s: %s\n", (int)getpid(), quoit_strerror(err),
			quoit_open_text());
	return err;
}

/* A name that no other run of the program has. */
struct name {
	char text[32];
};

static inline struct name name_of(const char *what)
{
	struct name n;

	snprintf(n.text, sizeof n.text, "%s-%d", what, (int)getpid());
	return n;
}

/* Run it in a new process, which exits with its result; it dies with its parent. */
static inline pid_t process_start(int (*run)(unsigned number, void *with), unsigned number,
				  void *with)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(run(number, with) ? 1 : 0);
	}
	return pid;
}

/* Wait for its end: its exit status, or the negative signal that ended it. */
static inline int process_join(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return 255;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* How many of them did not end well. */
static inline int process_join_all(const pid_t *pid, unsigned count)
{
	int bad = 0;

	for (unsigned i = 0; i < count; i++)
		bad += process_join(pid[i]) != 0;
	return bad;
}

#endif
