/* SPDX-License-Identifier: MIT */
/* named_open.c - opens tensors with names, and makes their memory */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "library.h"
#include "mine.h"
#include "named.h"
#include "refusal.h"
#include "service.h"

#define FLAGS                                                                                      \
	(QUOIT_SYNC_MUST_EXIST | QUOIT_SYNC_MUST_BE_NEW | QUOIT_SYNC_READ_ONLY |                   \
	 QUOIT_SYNC_OTHERS_READ)

/* While others make and close one of this name all the time, only so often. */
#define TRIES 100u

/* What is asked for. */
struct wish {
	struct quoit_session *s;
	struct service_name name;
	const struct quoit_shape *shape; /* NULL: any */
	const struct quoit_sync_params *params;
};

static int check(const struct wish *w)
{
	const struct quoit_sync_params *p = w->params;
	const struct quoit_shape *shape = w->shape;
	const uint32_t both = QUOIT_SYNC_MUST_EXIST | QUOIT_SYNC_MUST_BE_NEW;

	if (p->flags & ~FLAGS || (p->flags & both) == both || p->reserved || p->value || p->most)
		return libquoit_text_refuse(
			-EINVAL,
			"flags %#x, reserved %u, value %llu, most %llu: allowed are flags of "
			"quoit_open_tensor, and 0",
			p->flags, p->reserved, (unsigned long long)p->value,
			(unsigned long long)p->most);
	for (unsigned i = 0; shape && i < QUOIT_MAX_DIMS; i++)
		if (!shape->dim[i] || shape->stride[i])
			return libquoit_text_refuse(
				-EINVAL,
				"dim %u is %u, stride %d: a tensor with a name has no dim of 0 "
				"(dims that are not used are 1) and no strides",
				i, shape->dim[i], shape->stride[i]);
	return 0;
}

/* ---- one that is there ---- */

static int check_same(const struct wish *w, const struct quoit_ctl *m)
{
	const uint32_t *d = m->sync.dim;

	if (!w->shape ||
	    (w->shape->dtype == m->sync.dtype && !memcmp(w->shape->dim, d, sizeof w->shape->dim)))
		return 0;
	return libquoit_text_refuse(-EINVAL,
				    "tensor '%s' has type %u and dims %u, %u, %u, %u: another one "
				    "was asked for",
				    w->name.name, m->sync.dtype, d[0], d[1], d[2], d[3]);
}

/* Tell quoitd that it has failed here; the text says why, whatever quoitd answers. */
static void tell_failure(const struct wish *w, struct quoit_ctl *m)
{
	char why[256];

	snprintf(why, sizeof why, "%s", quoit_open_text());
	(void)libquoit_control_ask(w->s, m, -1);
	libquoit_text_set("%s", why);
}

static void let_go(const struct wish *w, uint32_t number)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE_CLOSE, .service_function.service = number};

	tell_failure(w, &m);
}

static int open_existing(const struct wish *w, struct quoit_ctl *m)
{
	int err;

	*m = (struct quoit_ctl){
		.type = QUOIT_CTL_SYNC,
		.sync = {.uid = w->name.uid,
			 .kind = QUOIT_SYNC_TENSOR,
			 .flags = (uint16_t)(QUOIT_SYNC_MUST_EXIST |
					     (w->params->flags & QUOIT_SYNC_READ_ONLY))}};
	memcpy(m->sync.name, w->name.name, sizeof m->sync.name);
	err = libquoit_control_ask(w->s, m, -1);
	if (err)
		return err;
	if (m->sync.number >= QUOIT_MAX_SERVICES)
		return libquoit_text_refuse_reply();
	err = check_same(w, m);
	if (err)
		let_go(w, m->sync.number);
	return err;
}

/* ---- a new one ---- */

static uint64_t whole_pages(const struct quoit_shape *shape)
{
	uint64_t bytes = libquoit_element_bytes((uint8_t)shape->dtype);

	for (unsigned i = 0; i < QUOIT_MAX_DIMS; i++)
		if (__builtin_mul_overflow(bytes, shape->dim[i], &bytes) || bytes >> 48)
			return 0;
	return libquoit_whole_pages(bytes);
}

/* Fill it with pages, and say so; if there are none, quoitd must hear of it, too. */
static int get_ready(const struct wish *w, struct shared *memory, uint32_t seals,
		     struct quoit_ctl *m)
{
	int err = libquoit_shared_fill(memory, memory->bytes, seals);

	*m = (struct quoit_ctl){.type = QUOIT_CTL_READY};
	if (err) {
		tell_failure(w, m);
		return err;
	}
	err = libquoit_control_ask(w->s, m, -1);
	return !err && m->sync.number >= QUOIT_MAX_SERVICES ? libquoit_text_refuse_reply() : err;
}

static int make_with(const struct wish *w, struct shared *memory, struct quoit_ctl *m)
{
	struct quoit_ctl make = {
		.type = QUOIT_CTL_TENSOR,
		.tensor = {.dtype = (uint16_t)w->shape->dtype,
			   .flags = (uint16_t)(w->params->flags & QUOIT_SYNC_OTHERS_READ),
			   .mode = w->params->mode,
			   .gid = w->params->gid}};
	int err;

	memcpy(make.tensor.name, w->name.name, sizeof make.tensor.name);
	memcpy(make.tensor.dim, w->shape->dim, sizeof make.tensor.dim);
	err = libquoit_control_ask(w->s, &make, memory->fd);
	return err ? err : get_ready(w, memory, make.ring_reply.seals, m);
}

static int make(const struct wish *w, struct quoit_ctl *m, struct shared *ret)
{
	const uint64_t bytes = whole_pages(w->shape);
	int err;

	if (!bytes)
		return libquoit_text_refuse(-EINVAL,
					    "type %u, dims %u, %u, %u, %u: no type, or "
					    "more bytes than any session has",
					    w->shape->dtype, w->shape->dim[0], w->shape->dim[1],
					    w->shape->dim[2], w->shape->dim[3]);
	err = libquoit_shared_make(ret, "quoit-tensor", bytes);
	if (!err)
		err = make_with(w, ret, m);
	if (err)
		libquoit_shared_drop(ret);
	return err;
}

static bool may_make(const struct wish *w)
{
	return w->shape && !(w->params->flags & (QUOIT_SYNC_MUST_EXIST | QUOIT_SYNC_READ_ONLY)) &&
	       (w->name.uid == QUOIT_SERVICE_OWN || w->name.uid == geteuid());
}

/* Either step may come too late: another process opens and closes it, too. */
static int open_or_make(const struct wish *w, struct quoit_ctl *m, struct shared *memory)
{
	const bool is_new = w->params->flags & QUOIT_SYNC_MUST_BE_NEW;
	int err = -EAGAIN;

	for (unsigned i = 0; i < TRIES; i++) {
		if (!is_new) {
			err = open_existing(w, m);
			if (err != -ENOENT || !may_make(w))
				return err;
		}
		err = make(w, m, memory);
		if (err != -EEXIST || is_new)
			return err;
	}
	return err;
}

/* Another thread that closes it, or closes what has had its number, comes before or after this. */
static int open_and_note(const struct wish *w)
{
	struct shared memory = {.fd = -1};
	struct quoit_ctl m = {0};
	int err;

	pthread_mutex_lock(&w->s->opening);
	err = open_or_make(w, &m, &memory);
	if (!err) {
		libquoit_sync_note(w->s, m.sync.number, QUOIT_SYNC_TENSOR, w->name.name);
		libquoit_named_note(w->s, &m, memory.base ? &memory : NULL);
	}
	pthread_mutex_unlock(&w->s->opening);
	return err ? err : (int)((QUOIT_TEAM_SERVICE + m.sync.number) << 8);
}

int quoit_open_tensor(struct quoit_session *s, const char *name, const struct quoit_shape *shape,
		      const struct quoit_sync_params *params)
{
	static const struct quoit_sync_params defaults;
	struct wish w = {.s = s, .shape = shape, .params = params ? params : &defaults};
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	err = libquoit_service_parse(name, &w.name);
	if (!err)
		err = check(&w);
	if (!err && w.params->flags & QUOIT_SYNC_MUST_BE_NEW && !may_make(&w))
		err = libquoit_text_refuse(-EINVAL, "a new tensor needs a shape, a name of its own "
						    "user, and is not for reading only");
	return err ? err : open_and_note(&w);
}
