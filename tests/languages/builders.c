/* SPDX-License-Identifier: MIT */
/* builders.c - compiles with every C and C++ in languages.sh: a job of each kind, and a wait */
#include <stdio.h>

#include <quoit.h>

static int run(struct quoit_ring *q)
{
	struct quoit_sqe slot = quoit_nop(QUOIT_NO_TENSOR); /* the type, not a function */
	quoit_tensor a = quoit_create_matrix(q, QUOIT_F32, 2, 2),
		     b = quoit_create_matrix(q, QUOIT_F32, 2, 2);
	quoit_tensor less = quoit_create_matrix(q, QUOIT_I32, 2, 2);
	float x[4];

	if (quoit_push(q, slot) || quoit_push(q, quoit_fill(a, 2)) ||
	    quoit_push(q, quoit_gemm(b, a, a, QUOIT_GEMM_TRANS_A, 1, 0)) ||
	    quoit_push(q, quoit_with_priority(quoit_add_scalar(b, b, 1), QUOIT_PRIO_HIGH)) ||
	    quoit_push(q, quoit_transpose(a, b, QUOIT_PERM(0, 1, 3, 2))) ||
	    quoit_push(q, quoit_compare_scalar(less, a, QUOIT_CMP_LT, 3)) ||
	    quoit_push(q, quoit_axpby_int(less, 2, less, 3, less)) || quoit_read(q, a, x, sizeof x))
		return 1;
	return x[0] != 9 || quoit_wait_all(q, QUOIT_FOREVER);
}

int main(void)
{
	struct quoit_session *s;
	struct quoit_ring *q;
	struct quoit_info info;
	int failed;

	if (quoit_open(NULL, &s) || quoit_open_ring(s, NULL, &q)) {
		fprintf(stderr, "builders: %s\n", quoit_open_text());
		return 1;
	}
	quoit_get_info(s, &info);
	failed = !info.max_tensors || run(q);
	return quoit_close(s, 0) || failed;
}
