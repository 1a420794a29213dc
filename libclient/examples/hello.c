/* SPDX-License-Identifier: MIT */
/* hello.c - two tensors, one product, one number */
#include <stdio.h>

#include <quoit.h>

/* Submit everything, then read one number: all the waiting is in quoit_read. */
static int multiply(struct quoit_ring *q, float *ret)
{
	const struct quoit_shape one = {.dtype = QUOIT_F32, .dim = {1, 1, 1, 1}};
	quoit_tensor a = quoit_create_matrix(q, QUOIT_F32, 1000, 1000);
	quoit_tensor b = quoit_create_matrix(q, QUOIT_F32, 1000, 1000);

	quoit_push(q, quoit_fill(a, 2.0));
	quoit_push(q, quoit_gemm(b, a, a, 0, 1.0, 0.0));
	return quoit_read(q, quoit_view(q, b, &one, 0), ret, sizeof *ret);
}

int main(void)
{
	struct quoit_session *s;
	struct quoit_ring *q = NULL;
	char text[256];
	float x;
	int err;

	err = quoit_open(NULL, &s);
	if (err) {
		fprintf(stderr, "hello: %s: %s\n", quoit_strerror(err), quoit_open_text());
		return 1;
	}
	err = quoit_open_ring(s, NULL, &q);
	if (!err)
		err = multiply(q, &x);
	if (err)
		fprintf(stderr, "hello: %s\n", quoit_strerror_wait(q, err, text, sizeof text));
	else
		printf("1000 x 2 x 2 = %g\n", x);
	quoit_close(s, 0);
	return err != 0;
}
