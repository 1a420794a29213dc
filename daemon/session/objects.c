/* SPDX-License-Identifier: MIT */
/* objects.c - the functions of objects, as if a process served them */
#include "objects.h"

#include <string.h>

/* Most take a tensor, or none, and change nothing in it: what they are given orders them by the data. */
#define ACCESS "m---"

/* In the order of enum quoit_sync_op.  What is prompt is answered at once. */
static const struct {
	const char *name;
	enum quoit_sync_kind kind;
	bool is_prompt;
	const char *access; /* of one that moves bytes; of others NULL */
} ops[QUOIT_SYNC_OP_NR] = {
	[QUOIT_SYNC_LOCK_IT] = {"lock", QUOIT_SYNC_LOCK, false},
	[QUOIT_SYNC_UNLOCK] = {"unlock", QUOIT_SYNC_LOCK, true},
	[QUOIT_SYNC_WAIT_CONDITION] = {"wait_condition", QUOIT_SYNC_LOCK, false},
	[QUOIT_SYNC_NOTIFY] = {"notify", QUOIT_SYNC_LOCK, true},
	[QUOIT_SYNC_SET_FLAG] = {"set_flag", QUOIT_SYNC_FLAG, true},
	[QUOIT_SYNC_CLEAR_FLAG] = {"clear_flag", QUOIT_SYNC_FLAG, true},
	[QUOIT_SYNC_WAIT_FLAG] = {"wait_flag", QUOIT_SYNC_FLAG, false},
	[QUOIT_SYNC_TAKE] = {"take", QUOIT_SYNC_SEMAPHORE, false},
	[QUOIT_SYNC_GIVE] = {"give", QUOIT_SYNC_SEMAPHORE, true},
	[QUOIT_SYNC_ARRIVE] = {"arrive", QUOIT_SYNC_BARRIER, false},
	[QUOIT_SYNC_SEND] = {"send", QUOIT_SYNC_QUEUE, false, "Rm--"},
	[QUOIT_SYNC_SEND_ROWS] = {"send_rows", QUOIT_SYNC_QUEUE, false, "Rm--"},
	[QUOIT_SYNC_RECEIVE] = {"receive", QUOIT_SYNC_QUEUE, false, "W---"},
	[QUOIT_SYNC_RECEIVE_ROWS] = {"receive_rows", QUOIT_SYNC_QUEUE, false, "W---"},
	[QUOIT_SYNC_PEEK] = {"peek", QUOIT_SYNC_QUEUE, false, "W---"},
	[QUOIT_SYNC_PUT] = {"put", QUOIT_SYNC_KEYSPACE, true, "wRR-"},
	[QUOIT_SYNC_GET] = {"get", QUOIT_SYNC_KEYSPACE, true, "wRW-"},
	[QUOIT_SYNC_DELETE] = {"delete", QUOIT_SYNC_KEYSPACE, true, "wR--"},
	[QUOIT_SYNC_LIST] = {"list", QUOIT_SYNC_KEYSPACE, true, "wRWr"},
	[QUOIT_SYNC_WATCH] = {"watch", QUOIT_SYNC_KEYSPACE, false, "wR--"},
};

static enum op_shape shape_of(uint32_t op)
{
	if (ops[op].kind == QUOIT_SYNC_KEYSPACE)
		return SHAPE_KEYS;
	return ops[op].access ? SHAPE_MESSAGE : SHAPE_SYNC;
}

void object_fill_functions(struct service_functions *ret)
{
	for (uint32_t i = 0; i < QUOIT_SYNC_OP_NR; i++) {
		struct function *f = &ret->function[i];

		f->row = *optable_row(QUOIT_OP_CALL);
		f->row.shape = shape_of(i);
		if (!ops[i].access)
			f->row.types = QUOIT_TYPES_X; /* wherever it is, as that of a NOP */
		memcpy(f->row.access, ops[i].access ? ops[i].access : ACCESS,
		       QUOIT_MAX_TENSORS_PER_JOB);
		optable_read_access(&f->row);
		strcpy(f->name, ops[i].name);
	}
	atomic_store_explicit(&ret->count, QUOIT_SYNC_OP_NR, memory_order_release);
}

bool object_has_op(const struct object *o, uint8_t op)
{
	return ops[op].kind == o->kind;
}

bool object_is_prompt(uint8_t op)
{
	return ops[op].is_prompt;
}

const char *object_kind(enum quoit_sync_kind kind)
{
	static const char *const kinds[QUOIT_SYNC_NR] = QUOIT_SYNC_NAMES;

	return kinds[kind];
}
