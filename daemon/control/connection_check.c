/* SPDX-License-Identifier: MIT */
/* connection_check.c - checks a client's message before anything is done about it */
#include "connection_private.h"

#include <errno.h>
#include <stddef.h>

static bool all_zero(const void *from, size_t size)
{
	const uint8_t *p = from;
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum |= p[i];
	return !sum;
}

/* How many bytes of the union a request uses. */
static size_t body_bytes(uint16_t type)
{
	struct quoit_ctl m;

	switch (type) {
	case QUOIT_CTL_HELLO:
		return sizeof m.hello;
	case QUOIT_CTL_RING_OPEN:
		return sizeof m.ring_open;
	case QUOIT_CTL_ARENA_MORE:
		return sizeof m.arena_more;
	case QUOIT_CTL_RING_CLOSE:
		return sizeof m.job.ring;
	case QUOIT_CTL_CANCEL:
		return sizeof m.job;
	case QUOIT_CTL_FILE_REMOVE:
		return sizeof m.file.index;
	case QUOIT_CTL_OP:
		return sizeof m.op.name;
	case QUOIT_CTL_DEVICE:
		return sizeof m.device.number;
	case QUOIT_CTL_IMAGE_ADD:
	case QUOIT_CTL_IMAGE_REMOVE:
	case QUOIT_CTL_KERNEL_ADD:
		return sizeof m.kernels.of;
	case QUOIT_CTL_FUNCTION_ADD:
		return offsetof(struct quoit_ctl, function.number) -
		       offsetof(struct quoit_ctl, function);
	case QUOIT_CTL_SERVE:
		return sizeof m.serve;
	case QUOIT_CTL_SERVICE:
		return offsetof(struct quoit_ctl, service.number) -
		       offsetof(struct quoit_ctl, service);
	case QUOIT_CTL_SERVICE_FUNCTION:
	case QUOIT_CTL_SERVICE_CLOSE:
		return offsetof(struct quoit_ctl, service_function.number) -
		       offsetof(struct quoit_ctl, service_function);
	case QUOIT_CTL_CALLER:
		return offsetof(struct quoit_ctl, caller.bytes) -
		       offsetof(struct quoit_ctl, caller);
	case QUOIT_CTL_SYNC:
		return offsetof(struct quoit_ctl, sync.number) - offsetof(struct quoit_ctl, sync);
	case QUOIT_CTL_TENSOR:
		return sizeof m.tensor;
	case QUOIT_CTL_TENSOR_MEMORY:
		return sizeof m.tensor_memory.number;
	case QUOIT_CTL_SERVICES:
		return sizeof m.services.service;
	case QUOIT_CTL_CALLERS:
		return sizeof m.services;
	case QUOIT_CTL_CLOSE:
		return sizeof m.end;
	case QUOIT_CTL_KILL:
		return sizeof m.end.session;
	case QUOIT_CTL_TRACE:
		return offsetof(struct quoit_ctl, trace.sessions) -
		       offsetof(struct quoit_ctl, trace);
	case QUOIT_CTL_USER:
		return sizeof m.user.uid;
	case QUOIT_CTL_SHARE:
		return sizeof m.user;
	case QUOIT_CTL_COUNTERS:
		return offsetof(struct quoit_ctl, counters.reserved) -
		       offsetof(struct quoit_ctl, counters);
	default:
		return 0;
	}
}

static bool is_well_formed(const struct quoit_ctl *m)
{
	size_t body = body_bytes(m->type);

	return m->magic == QUOIT_CTL_MAGIC && !m->flags && !m->result &&
	       all_zero(m->bytes + body, sizeof m->bytes - body) &&
	       all_zero(m->text, sizeof m->text);
}

static bool is_allowed(const struct connection *c, uint16_t type)
{
	switch (type) {
	case QUOIT_CTL_HELLO:
	case QUOIT_CTL_KILL:
	case QUOIT_CTL_TRACE:
	case QUOIT_CTL_USER:
	case QUOIT_CTL_SHARE:
		return c->state == CONNECTION_NEW;
	case QUOIT_CTL_SERVICES:
	case QUOIT_CTL_CALLERS:
		return c->state == CONNECTION_NEW || c->state == CONNECTION_OPEN;
	case QUOIT_CTL_COUNTERS:
		return c->state == CONNECTION_NEW || c->state == CONNECTION_RECORDS;
	case QUOIT_CTL_ARENA:
	case QUOIT_CTL_RING_OPEN:
	case QUOIT_CTL_READY:
	case QUOIT_CTL_ARENA_MORE:
	case QUOIT_CTL_RING_CLOSE:
	case QUOIT_CTL_CANCEL:
	case QUOIT_CTL_FILE_ADD:
	case QUOIT_CTL_FILE_REMOVE:
	case QUOIT_CTL_OP:
	case QUOIT_CTL_DEVICE:
	case QUOIT_CTL_IMAGE_ADD:
	case QUOIT_CTL_IMAGE_REMOVE:
	case QUOIT_CTL_KERNEL_ADD:
	case QUOIT_CTL_FUNCTION_ADD:
	case QUOIT_CTL_SERVE:
	case QUOIT_CTL_SERVICE:
	case QUOIT_CTL_SERVICE_FUNCTION:
	case QUOIT_CTL_SERVICE_CLOSE:
	case QUOIT_CTL_CALLER:
	case QUOIT_CTL_SYNC:
	case QUOIT_CTL_TENSOR:
	case QUOIT_CTL_TENSOR_MEMORY:
	case QUOIT_CTL_CLOSE:
		return c->state == CONNECTION_OPEN;
	default:
		return false;
	}
}

/* The requests that quoitd's own user may make, too: they touch no client's memory. */
static bool asks_of_users(uint16_t type)
{
	return type == QUOIT_CTL_USER || type == QUOIT_CTL_SHARE || type == QUOIT_CTL_SERVICES ||
	       type == QUOIT_CTL_CALLERS;
}

/* For RING_OPEN, the exact number is checked with the rest of the request. */
static bool has_its_fds(const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	bool has_one = m->type == QUOIT_CTL_FILE_ADD || m->type == QUOIT_CTL_IMAGE_ADD ||
		       m->type == QUOIT_CTL_KERNEL_ADD || m->type == QUOIT_CTL_ARENA ||
		       m->type == QUOIT_CTL_TENSOR;

	if (m->type == QUOIT_CTL_RING_OPEN)
		return fds->count <= QUOIT_MAX_RINGS;
	return fds->count + fds->lost == has_one;
}

/* Does its reply bring one? */
static bool brings_descriptor(uint16_t type)
{
	return type == QUOIT_CTL_COUNTERS || type == QUOIT_CTL_CALLER ||
	       type == QUOIT_CTL_TENSOR_MEMORY;
}

static void protocol_error(struct connection *c, const char *what)
{
	connection_end(c, QUOIT_DAEMON_KILL_PROTO, what);
}

bool connection_check(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds)
{
	if (!is_well_formed(m))
		protocol_error(c, "protocol error: a message has unknown bits set");
	else if (!is_allowed(c, m->type))
		protocol_error(c,
			       "protocol error: a message came in a state that does not allow it");
	else if (c->only_asks && !asks_of_users(m->type))
		connection_refuse(c, QUOIT_DAEMON_REFUSED_UID, -EACCES,
				  "this quoitd serves other users, not the one that it runs as");
	else if (c->pending)
		protocol_error(c,
			       "protocol error: a request came before the reply to the last one");
	else if (brings_descriptor(m->type) && !ctl_is_read(c->fd))
		/* each reply may bring a descriptor, and all that are unread are quoitd's */
		protocol_error(c, "protocol error: a request came before the last reply was read");
	else if (!has_its_fds(m, fds))
		protocol_error(c, "protocol error: a message has the wrong number of descriptors");
	else if (m->type == QUOIT_CTL_CLOSE &&
		 (m->end.session || m->end.reserved || m->end.flags & ~QUOIT_CLOSE_FLAGS))
		protocol_error(c, "protocol error: CLOSE has unknown flags or fields");
	else
		return true;
	return false;
}
