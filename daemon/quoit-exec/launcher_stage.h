/* SPDX-License-Identifier: MIT */
/* launcher_stage.h - copies from and to memory that the device does not reach */
#ifndef QUOIT_EXEC_LAUNCHER_STAGE_H
#define QUOIT_EXEC_LAUNCHER_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher_queue.h"

struct launcher;

/* Copies through a staging buffer, one at a time each way. */
#define STAGE_PARTS 4u
#define STAGE_BYTES (UINT64_C(256) << 10)

struct stage {
	struct queue queue; /* the first is under way */
	uint8_t *memory;    /* STAGE_PARTS times STAGE_BYTES */
	bool begun;
	bool unmarked;                /* the next part is in the stream, but not its mark */
	uint64_t sent, done;          /* bytes of the first copy */
	uint64_t number[STAGE_PARTS]; /* of the stream, when that part is done */
};

int stage_open(struct launcher *l);
void stage_close(struct launcher *l);

/* Queue a copy that has its stream, and whose memory on the host the device cannot reach. */
void stage_take(struct launcher *l, uint32_t index);

/* Go on with staged copies; true: something was done.  *ret_err: -EPROTO. */
bool stage_advance(struct launcher *l, int *ret_err);

#endif
