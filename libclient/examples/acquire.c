/* SPDX-License-Identifier: MIT */
/* acquire.c - the program works on what jobs have made, and jobs go on with it: nothing is copied */
#include <stdio.h>

#include <quoit.h>

#define N 1000000u

/* Own code, for which Quoit has no operation: every number becomes the sum of those before it. */
static void add_up(float *x)
{
	for (unsigned i = 1; i < N; i++)
		x[i] += x[i - 1];
}

static int run(struct quoit_ring *q, float *ret)
{
	const struct quoit_shape shape = {.dtype = QUOIT_F32, .dim = {1, 1, 1, N}};
	quoit_tensor x = quoit_create(q, &shape, QUOIT_CREATE_SHARED);
	quoit_tensor largest = quoit_create_vector(q, QUOIT_F32, 1);
	void *at;
	int err;

	quoit_push(q, quoit_fill(x, 0.5));
	err = quoit_acquire(q, x, QUOIT_ACCESS_WRITE, QUOIT_FOREVER, &at); /* waits for the fill */
	if (err)
		return err;
	add_up(at);
	quoit_release_tensor(q, x); /* from here on the next job may run */
	quoit_push(q, quoit_amax(largest, x, QUOIT_AXIS_ALL));
	return quoit_read(q, largest, ret, sizeof *ret);
}

int main(void)
{
	const struct quoit_open_params params = {.shared_bytes = N * sizeof(float)};
	struct quoit_session *s;
	struct quoit_ring *q = NULL;
	char text[256];
	float x;
	int err;

	err = quoit_open(&params, &s);
	if (err) {
		fprintf(stderr, "acquire: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return 1;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = run(q, &x);
	if (err)
		fprintf(stderr, "acquire: %s\n", quoit_strerror_wait(q, err, text, sizeof text));
	else
		printf("%u x 0.5 = %g\n", N, x);
	quoit_close(s, 0);
	return err != 0;
}
