/* SPDX-License-Identifier: MIT */
/*
 * processes_fork.c - a process and its end.  A child is told that its parent's session is not its
 * own.  A process that closes its session waits for its jobs, or cancels them, and leaves nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "processes.h"

struct with {
	struct own *parent;
	struct name flag;
	int file;
};

/* ---- fork ---- */

/* Compute with a session of its own, beside the parent's, which it cannot use. */
static int be_a_child(unsigned number, void *with)
{
	const struct with *w = with;
	struct own own;
	quoit_tensor t;
	float x = 0;
	int err = quoit_push(w->parent->q, quoit_nop(QUOIT_NO_TENSOR));

	if (err != -EOWNERDEAD)
		return -EPROTO;
	err = own_open(&own);
	if (err)
		return err;
	t = quoit_create_vector(own.q, QUOIT_F32, 1);
	err = quoit_push(own.q, quoit_fill(t, (double)number));
	if (!err)
		err = quoit_read(own.q, t, &x, sizeof x);
	quoit_close(w->parent->s, 0); /* frees what the child has of it: the parent goes on */
	return err || x != (float)number ? -EPROTO : quoit_close(own.s, 0);
}

/* ---- the end ---- */

/* Put two jobs in, and leave: once the flag is set, a number is written to the file. */
static int leave(unsigned flags, void *with)
{
	const struct with *w = with;
	struct own own;
	quoit_tensor t;
	int flag, file, err = own_open(&own);

	if (err)
		return err;
	flag = quoit_open_flag(own.s, w->flag.text, NULL);
	file = quoit_add_file(own.s, w->file);
	t = quoit_create_vector(own.q, QUOIT_F32, 1);
	err = quoit_push(own.q, quoit_fill(t, 7));
	if (!err)
		err = quoit_push(own.q, quoit_wait_flag(flag, t));
	if (!err)
		err = quoit_push(own.q, quoit_write_file(t, file, 0));
	return err ? err : quoit_close(own.s, flags);
}

static float written(const struct with *w)
{
	float x = 0;

	return pread(w->file, &x, sizeof x, 0) == sizeof x ? x : 0;
}

static int end_them(struct own *own, struct with *w)
{
	int flag = quoit_open_flag(own->s, w->flag.text, NULL), err;
	pid_t pid = process_start(leave, QUOIT_CLOSE_CANCEL, w);

	err = process_join(pid);
	printf("a process that cancels its jobs has ended: %g is written\n", written(w));
	if (err || written(w) != 0)
		return -EPROTO;
	pid = process_start(leave, 0, w);
	err = quoit_run(own->q, quoit_set_flag(flag, QUOIT_NO_TENSOR), QUOIT_FOREVER);
	if (process_join(pid) && !err)
		err = -ECHILD;
	printf("a process that waits for its jobs has ended: %g is written\n", written(w));
	return err ? err : written(w) != 7 ? -EPROTO : 0;
}

int main(void)
{
	FILE *file = tmpfile();
	struct own own;
	struct with w = {&own, name_of("flag"), -1};
	pid_t child[2];
	quoit_job job;
	int err = file ? own_open(&own) : -EIO;

	if (err)
		return 1;
	w.file = fileno(file);
	err = quoit_start(own.q, quoit_nop(QUOIT_NO_TENSOR), &job);
	for (unsigned i = 0; i < 2; i++)
		child[i] = process_start(be_a_child, i, &w);
	if (process_join_all(child, 2))
		err = -ECHILD;
	if (!err)
		err = quoit_wait(own.q, job, QUOIT_FOREVER);
	if (!err)
		printf("two children had sessions of their own, and the parent goes on\n");
	if (!err)
		err = end_them(&own, &w);
	if (err)
		fprintf(stderr, "processes_fork: %s\n", quoit_strerror(err));
	quoit_close(own.s, 0);
	return err != 0;
}
