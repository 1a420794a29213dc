/* SPDX-License-Identifier: MIT */
/*
 * backend_device.h - what the reactor does for devices only: fill requests, free buffers, mark lost
 * memory.  backend_exec.c has what modules need, too.  Only the reactor calls these functions.
 */
#ifndef QUOITD_BACKEND_DEVICE_H
#define QUOITD_BACKEND_DEVICE_H

#include "session/owner.h"

/*
 * Broadcast an input to the output's shape.  Along each of the first `dims` dimensions where the
 * input has one element and the output more, the input gets the output's size and stride 0.
 */
void device_broadcast(uint32_t *dim, int32_t *stride, const uint32_t *out, unsigned dims);

/* Fill *q for a job.  A job that has failed only clears its new buffers in a slab. */
void device_fill_request(const struct session *s, const struct job *job,
			 struct quoit_exec_request *q);

/*
 * Tell the executor which of the session's buffers are free; jobs sent afterwards may get their
 * bytes.  False: the executor has no room now, and the caller must send nothing else.  *ret_any is
 * set to true if something was sent.
 */
bool device_send_drops(struct exec_port *p, struct session *s, bool *ret_any);

/* Free the buffers' entries without a request: no executor has anything of the session. */
void device_forget_drops(struct session *s, uint32_t device);

/* The session is dead: tell the device, once, to skip its jobs that have not begun. */
void device_cancel(struct exec_port *p, struct session *s);

/* Fill tensor i of the request with this view of the session. */
void device_fill_view(const struct session *s, uint32_t view, unsigned i,
		      struct quoit_exec_request *q);

/* Count one more job that ran on the device; the control thread may read the counter. */
void device_count_job(struct session *s, uint32_t device);

/* The driver did not register this many bytes of the session's memory; err is a positive errno. */
void device_say_refused(const struct exec_port *p, struct session *s, uint64_t bytes, int err);

/* The device's process has died: poison all buffers that it held, with `code`. */
void device_lose_memory(struct reactor *r, const struct exec_port *p, int32_t code);

/* Poison the buffers that one job was to clear in a slab: they have old contents. */
void device_lose_cleared(struct session *s, const struct job *job, int32_t code);

#endif
