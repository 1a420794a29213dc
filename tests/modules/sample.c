/* SPDX-License-Identifier: MIT */
/* sample.c - a module of three operations, for tests and as an example */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <quoit/exec.h>

static int refuse(struct quoit_exec_call *c, unsigned tensor, uint64_t found, uint64_t allowed)
{
	c->field = (uint8_t)(QUOIT_FIELD_TENSOR0 + tensor);
	c->value[0] = found;
	c->value[1] = allowed;
	return -EINVAL;
}

/* All given tensors are float32 with the dims of the first. */
static int check_alike(struct quoit_exec_call *c)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct quoit_exec_tensor *t = &c->tensor[i];

		if (!t->data)
			continue;
		if (t->dtype != QUOIT_F32)
			return refuse(c, i, t->dtype, QUOIT_F32);
		for (unsigned d = 0; d < QUOIT_MAX_DIMS; d++)
			if (t->dim[d] != c->tensor[0].dim[d])
				return refuse(c, i, t->dim[d], c->tensor[0].dim[d]);
	}
	return 0;
}

static float *at(const struct quoit_exec_tensor *t, uint32_t i, uint32_t j, uint32_t k, uint32_t l)
{
	return (float *)t->data + (int64_t)i * t->stride[0] + (int64_t)j * t->stride[1] +
	       (int64_t)k * t->stride[2] + (int64_t)l * t->stride[3];
}

/* out = scalar[0] * x + y */
static int axpy(void *state, struct quoit_exec_call *c)
{
	const struct quoit_exec_tensor *out = &c->tensor[0], *x = &c->tensor[1], *y = &c->tensor[2];
	float a = (float)c->scalar[0].f;
	int err = check_alike(c);

	(void)state;
	if (err)
		return err;
	for (uint32_t i = 0; i < out->dim[0]; i++)
		for (uint32_t j = 0; j < out->dim[1]; j++)
			for (uint32_t k = 0; k < out->dim[2]; k++)
				for (uint32_t l = 0; l < out->dim[3]; l++)
					*at(out, i, j, k, l) =
						a * *at(x, i, j, k, l) + *at(y, i, j, k, l);
	return 0;
}

/* out[l] = (x[l - 1] + 2 x[l] + x[l + 1]) / 4 in the last dim; the ends stay unchanged */
static int smooth(void *state, struct quoit_exec_call *c)
{
	const struct quoit_exec_tensor *out = &c->tensor[0], *x = &c->tensor[1];
	uint32_t n = out->dim[3];
	int err = check_alike(c);

	(void)state;
	if (!err && out->dim[0] * out->dim[1] * out->dim[2] != 1)
		err = refuse(c, 0, out->dim[2], 1);
	if (err)
		return err;
	for (uint32_t l = 0; l < n; l++)
		*at(out, 0, 0, 0, l) = l == 0 || l == n - 1
					       ? *at(x, 0, 0, 0, l)
					       : 0.25f * *at(x, 0, 0, 0, l - 1) +
							 0.5f * *at(x, 0, 0, 0, l) +
							 0.25f * *at(x, 0, 0, 0, l + 1);
	return 0;
}

static void nap(int64_t milliseconds)
{
	struct timespec t = {.tv_sec = milliseconds / 1000,
			     .tv_nsec = milliseconds % 1000 * 1000000};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* Allocate until this process has no memory left. */
static void leak(void)
{
	const size_t size = 1 << 20;

	for (void *p; (p = malloc(size)) != NULL;)
		memset(p, 1, size);
}

/* Sleep scalar[0] milliseconds, then do what arg says; out (if given) becomes scalar[0]. */
static int misbehave(void *state, struct quoit_exec_call *c)
{
	struct quoit_exec_tensor *out = &c->tensor[0];

	(void)state;
	nap(c->scalar[0].i);
	switch (c->arg) {
	case 0:
		break;
	case 1: /* crash */
		(void)signal(SIGSEGV, SIG_DFL);
		(void)raise(SIGSEGV);
		break;
	case 2: /* exit */
		_exit(7);
	case 3: /* loop */
		for (;;)
			nap(1000);
	case 4: /* close every descriptor, also the sockets to quoitd, and stay */
		for (int fd = 3; fd < 256; fd++)
			(void)close(fd);
		for (;;)
			nap(1000);
	case 5: /* leak for ever */
		leak();
		break;
	default:
		c->field = QUOIT_FIELD_ARG;
		c->value[0] = c->arg;
		c->value[1] = 5;
		return -EINVAL;
	}
	if (out->data && out->dtype == QUOIT_F32 && out->dim[3] == 1)
		*(float *)out->data = (float)c->scalar[0].i;
	return 0;
}

/* QUOIT_SAMPLE_INIT: a test makes the module refuse to start, or die in its start. */
static int init(void **ret_state)
{
	const char *how = getenv("QUOIT_SAMPLE_INIT");

	*ret_state = NULL;
	if (how && !strcmp(how, "die"))
		_exit(3);
	return how ? -ENODEV : 0;
}

static const struct quoit_exec_op ops[] = {
	{.name = "sample_axpy",
	 .access = "WRR-",
	 .flags = QUOIT_EXEC_RERUN,
	 .cost = 500,
	 .run = axpy},
	{.name = "sample_smooth",
	 .access = "WR--",
	 .flags = QUOIT_EXEC_RERUN,
	 .cost = 700,
	 .run = smooth},
	{.name = "sample_sleep", .access = "w---", .run = misbehave},
};

const struct quoit_exec_module quoit_exec_module = {
	.version = QUOIT_EXEC_VERSION,
	.count = sizeof ops / sizeof ops[0],
	.ops = ops,
	.init = init,
};
