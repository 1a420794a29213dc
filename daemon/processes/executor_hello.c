/* SPDX-License-Identifier: MIT */
/* executor_hello.c - check what a new quoit-exec says of itself */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "executor_private.h"
#include "ops/optable.h"

#define MOST_COST  1000000000u         /* picoseconds per element that a module may claim */
#define MOST_BYTES (UINT64_C(1) << 50) /* that a device may claim */

static bool is_name(const char *name)
{
	size_t n = strnlen(name, QUOIT_EXEC_NAME_BYTES);

	return n && n < QUOIT_EXEC_NAME_BYTES &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static bool is_row(const struct quoit_exec_op_row *row)
{
	return is_name(row->name) && strnlen(row->access, sizeof row->access) == 4 &&
	       strspn(row->access, "WRMwr-") == 4 && !(row->flags & ~QUOIT_EXEC_FLAGS) &&
	       row->cost <= MOST_COST && optable_number(row->name) < 0;
}

/* Give its operations numbers; false: one is invalid, or no number is left. */
static bool add_operations(struct executor *x)
{
	for (uint32_t i = 0; i < x->hello.count; i++) {
		const struct quoit_exec_op_row *from = &x->hello.op[i];
		struct op_row row = {.name = from->name,
				     .shape = SHAPE_NONE,
				     .types = QUOIT_TYPES_N,
				     .flags = OP_MODULE,
				     .module = x->number,
				     .index = (uint8_t)i,
				     .cost = from->cost};

		if (!is_row(from)) {
			executor_log(x, LOG_LEVEL_ERROR,
				     "operation %u is invalid, or its name is taken", i);
			return false;
		}
		memcpy(row.access, from->access, sizeof row.access);
		if (from->flags & QUOIT_EXEC_RERUN)
			row.flags |= OP_RERUN;
		if (optable_add(&row, &x->opcode[i]) < 0) {
			executor_log(x, LOG_LEVEL_ERROR, "no operation number is left for %s",
				     from->name);
			return false;
		}
	}
	return true;
}

static bool is_text(const char *text, size_t size)
{
	size_t n = strnlen(text, size);

	for (size_t i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return n < size;
}

/* Can its description of the device be shown and counted with? */
static bool is_device(const struct quoit_exec_hello *h)
{
	const struct quoit_device_info *d = &h->device;

	return h->devices && h->devices <= UINT8_MAX && !h->count && d->bytes &&
	       d->bytes <= MOST_BYTES && is_text(d->name, sizeof d->name) &&
	       is_text(d->address, sizeof d->address) && is_text(d->driver, sizeof d->driver);
}

static bool same_operations(const struct quoit_exec_hello *a, const struct quoit_exec_hello *b)
{
	return a->count == b->count && !memcmp(a->op, b->op, a->count * sizeof a->op[0]);
}

int executor_accept_hello(struct executor *x, const struct quoit_exec_hello *hello)
{
	_Static_assert(sizeof x->note == sizeof hello->text, "");

	log_escape(x->note, sizeof x->note, hello->text, sizeof hello->text);
	if (hello->result < 0) {
		executor_say_refused(x, x->note);
		return hello->result;
	}
	if (x->device && !is_device(hello)) {
		executor_say_refused(x, "invalid hello message: impossible device");
		return -EPROTO;
	}
	if (x->known && !same_operations(&x->hello, hello)) {
		executor_say_refused(x, "its operations have changed: restart quoitd");
		return -ESTALE;
	}
	if (!x->known) {
		x->hello = *hello;
		x->known = x->device || add_operations(x);
		if (!x->known)
			return -EINVAL;
	}
	return 0;
}
