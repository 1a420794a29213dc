/* SPDX-License-Identifier: MIT */
/* serve_call.c - the tensors of a service's call: inputs of the caller, outputs of our own */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "refusal.h"
#include "serve.h"
#include "team.h"

static bool is_given(const struct taken *k, unsigned i)
{
	return k->function->access[i] != '-' && k->entry.tensor[i].given;
}

static bool is_output(const struct taken *k, unsigned i)
{
	return is_given(k, i) && strchr("WwM", k->function->access[i]);
}

static bool is_read(const struct taken *k, unsigned i)
{
	return is_given(k, i) && strchr("RrM", k->function->access[i]);
}

/* ---- what the caller has ---- */

static int refuse_tensor(struct quoit_exec_call *c, unsigned i)
{
	snprintf(c->text, sizeof c->text,
		 "quoitd names a tensor %u that does not lie within the caller's memory", i);
	return -EFAULT;
}

/* quoitd has checked this, but a fault of its would make us read beyond the mapping. */
static int check_places(const struct taken *k, struct quoit_exec_call *c)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct quoit_call_tensor *t = &k->entry.tensor[i];

		if (is_given(k, i) && !libquoit_element_bytes(t->dtype))
			return refuse_tensor(c, i);
		if (is_read(k, i) && !libquoit_is_within(t, k->caller->bytes))
			return refuse_tensor(c, i);
	}
	return 0;
}

static int map_caller(struct quoit_team *t, const struct taken *k, struct quoit_exec_call *c)
{
	bool reads = false;
	int err;

	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		reads |= is_read(k, i);
	if (!reads)
		return 0;
	err = k->caller ? libquoit_caller_map(t, k->caller) : libquoit_text_refuse_memory();
	if (err)
		snprintf(c->text, sizeof c->text, "%s", quoit_open_text());
	return err;
}

/* ---- what the function writes ---- */

static uint64_t whole_lines(uint64_t bytes)
{
	return (bytes + QUOIT_LINE - 1) / QUOIT_LINE * QUOIT_LINE;
}

/* Where each output begins in the memory for results, and where the last one ends. */
struct layout {
	uint64_t at[QUOIT_MAX_TENSORS_PER_JOB];
	uint64_t end;
	bool any;
};

/* False: it cannot fit in any memory. */
static bool lay_out(const struct taken *k, struct layout *ret)
{
	*ret = (struct layout){0};
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		uint64_t bytes;

		if (!is_output(k, i))
			continue;
		if (!libquoit_dense_bytes(&k->entry.tensor[i], &bytes))
			return false;
		ret->any = true;
		ret->at[i] = ret->end;
		if (__builtin_add_overflow(ret->end, whole_lines(bytes), &ret->end))
			return false;
	}
	return true;
}

static int refuse_memory(struct quoit_exec_call *c, uint64_t bytes)
{
	c->field = QUOIT_FIELD_MEMORY;
	c->value[0] = bytes;
	snprintf(c->text, sizeof c->text,
		 "the process that serves has no %" PRIu64
		 " bytes left for the results (quoit_open_params.arena_bytes)",
		 bytes);
	return -ENOMEM;
}

static int take_results(struct quoit_team *t, const struct taken *k, struct quoit_exec_call *c,
			struct layout *ret_layout, struct results **ret)
{
	if (!lay_out(k, ret_layout))
		return refuse_memory(c, UINT64_MAX);
	if (!ret_layout->any)
		return 0;
	*ret = libquoit_results_take(t, ret_layout->end, true);
	if (!*ret)
		return refuse_memory(c, ret_layout->end);
	/* Another user's results may have been there, and a function may forget an element. */
	if (t->serve->mode)
		memset((*ret)->memory, 0, ret_layout->end);
	return 0;
}

/* ---- the call ---- */

static void set_dense(struct quoit_exec_tensor *t)
{
	uint64_t elements = 1;

	for (unsigned i = QUOIT_MAX_DIMS; i-- > 0; elements *= t->dim[i])
		t->stride[i] = (int32_t)elements;
}

/* Here only pointers are made: what is given lies within the memory. */
static void fill(const struct taken *k, const struct layout *layout, const struct results *results,
		 struct quoit_exec_call *c)
{
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++) {
		const struct quoit_call_tensor *from = &k->entry.tensor[i];
		struct quoit_exec_tensor *to = &c->tensor[i];

		*to = (struct quoit_exec_tensor){0};
		if (!is_given(k, i))
			continue;
		to->dtype = from->dtype;
		memcpy(to->dim, from->dim, sizeof to->dim);
		if (!is_output(k, i)) {
			memcpy(to->stride, from->stride, sizeof to->stride);
			/* functions get one type of tensor for inputs and outputs */
			to->data = (uint8_t *)(uintptr_t)k->caller->base + from->place;
			continue;
		}
		set_dense(to);
		to->data = results->memory + layout->at[i];
		if (is_read(k, i))
			libquoit_gather_dense(to->data, k->caller->base + from->place, from);
	}
}

int libquoit_serve_fill(struct quoit_team *t, const struct taken *k, struct quoit_exec_call *c,
			struct results **ret)
{
	struct layout layout;
	int err = map_caller(t, k, c);

	/* This call may have the number of an earlier one, whose results quoitd then has. */
	libquoit_results_reclaim(t);
	*ret = NULL;
	if (!err)
		err = check_places(k, c);
	if (!err)
		err = take_results(t, k, c, &layout, ret);
	if (!err)
		fill(k, &layout, *ret, c);
	return err;
}

void libquoit_serve_say(struct quoit_team *t, const struct quoit_exec_call *c,
			struct results **results)
{
	struct results *r = *results;

	if (r && (!*c->text || r->bytes < QUOIT_CALL_TEXT_BYTES)) {
		libquoit_results_drop(t, r);
		r = NULL;
	}
	if (!r && *c->text)
		r = libquoit_results_take(t, QUOIT_CALL_TEXT_BYTES, false);
	if (r) {
		memset(r->memory, 0, QUOIT_CALL_TEXT_BYTES);
		memcpy(r->memory, c->text, strnlen(c->text, QUOIT_CALL_TEXT_BYTES - 1));
	}
	*results = r;
}
