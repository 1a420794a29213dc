/* SPDX-License-Identifier: MIT */
/* calls.h - functions that a test's teams and services run as jobs, on tensors of I32 */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include <stdint.h>

#include <quoit.h>

/* How many elements it has; the one with this number, row by row. */
uint64_t calls_elements(const struct quoit_exec_tensor *t);
int32_t *calls_element(const struct quoit_exec_tensor *t, uint64_t i);

/* With access "M---": adds 1 to each element. */
int calls_add_one(void *state, struct quoit_exec_call *c);

/* "WR--": out = x * scalar[0] + arg */
int calls_scale(void *state, struct quoit_exec_call *c);

/* "rrrr": says which tensors it was given, in bits of its result. */
int calls_count(void *state, struct quoit_exec_call *c);

/*
 * "W---": four pieces, or scalar[1].  Each writes its number into its part, or -1 if there are not
 * four; it returns its number and 7, or from piece scalar[0] on fails with its number, unless that
 * is 0.
 */
int calls_fill_piece(void *state, struct quoit_exec_call *c);
uint32_t calls_pieces(void *state, const struct quoit_exec_call *c);

/* ---- calls that wait until they are let go ---- */

struct gate {
	uint32_t inside, open;
};

/* For the function: come in, and wait until the gate is opened. */
void gate_pass(struct gate *gate);

/* For the test: wait until so many have come in; let them go. */
void gate_await(const struct gate *gate, uint32_t inside);
void gate_open(struct gate *gate);

#endif
