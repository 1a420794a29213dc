/* SPDX-License-Identifier: MIT */
/*
 * services_tensor.c - makes tensors with names, of memory that their makers bring
 *
 *	TENSOR ──charged──► mapped ──READY──► checked ──► it has its name
 *
 * Until then nobody else knows of it, so that nobody waits for a client that never gets ready.
 */
#include "services_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "connection_memory.h"
#include "machine/features.h"
#include "session/named_tensor.h"

/* ---- TENSOR ---- */

static int check_shape(const struct quoit_ctl *m, char *text, size_t size)
{
	const uint32_t *dim = m->tensor.dim;

	if (named_tensor_bytes(dim, m->tensor.dtype))
		return 0;
	snprintf(text, size,
		 "a tensor of type %u, dims %u, %u, %u, %u: a type below %u, no dim 0, and below "
		 "2^44 bytes",
		 m->tensor.dtype, dim[0], dim[1], dim[2], dim[3], QUOIT_DTYPE_NR);
	return -EINVAL;
}

static int check(struct connection *c, const struct quoit_ctl *m, const struct ctl_fds *fds,
		 char *text, size_t size)
{
	if (services_check_name(m->tensor.name, text, size) < 0)
		return -EINVAL;
	if (m->tensor.flags & ~QUOIT_SYNC_OTHERS_READ || m->tensor.reserved) {
		snprintf(text, size, "flags %#x, reserved %u: allowed is OTHERS_READ",
			 m->tensor.flags, m->tensor.reserved);
		return -EINVAL;
	}
	if (check_shape(m, text, size) < 0)
		return -EINVAL;
	if (!c->session->arena || c->rings_waiting || c->making.charged) {
		snprintf(text, size, "TENSOR was sent too early: send ARENA and READY first");
		return -EINVAL;
	}
	if (fds->lost) {
		snprintf(text, size, "quoitd has no file descriptor left");
		return -EMFILE;
	}
	if (c->control->features->missing[FEATURE_SEAL]) {
		snprintf(text, size, "this kernel cannot seal its memory: Linux 5.1 can");
		return -ENOTSUP;
	}
	return services_check_mode(c, m->tensor.mode, m->tensor.gid, text, size);
}

/* Both when it is asked for and when its memory is ready: two may make one at the same time. */
static int check_free(const struct connection *c, const struct quoit_ctl *m, char *text,
		      size_t size)
{
	const struct service *there = services_find(c->control, c->uid, m->tensor.name);

	if (!there)
		return services_check_count(c->control, c->uid, text, size);
	snprintf(text, size, "there is a %s '%s' already",
		 object_kind(there->object ? there->object->kind : 0), there->name);
	return -EEXIST;
}

static int charge(struct connection *c, const struct quoit_ctl *m, char *text, size_t size)
{
	const uint64_t bytes = named_tensor_bytes(m->tensor.dim, m->tensor.dtype);
	const uint64_t cost =
		sizeof(struct service) + sizeof(struct object) + named_tensor_cost(bytes);
	uint64_t left;

	if (services_charge(c->control, c->uid, cost, &left) < 0) {
		snprintf(text, size, "it needs %llu KiB of %llu left; close sessions",
			 (unsigned long long)cost >> 10, (unsigned long long)left >> 10);
		return -EDQUOT;
	}
	c->making.charged = cost;
	c->making.asked = *m;
	return 0;
}

void services_make_tensor(struct connection *c, const struct quoit_ctl *m,
			  const struct ctl_fds *fds)
{
	char text[QUOIT_TEXT_BYTES];
	int err = check(c, m, fds, text, sizeof text);

	if (!err)
		err = check_free(c, m, text, sizeof text);
	if (!err)
		err = charge(c, m, text, sizeof text);
	if (err < 0) {
		connection_drop_fds(c, fds);
		connection_reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	connection_map(c, m, fds,
		       named_tensor_pages(named_tensor_bytes(m->tensor.dim, m->tensor.dtype)));
}

void services_drop_tensor(struct connection *c)
{
	if (!c->making.charged)
		return;
	blocking_drop(&c->blocking, &c->making.memory);
	services_return(c->control, c->uid, c->making.charged);
	c->making.charged = 0;
}

/* ---- READY ---- */

static struct object *object_new(struct tensor_making *made)
{
	const struct quoit_ctl *m = &made->asked;
	struct object *o = calloc(1, sizeof *o);

	if (!o)
		return NULL;
	o->kind = QUOIT_SYNC_TENSOR;
	o->tensor = named_tensor_new(&made->memory, m->tensor.dim, (uint8_t)m->tensor.dtype);
	if (!o->tensor) {
		free(o);
		return NULL;
	}
	o->tensor->others_read = m->tensor.flags & QUOIT_SYNC_OTHERS_READ;
	o->shown_value = o->tensor->bytes;
	return o;
}

/* What was charged is the service's from now on. */
static int make(struct connection *c, struct service **ret)
{
	const struct quoit_ctl *m = &c->making.asked;
	struct service *service =
		service_new(c->control, c->uid, m->tensor.name, &c->control->reactors[c->reactor]);

	if (!service)
		return -ENOMEM;
	service->object = object_new(&c->making);
	if (!service->object) {
		service_look(service);
		return -ENOMEM;
	}
	service->charged = c->making.charged;
	c->making.charged = 0;
	service->mode = m->tensor.mode;
	service->gid = m->tensor.gid;
	object_fill_functions(&service->functions);
	*ret = service;
	return 0;
}

void services_name_tensor(struct connection *c)
{
	const struct quoit_ctl ready = {.type = QUOIT_CTL_READY, .seq = c->pending_seq};
	char text[QUOIT_TEXT_BYTES] = "quoitd has no memory for it";
	struct service *service = NULL;
	int err = check_free(c, &c->making.asked, text, sizeof text);

	c->pending = 0;
	if (!err)
		err = make(c, &service);
	if (err < 0) {
		services_drop_tensor(c);
		connection_reply_result(c, ready.type, ready.seq, err, "%s", text);
		return;
	}
	services_attach(c, service, 0, &ready);
	service_look(service);
}

/* ---- those that open it ---- */

int services_check_tensor(const struct connection *c, const struct service *service,
			  const struct quoit_ctl *m, char *text, size_t size)
{
	const struct caller *same = services_same(c, service);
	const struct named_tensor *t = service->object->tensor;

	if (m->sync.flags & QUOIT_SYNC_READ_ONLY)
		return 0;
	if (t->others_read && c->uid != service->uid && c->uid != 0)
		snprintf(text, size,
			 "'%s' is for reading only, for uid %u: open it with QUOIT_SYNC_READ_ONLY",
			 service->name, c->uid);
	else if (same && same->read_only)
		snprintf(text, size, "the session has '%s' open for reading only: close it first",
			 service->name);
	else
		return 0;
	return -EACCES;
}

void services_give_tensor(struct connection *c, const struct quoit_ctl *m)
{
	struct quoit_ctl answer = {.type = m->type, .seq = m->seq};
	const struct caller *caller = services_caller(c, m->tensor_memory.number);
	const struct object *o = caller ? caller->service->object : NULL;

	if (!o || !o->tensor) {
		connection_reply_result(c, m->type, m->seq, -EBADF,
					"the session has no tensor with a name of number %u",
					m->tensor_memory.number);
		return;
	}
	if (named_tensor_is_lost(o->tensor)) {
		connection_reply_result(c, m->type, m->seq, -EFAULT,
					"the memory of '%s' was lost: close it, and make it anew",
					caller->service->name);
		return;
	}
	answer.tensor_memory.number = m->tensor_memory.number;
	answer.tensor_memory.bytes = o->tensor->memory.bytes;
	connection_reply(c, &answer, &o->tensor->memory.fd, 1);
}
