/* SPDX-License-Identifier: MIT */
/*
 * unmade.h - why tensors of a ring were not made.
 *
 * A program seldom looks at each tensor that it creates, so what it hears of first is a job or call
 * that uses the tensor.  Its sentence then has the reason from here.
 */
#ifndef LIBQUOIT_UNMADE_H
#define LIBQUOIT_UNMADE_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/abi.h>

struct quoit_ring;

#define UNMADE_MOST       8u /* the last so many that quoitd refused */
#define UNMADE_TEXT_BYTES 192

struct unmade {
	char refusal[160]; /* why the library itself last made none; "": it has made all */
	struct {
		uint32_t handle; /* 0: an empty entry */
		struct quoit_error error;
	} failed[UNMADE_MOST];
	uint32_t count;
};

/* The library has just refused to make a tensor (libquoit_refuse).  Returns QUOIT_NO_TENSOR. */
__attribute__((cold)) uint32_t libquoit_unmade_refused(struct quoit_ring *q);

/* A job of this ring has failed: note it if it was a CREATE or VIEW. */
__attribute__((cold)) void libquoit_unmade_failed(struct quoit_ring *q,
						  const struct quoit_error *error);

/*
 * The error is about a tensor that was not made: write why, as ": tensor 1 was not made: ...".
 * False: it is not, or the reason is not known any more.
 */
bool libquoit_unmade_text(const struct quoit_ring *q, const struct quoit_error *e,
			  char ret[UNMADE_TEXT_BYTES]);

#endif
