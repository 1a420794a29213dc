/* SPDX-License-Identifier: MIT */
/* builders.c - compiles with every C and C++ in languages.sh: a job of each kind, and a wait */
#include <stdio.h>

#include <quoit.h>

#ifndef __cplusplus
/* Braces as arguments: the preprocessor takes their commas for those between arguments. */
static int braces(struct quoit_ring *q)
{
	quoit_tensor t = quoit_create_vector(q, QUOIT_I32, 2);
	const struct quoit_sqe add =
		quoit_op_int((struct quoit_sqe){.opcode = QUOIT_OP_ADD, .tensor = {t, t, 0, 0}},
			     QUOIT_EW_SCALAR, 5, 0);
	quoit_job job[2];
	int32_t x[2];

	if (quoit_write(q, t, (int32_t[]){1, 2}, 2 * sizeof(int32_t)) ||
	    quoit_start(q, add, &job[0]) ||
	    quoit_start(q,
			quoit_op_arg((struct quoit_sqe){.opcode = QUOIT_OP_NOP, .tensor = {t, 0}},
				     0, 0, 0),
			&job[1]) ||
	    quoit_wait_any(q, (quoit_job[]){job[0], job[1]}, 2, QUOIT_FOREVER) < 1 ||
	    quoit_wait_n(q, (quoit_job[]){job[0], job[1]}, 2, 2, QUOIT_FOREVER) != 2 ||
	    quoit_wait_all_of(q, (quoit_job[]){job[0], job[1]}, 2, QUOIT_FOREVER) != 2 ||
	    quoit_wait(q, ((quoit_job[]){job[1], job[0]})[0], QUOIT_FOREVER))
		return 1;
	return quoit_read(q, t, x, sizeof x) || x[0] != 6 || x[1] != 7 ||
	       quoit_with_scalars((struct quoit_sqe){.opcode = 1, .arg = 2}, 3, 4).scalar[1] != 4;
}
#else
static int braces(struct quoit_ring *q)
{
	return !q;
}
#endif

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
	    quoit_push(q, quoit_axpby_int(less, 2, less, 3, less)) ||
	    quoit_push(q, quoit_roll(b, a, -1, 1)) || quoit_read(q, b, x, sizeof x))
		return 1;
	return x[0] != 9 || braces(q) || quoit_wait_all(q, QUOIT_FOREVER);
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
