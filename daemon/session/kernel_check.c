/* SPDX-License-Identifier: MIT */
/* kernel_check.c - checks the description of a kernel */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

#define MOST_GRID_YZ 65535u

struct check {
	char *text;
	size_t size;
};

static int refuse(const struct check *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(const struct check *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->text, c->size, format, args);
	va_end(args);
	return -EINVAL;
}

/* ---- words ---- */

static int check_name(const struct quoit_kernel_desc *d, const struct check *c)
{
	size_t n = strnlen(d->name, sizeof d->name);

	if (!n || n == sizeof d->name)
		return refuse(c, "a kernel's name must have 1 to %zu characters",
			      sizeof d->name - 1);
	for (size_t i = 0; i < n; i++)
		if (d->name[i] <= ' ' || d->name[i] > '~')
			return refuse(c, "a kernel's name must be printable ASCII without blanks");
	for (size_t i = n; i < sizeof d->name; i++)
		if (d->name[i])
			return refuse(c, "a kernel's name must be filled up with zeros");
	return 0;
}

static int check_sizes(const struct quoit_kernel_desc *d, const struct check *c)
{
	uint64_t threads = 1;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t most = i ? MOST_GRID_YZ : QUOIT_MAX_KERNEL_GRID;

		if (!d->grid[i] || d->grid[i] > most)
			return refuse(c, "grid[%u] is %u: allowed are 1 to %u", i, d->grid[i],
				      most);
		if (!d->block[i] || d->block[i] > QUOIT_MAX_KERNEL_BLOCK)
			return refuse(c, "block[%u] is %u: allowed are 1 to %u", i, d->block[i],
				      QUOIT_MAX_KERNEL_BLOCK);
		threads *= d->block[i];
	}
	if (threads > QUOIT_MAX_KERNEL_BLOCK)
		return refuse(c, "a block has %llu threads: at most %u are allowed",
			      (unsigned long long)threads, QUOIT_MAX_KERNEL_BLOCK);
	if (d->shared_bytes > QUOIT_MAX_KERNEL_SHARED)
		return refuse(
			c, "the kernel asks for %u bytes of shared memory: at most %u are allowed",
			d->shared_bytes, QUOIT_MAX_KERNEL_SHARED);
	return 0;
}

static int check_access(const struct quoit_kernel_desc *d, const struct check *c)
{
	for (unsigned i = 0; i < sizeof d->access; i++) {
		bool letter = d->access[i] && strchr("WMR-", d->access[i]);

		if (i < QUOIT_MAX_TENSORS_PER_JOB ? !letter : d->access[i] != 0)
			return refuse(c, "access must be %u letters of W, M, R and -",
				      QUOIT_MAX_TENSORS_PER_JOB);
	}
	return 0;
}

/* ---- arguments ---- */

static bool is_zero(const struct quoit_kernel_arg *a)
{
	static const struct quoit_kernel_arg none;

	return !memcmp(a, &none, sizeof none);
}

static bool is_size(unsigned bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* Are all unused fields and bits zero? */
static bool is_tidy(const struct quoit_kernel_arg *a)
{
	uint8_t bits = 0;

	for (unsigned i = 0; i < sizeof a->reserved; i++)
		bits |= a->reserved[i];
	if (a->kind == QUOIT_ARG_CONSTANT)
		return !bits && !a->index && (a->bytes == 8 || !(a->value >> 8 * a->bytes));
	return !bits && !a->value;
}

static int check_arg(const struct quoit_kernel_desc *d, unsigned i, const struct check *c)
{
	const struct quoit_kernel_arg *a = &d->arg[i];

	if (a->kind < QUOIT_ARG_TENSOR || a->kind > QUOIT_ARG_CONSTANT)
		return refuse(c, "argument %u has the unknown kind %u", i, a->kind);
	if (a->kind == QUOIT_ARG_TENSOR ? a->bytes != 8 : !is_size(a->bytes))
		return refuse(c,
			      "argument %u has %u bytes: a tensor has 8; others have 1, 2, 4 or 8",
			      i, a->bytes);
	if (a->kind == QUOIT_ARG_TENSOR &&
	    (a->index >= QUOIT_MAX_TENSORS_PER_JOB || d->access[a->index] == '-'))
		return refuse(c, "argument %u names tensor %u, which the kernel does not have", i,
			      a->index);
	if (a->kind == QUOIT_ARG_SCALAR && a->index > 1)
		return refuse(c, "argument %u names scalar %u: allowed are 0 and 1", i, a->index);
	if (!is_tidy(a))
		return refuse(c, "argument %u has bits set that its kind and size do not have", i);
	return 0;
}

static int check_args(const struct quoit_kernel_desc *d, const struct check *c)
{
	int err = 0;

	if (d->args > QUOIT_MAX_KERNEL_ARGS)
		return refuse(c, "the kernel has %u arguments: at most %u are allowed", d->args,
			      QUOIT_MAX_KERNEL_ARGS);
	for (unsigned i = 0; !err && i < QUOIT_MAX_KERNEL_ARGS; i++) {
		if (i < d->args)
			err = check_arg(d, i, c);
		else if (!is_zero(&d->arg[i]))
			err = refuse(c,
				     "the kernel has %u arguments, but one after them is not zero",
				     d->args);
	}
	return err;
}

int kernel_check(const struct quoit_kernel_desc *d, char *text, size_t size)
{
	const struct check c = {text, size};
	int err = check_name(d, &c);

	if (!err)
		err = check_sizes(d, &c);
	if (!err)
		err = check_access(d, &c);
	return err ? err : check_args(d, &c);
}
