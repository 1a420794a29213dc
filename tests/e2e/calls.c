/* SPDX-License-Identifier: MIT */
/* calls.c - functions that a test's teams and services run as jobs */
#include "calls.h"

#include <unistd.h>

uint64_t calls_elements(const struct quoit_exec_tensor *t)
{
	return (uint64_t)t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3];
}

int32_t *calls_element(const struct quoit_exec_tensor *t, uint64_t i)
{
	int64_t at = 0;

	for (unsigned k = QUOIT_MAX_DIMS; k-- > 0; i /= t->dim[k])
		at += (int64_t)(i % t->dim[k]) * t->stride[k];
	return (int32_t *)t->data + at;
}

int calls_add_one(void *state, struct quoit_exec_call *c)
{
	(void)state;
	for (uint64_t i = 0; i < calls_elements(&c->tensor[0]); i++)
		++*calls_element(&c->tensor[0], i);
	return 0;
}

int calls_scale(void *state, struct quoit_exec_call *c)
{
	(void)state;
	for (uint64_t i = 0; i < calls_elements(&c->tensor[0]); i++)
		*calls_element(&c->tensor[0], i) =
			*calls_element(&c->tensor[1], i) * (int32_t)c->scalar[0].i + c->arg;
	return 0;
}

int calls_count(void *state, struct quoit_exec_call *c)
{
	int n = 0;

	(void)state;
	for (unsigned i = 0; i < QUOIT_MAX_TENSORS_PER_JOB; i++)
		n |= (c->tensor[i].data != NULL) << i;
	return n;
}

int calls_fill_piece(void *state, struct quoit_exec_call *c)
{
	const uint64_t n = calls_elements(&c->tensor[0]);

	(void)state;
	for (uint64_t i = n * c->piece / c->pieces; i < n * (c->piece + 1) / c->pieces; i++)
		*calls_element(&c->tensor[0], i) = c->pieces == 4 ? (int32_t)c->piece : -1;
	return c->scalar[0].u && c->piece >= c->scalar[0].u ? -(int)c->piece : (int)c->piece + 7;
}

uint32_t calls_pieces(void *state, const struct quoit_exec_call *c)
{
	(void)state;
	return c->scalar[1].u ? (uint32_t)c->scalar[1].u : 4;
}

/* ---- calls that wait until they are let go ---- */

void gate_pass(struct gate *gate)
{
	__atomic_add_fetch(&gate->inside, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&gate->open, __ATOMIC_SEQ_CST))
		usleep(1000);
}

void gate_await(const struct gate *gate, uint32_t inside)
{
	while (__atomic_load_n(&gate->inside, __ATOMIC_SEQ_CST) < inside)
		usleep(1000);
}

void gate_open(struct gate *gate)
{
	__atomic_store_n(&gate->open, 1, __ATOMIC_SEQ_CST);
}
