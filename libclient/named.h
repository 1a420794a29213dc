/* SPDX-License-Identifier: MIT */
/* named.h - tensors with names that a session has open, and their memory in this process */
#ifndef LIBQUOIT_NAMED_H
#define LIBQUOIT_NAMED_H

#include <stdbool.h>
#include <stdint.h>

#include <quoit/ctl.h>

#include "shared.h"

struct quoit_session;
struct quoit_shape;

/* By number in the session; session->list guards all of it. */
struct named {
	uint32_t opened; /* how often, less how often it was closed; 0: no tensor has the number */
	uint32_t uses;   /* functions that run with it, and keep it mapped */
	bool is_maker;   /* its memory is mapped for writing, too */
	uint8_t dtype;
	uint32_t dim[QUOIT_MAX_DIMS];
	struct shared memory; /* unless it is empty: mapped here */
};

/*
 * The memory of a tensor with a name, mapped for this access.  -EACCES: only its maker can write it;
 * -EBADF: it was closed; with a text for quoit_open_text.
 */
int libquoit_named_map(struct quoit_session *s, uint32_t number, bool writes, uint8_t **ret,
		       uint64_t *ret_bytes);

/* The same, and it stays mapped until it is given back, also if it is closed meanwhile. */
int libquoit_named_use(struct quoit_session *s, uint32_t number, bool writes, uint8_t **ret,
		       uint64_t *ret_bytes);
void libquoit_named_give_back(struct quoit_session *s, uint32_t number);

/* The session has opened one.  memory: its maker's, or NULL. */
void libquoit_named_note(struct quoit_session *s, const struct quoit_ctl *opened,
			 struct shared *memory);

/* It has closed whatever has this number. */
void libquoit_named_closed(struct quoit_session *s, uint32_t number);

/* Unmap all; not in a child of fork(), which has none. */
void libquoit_named_drop_all(struct quoit_session *s);

#endif
