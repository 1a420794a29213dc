/* SPDX-License-Identifier: MIT */
/* unmade.c - remember why tensors were not made */
#include "unmade.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "library.h"
#include "slot.h"

uint32_t libquoit_unmade_refused(struct quoit_ring *q)
{
	snprintf(q->unmade.refusal, sizeof q->unmade.refusal, "%.*s",
		 (int)sizeof q->unmade.refusal - 1, q->refusal.text);
	return QUOIT_NO_TENSOR;
}

/* The handle that the error finds no tensor for; 0: the error is about something else. */
static uint32_t missing(const struct quoit_error *e)
{
	return e->code == -EBADF && e->field >= QUOIT_FIELD_TENSOR0 &&
			       e->field <= QUOIT_FIELD_TENSOR3
		       ? (uint32_t)e->value[0]
		       : 0;
}

static const struct quoit_error *find(const struct quoit_ring *q, uint32_t handle)
{
	for (uint32_t i = 0; handle && i < UNMADE_MOST; i++)
		if (q->unmade.failed[i].handle == handle)
			return &q->unmade.failed[i].error;
	return NULL;
}

/*
 * The handle that a CREATE or VIEW with this SQ index binds.  Its slot says so until it is used
 * again; 0: it was.
 */
static uint32_t bound(struct quoit_ring *q, uint64_t sq_index)
{
	const uint64_t *word = slot_words(q, (uint32_t)sq_index);

	return word[1] == sq_index ? (uint32_t)word[2] : 0;
}

void libquoit_unmade_failed(struct quoit_ring *q, const struct quoit_error *error)
{
	const struct quoit_error *first;
	uint32_t handle, at;

	if (q->raw || (error->opcode != QUOIT_OP_CREATE && error->opcode != QUOIT_OP_VIEW) ||
	    error->cause != error->user_data)
		return;
	handle = bound(q, error->user_data);
	if (!handle)
		return;
	first = find(q, missing(error)); /* a view of a tensor that was not made */
	at = q->unmade.count++ % UNMADE_MOST;
	q->unmade.failed[at].error = first ? *first : *error;
	q->unmade.failed[at].handle = handle;
}

bool libquoit_unmade_text(const struct quoit_ring *q, const struct quoit_error *e,
			  char ret[UNMADE_TEXT_BYTES])
{
	const struct quoit_error *error = find(q, missing(e));
	const unsigned tensor = e->field - QUOIT_FIELD_TENSOR0;
	char text[128];

	if (error)
		snprintf(ret, UNMADE_TEXT_BYTES, ": tensor %u was not made: %s", tensor,
			 quoit_strerror_record(error, text, sizeof text));
	else if (e->code == -EBADF && tensor < QUOIT_MAX_TENSORS_PER_JOB && !e->value[0] &&
		 *q->unmade.refusal)
		snprintf(ret, UNMADE_TEXT_BYTES, ": tensor %u was not made: %s", tensor,
			 q->unmade.refusal);
	else
		return false;
	return true;
}
