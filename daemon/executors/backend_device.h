/* SPDX-License-Identifier: MIT */
/*
 * backend_device.h - what a device's executor needs beyond a module's (backend_exec.c): its
 * requests, its memory, and what is lost with it.  All functions are the reactor's.
 */
#ifndef QUOITD_BACKEND_DEVICE_H
#define QUOITD_BACKEND_DEVICE_H

#include "reactor/reactor.h"

/*
 * The dims of an input as the operation sees them: along one of the first `dims` in which it has
 * one element and the output more, it repeats that.
 */
void device_broadcast(uint32_t *dim, int32_t *stride, const uint32_t *out, unsigned dims);

/*
 * The request for a job.  One that has failed is only to clear what is new to it in a slab.
 */
void device_fill_request(const struct session *s, const struct job *job,
			 struct quoit_exec_request *q);

/*
 * Tell the executor which of the session's buffers are free; jobs sent afterwards may get their
 * bytes.  False: it has no room for that now, and nothing else may be sent.  *ret_any: something
 * was sent.
 */
bool device_send_drops(struct exec_port *p, struct session *s, bool *ret_any);

/* The same where no executor has anything of the session: the entries are free. */
void device_forget_drops(struct session *s, uint32_t device);

/* The session is dead: what its device has not begun need not run.  Once is enough. */
void device_cancel(struct exec_port *p, struct session *s);

/* The request has this view, of this buffer, as tensor i. */
void device_fill_view(const struct session *s, uint32_t view, unsigned i,
		      struct quoit_exec_request *q);

/* One more job has run there; the control thread may look. */
void device_count_job(struct session *s, uint32_t device);

/* Its driver has refused to reach so many bytes of the session's memory, for that errno. */
void device_say_refused(const struct exec_port *p, struct session *s, uint64_t bytes, int err);

/* The device's process has died: its memory is lost, and whoever reads what was there is told. */
void device_lose_memory(struct reactor *r, const struct exec_port *p, int32_t code);

/* The same of the buffers that one job was to clear in a slab: they have old contents. */
void device_lose_cleared(struct session *s, const struct job *job, int32_t code);

#endif
