/* SPDX-License-Identifier: MIT */
/* strerror.c - describe errors in words */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <quoit/ctl.h>

#include "library.h"
#include "refusal.h"
#include "service.h"
#include "sync.h"
#include "team.h"

static _Thread_local char open_text[QUOIT_TEXT_BYTES + 144];

static void text_set(const char *format, va_list args)
{
	vsnprintf(open_text, sizeof open_text, format, args);
}

void libquoit_text_set(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_set(format, args);
	va_end(args);
}

int libquoit_text_refuse(int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_set(format, args);
	va_end(args);
	return error;
}

const char *quoit_open_text(void)
{
	return open_text;
}

const char *quoit_strerror(int error)
{
	const char *name;

	if (error < 0)
		error = -error;
	switch (error) {
	case QUOIT_EPOISON:
		return "QUOIT_EPOISON";
	case QUOIT_EGPUFAULT:
		return "QUOIT_EGPUFAULT";
	case QUOIT_EDEVLOST:
		return "QUOIT_EDEVLOST";
	case QUOIT_EEXEC:
		return "QUOIT_EEXEC";
	}
	name = strerrorname_np(error);
	return name ? name : "unknown error";
}

static const char *op_name(uint8_t opcode)
{
	switch (opcode) {
#define QUOIT_OP(nr, NAME, name, family, access, shape, types, cost, flags, help)                  \
	case nr:                                                                                   \
		return #name;
#include <quoit/ops.def>
#undef QUOIT_OP
	}
	return "module operation";
}

/* ---- sentences ---- */

#define WHAT_BYTES (QUOIT_NAME_BYTES + 48)

/* The first cause's operation; of a call what it called, if that is known. */
static const char *what(const struct quoit_error *e, const char *called, char to[WHAT_BYTES])
{
	if (e->opcode != QUOIT_OP_CALL)
		return op_name(e->opcode);
	if (called)
		return called;
	if (e->team < QUOIT_TEAM_SERVICE)
		snprintf(to, WHAT_BYTES, "function %u of team %u", e->function, e->team);
	else
		snprintf(to, WHAT_BYTES, "function %u of service %u", e->function,
			 e->team - QUOIT_TEAM_SERVICE);
	return to;
}

/* No job failed to write there: a process has ended, and its device's memory with it. */
static bool is_lost_memory(const struct quoit_error *e)
{
	return e->field == QUOIT_FIELD_DEVICE && e->opcode == QUOIT_OP_NOP;
}

/* The job has read a tensor that another job failed to write. */
static bool is_of_another(const struct quoit_error *e)
{
	return e->cause != e->user_data || is_lost_memory(e);
}

static void describe_another(const struct quoit_error *e, const char *what, const char *field,
			     char *to, size_t size)
{
	if (is_lost_memory(e))
		snprintf(to, size,
			 "job %#" PRIx64 " reads a tensor that was lost on device %" PRIu64 ": %s",
			 e->user_data, e->value[0], quoit_strerror(e->code));
	else
		snprintf(to, size,
			 "job %#" PRIx64 " reads the output of %s (job %#" PRIx64
			 " of ring %u), which failed with %s%s",
			 e->user_data, what, e->cause, e->ring, quoit_strerror(e->code), field);
}

/*
 * called: what the first cause called, if it is a call; field: what libquoit_describe_field would say;
 * NULL: not known.
 */
static const char *describe(const struct quoit_error *e, bool of_another, const char *called,
			    const char *field, char *to, size_t size)
{
	char own[160], name[WHAT_BYTES];

	if (!field) {
		libquoit_describe_field(e, own, sizeof own);
		field = own;
	}
	if (of_another)
		describe_another(e, what(e, called, name), field, to, size);
	else
		snprintf(to, size, "%s (job %#" PRIx64 ") failed with %s%s", what(e, called, name),
			 e->user_data, quoit_strerror(e->code), field);
	return to;
}

const char *quoit_strerror_cqe(const struct quoit_cqe *cqe, const struct quoit_error *error,
			       char *buffer, size_t size)
{
	if (cqe->res < 0 && error && cqe->flags & QUOIT_CQE_ERROR)
		return describe(error, cqe->res == -QUOIT_EPOISON, NULL, NULL, buffer, size);
	if (cqe->res < 0)
		snprintf(buffer, size, "job %#" PRIx64 " failed with %s", cqe->user_data,
			 quoit_strerror(cqe->res));
	else
		snprintf(buffer, size, "success");
	return buffer;
}

const char *quoit_strerror_record(const struct quoit_error *error, char *buffer, size_t size)
{
	return describe(error, is_of_another(error), NULL, NULL, buffer, size);
}

/* What a failed call called; false: it is not known, or the job was no call. */
static bool find_called(struct quoit_ring *q, const struct quoit_error *e, char to[WHAT_BYTES])
{
	char name[QUOIT_NAME_BYTES];
	bool known = libquoit_team_function(q->session, e, name) ||
		     libquoit_service_function(q->session, e, name);

	if (known)
		snprintf(to, WHAT_BYTES, "function '%s'", name);
	return known || libquoit_sync_what(q->session, e, to, WHAT_BYTES);
}

/* What the function of a call said about its failure. */
static void add_words(struct quoit_ring *q, const struct quoit_error *e, char *to, size_t size)
{
	char words[QUOIT_CALL_TEXT_BYTES];
	size_t n;

	if (!size || (!libquoit_team_text(q->session, e, words) &&
		      !libquoit_service_text(q->session, e, words)))
		return;
	n = strlen(to);
	snprintf(to + n, size - n, ": %s", words);
}

const char *quoit_strerror_wait(struct quoit_ring *q, int error, char *buffer, size_t size)
{
	struct quoit_error record;

	/* A wait begins without a refusal, so this one came after the last wait. */
	if (error < 0 && q && error == q->refusal.error) {
		snprintf(buffer, size, "%s: %s", quoit_strerror(error), q->refusal.text);
		return buffer;
	}
	if (error < 0 && q && quoit_get_wait_error(q, &record)) {
		char called[WHAT_BYTES], why[UNMADE_TEXT_BYTES];
		bool known = find_called(q, &record, called);
		bool unmade = libquoit_unmade_text(q, &record, why);

		describe(&record, is_of_another(&record), known ? called : NULL,
			 unmade ? why : NULL, buffer, size);
		add_words(q, &record, buffer, size);
		return buffer;
	}
	snprintf(buffer, size, "%s", error < 0 ? quoit_strerror(error) : "success");
	return buffer;
}
