/* SPDX-License-Identifier: MIT */
/*
 * service.c - a service and its clients: `service serve NAME` sorts the rows of matrices for others,
 * `service call NAME [CALLS]` has matrices sorted, and compares one with the C library's result.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <quoit.h>

#include "now.h"

#define ROWS    64u
#define COLUMNS 1000u
#define BYTES   (ROWS * COLUMNS * sizeof(float))
#define WAIT_MS 5000u /* for a process that serves */

static int complain(const char *what, int err)
{
	fprintf(stderr, "service: %s: %s: %s\n", what, quoit_strerror(err), quoit_open_text());
	return 1;
}

static int by_value(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void sort_rows(float *rows, uint32_t count, uint32_t columns)
{
	for (uint32_t i = 0; i < count; i++)
		qsort(rows + (size_t)i * columns, columns, sizeof *rows, by_value);
}

/* ---- the process that serves ---- */

/* Copy row by row, with any strides; the output is dense.  Then sort in place: it is our memory. */
static int sort(void *state, struct quoit_exec_call *call)
{
	const struct quoit_exec_tensor *o = &call->tensor[0], *x = &call->tensor[1];
	const float *from = x->data;
	float *to = o->data;

	(void)state;
	if (o->dtype != QUOIT_F32 || x->dtype != QUOIT_F32 ||
	    memcmp(o->dim, x->dim, sizeof o->dim) || x->dim[0] != 1 || x->dim[1] != 1) {
		snprintf(call->text, sizeof call->text,
			 "needed are two matrices of equal dims and of float32");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < x->dim[2]; i++)
		for (uint32_t k = 0; k < x->dim[3]; k++)
			to[(size_t)i * x->dim[3] + k] =
				from[(int64_t)i * x->stride[2] + (int64_t)k * x->stride[3]];
	sort_rows(to, o->dim[2], o->dim[3]);
	return 0;
}

static int serve(const char *name)
{
	static const struct quoit_function functions[] = {
		{.name = "sort", .access = "WR--", .run = sort}};
	struct quoit_session *s;
	struct quoit_team *team;
	const struct timespec second = {.tv_sec = 1};
	sigset_t ends;
	int err;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL); /* of all threads that are started from here on */
	err = quoit_open(NULL, &s);
	if (err)
		return complain("cannot open a session", err);
	err = quoit_serve(s, name, functions, 1, NULL, &team);
	if (!err) {
		printf("process %d serves '%s'\n", (int)getpid(), name);
		fflush(stdout);
		/* The library's threads serve; quoit_serve_team says whether quoitd is still there. */
		while (sigtimedwait(&ends, NULL, &second) < 0 && err >= 0)
			err = quoit_serve_team(team, 0);
		err = quoit_close_team(team);
	}
	if (err)
		(void)complain(name, err);
	quoit_close(s, 0);
	return err != 0;
}

/* ---- the process that calls ---- */

static int call_it(struct quoit_ring *q, int function, unsigned calls, float *ret)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, ROWS, COLUMNS}};
	quoit_tensor x = quoit_create(q, &shape, QUOIT_CREATE_SHARED);
	quoit_tensor sorted = quoit_create(q, &shape, QUOIT_CREATE_SHARED);
	int err = 0;

	for (unsigned i = 0; i < calls && !err; i++) {
		err = quoit_push(q, quoit_uniform(x, i + 1, 0));
		if (!err)
			err = quoit_push(q, quoit_call(function, sorted, x, 0, 0));
	}
	/* the last matrix as it was, and sorted */
	if (!err)
		err = quoit_read(q, x, ret, BYTES);
	return err ? err : quoit_read(q, sorted, ret + ROWS * COLUMNS, BYTES);
}

static int report(float *both, unsigned calls, double seconds)
{
	float *own = both, *got = both + ROWS * COLUMNS;

	sort_rows(own, ROWS, COLUMNS);
	if (memcmp(own, got, BYTES) != 0) {
		fprintf(stderr, "service: the rows are not sorted\n");
		return 1;
	}
	printf("%u calls, %.0f per second: the last one has the bits of qsort\n", calls,
	       calls / seconds);
	return 0;
}

static int call(const char *name, unsigned calls)
{
	const struct quoit_open_params params = {.shared_bytes = 1 << 20};
	struct quoit_session *s;
	struct quoit_service *service;
	struct quoit_ring *q;
	float *both = malloc(2 * BYTES);
	double began;
	char text[300];
	int err = both ? quoit_open(&params, &s) : -ENOMEM;

	if (err) {
		free(both);
		return complain("cannot open a session", err);
	}
	err = quoit_open_service(s, name, WAIT_MS, &service);
	if (!err)
		err = quoit_open_ring(s, NULL, &q);
	if (err) {
		(void)complain(name, err);
	} else {
		began = now();
		err = call_it(q, quoit_find_service_function(service, "sort"), calls, both);
		if (err)
			fprintf(stderr, "service: %s\n",
				quoit_strerror_wait(q, err, text, sizeof text));
		else
			err = report(both, calls, now() - began);
	}
	quoit_close(s, 0);
	free(both);
	return err != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "call"))
		return call(argv[2], 100);
	if (argc == 4 && !strcmp(argv[1], "call") && atoi(argv[3]) > 0)
		return call(argv[2], (unsigned)atoi(argv[3]));
	fprintf(stderr, "usage: service serve NAME | service call NAME [CALLS]\n");
	return 2;
}
