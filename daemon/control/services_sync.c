/* SPDX-License-Identifier: MIT */
/* services_sync.c - opens things with names, and makes all but tensors (services_tensor.c) */
#include "services_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/keyspace.h"
#include "session/message_queue.h"

#define FLAGS                                                                                      \
	(QUOIT_SYNC_MUST_EXIST | QUOIT_SYNC_MUST_BE_NEW | QUOIT_SYNC_RECURSIVE | QUOIT_SYNC_UNDO | \
	 QUOIT_SYNC_READ_ONLY | QUOIT_SYNC_OTHERS_READ)

/* The most parties of a barrier.  Each waits in a call of its own. */
#define PARTIES_MOST 65536u

/* Messages of a queue, and their bytes. */
#define MESSAGES_MOST 65536u
#define BYTES_MOST    (UINT64_C(1) << 40)

/* Keys of a keyspace, and their bytes.  A number of 32 bits counts cells of 256 bytes. */
#define KEYS_MOST      (UINT64_C(1) << 30)
#define KEY_BYTES_MOST (UINT64_C(1) << 39)

/* A size of 0 has been replaced by then (with_defaults). */
static bool is_queue_size(const struct quoit_ctl *m)
{
	return m->sync.value <= MESSAGES_MOST && m->sync.most <= BYTES_MOST &&
	       m->sync.most % QUOIT_LINE == 0;
}

static int check_values(const struct quoit_ctl *m, char *text, size_t size)
{
	const bool has_values = m->sync.value || m->sync.most;

	if (m->sync.kind == QUOIT_SYNC_BARRIER &&
	    (!m->sync.value || m->sync.value > PARTIES_MOST || m->sync.most))
		snprintf(text, size, "a barrier has 1 to %u parties, not %llu", PARTIES_MOST,
			 (unsigned long long)m->sync.value);
	else if (m->sync.kind == QUOIT_SYNC_SEMAPHORE && m->sync.most &&
		 m->sync.value > m->sync.most)
		snprintf(text, size, "a semaphore that may have %llu cannot have %llu at first",
			 (unsigned long long)m->sync.most, (unsigned long long)m->sync.value);
	else if (m->sync.kind == QUOIT_SYNC_QUEUE && !is_queue_size(m))
		snprintf(text, size,
			 "a queue of %llu messages, %llu bytes: up to %u, and up to 1 TiB by 64",
			 (unsigned long long)m->sync.value, (unsigned long long)m->sync.most,
			 MESSAGES_MOST);
	else if (m->sync.kind == QUOIT_SYNC_KEYSPACE &&
		 (m->sync.value > KEYS_MOST || m->sync.most > KEY_BYTES_MOST))
		snprintf(text, size,
			 "a keyspace of %llu keys, %llu bytes: up to %llu, and up to 512 GiB",
			 (unsigned long long)m->sync.value, (unsigned long long)m->sync.most,
			 (unsigned long long)KEYS_MOST);
	else if (has_values &&
		 (m->sync.kind < QUOIT_SYNC_SEMAPHORE || m->sync.kind == QUOIT_SYNC_TENSOR))
		snprintf(text, size, "a %s has no value", object_kind(m->sync.kind));
	else if (m->sync.flags & QUOIT_SYNC_RECURSIVE && m->sync.kind != QUOIT_SYNC_LOCK)
		snprintf(text, size, "only a lock can be recursive");
	else if (m->sync.flags & QUOIT_SYNC_UNDO && m->sync.kind != QUOIT_SYNC_SEMAPHORE)
		snprintf(text, size, "only what was taken from a semaphore can be undone");
	else if (m->sync.flags & QUOIT_SYNC_READ_ONLY && m->sync.kind != QUOIT_SYNC_TENSOR)
		snprintf(text, size, "only a tensor can be opened for reading only");
	else if (m->sync.flags & QUOIT_SYNC_OTHERS_READ && m->sync.kind != QUOIT_SYNC_KEYSPACE)
		snprintf(text, size, "only a keyspace can be made so that others may only read");
	else
		return 0;
	return -EINVAL;
}

static int check(const struct connection *c, const struct quoit_ctl *m, char *text, size_t size)
{
	const uint16_t both = QUOIT_SYNC_MUST_EXIST | QUOIT_SYNC_MUST_BE_NEW;

	if (services_check_name(m->sync.name, text, size) < 0)
		return -EINVAL;
	if (!m->sync.kind || m->sync.kind >= QUOIT_SYNC_NR)
		snprintf(text, size, "unknown kind %u", m->sync.kind);
	else if (m->sync.flags & ~FLAGS || (m->sync.flags & both) == both)
		snprintf(text, size,
			 "flags %#x: allowed are MUST_EXIST or MUST_BE_NEW, and what a %s has",
			 m->sync.flags, object_kind(m->sync.kind));
	else if (check_values(m, text, size) == 0)
		return services_check_mode(c, m->sync.mode, m->sync.gid, text, size);
	return -EINVAL;
}

static bool has_sizes(uint8_t kind)
{
	return kind == QUOIT_SYNC_QUEUE || kind == QUOIT_SYNC_KEYSPACE;
}

static int check_existing(const struct connection *c, const struct service *service,
			  const struct quoit_ctl *m, char *text, size_t size)
{
	const struct object *o = service->object;

	if (!services_may_call(c, service)) {
		snprintf(text, size, "uid %u has no '%s' that uid %u may open", service->uid,
			 service->name, c->uid);
		return -ENOENT;
	}
	if (!o || o->kind != m->sync.kind) {
		snprintf(text, size, "'%s' is a %s", service->name, object_kind(o ? o->kind : 0));
		return -EINVAL;
	}
	if (m->sync.flags & QUOIT_SYNC_MUST_BE_NEW) {
		snprintf(text, size, "there is a %s '%s' already", object_kind(o->kind),
			 service->name);
		return -EEXIST;
	}
	if ((m->sync.flags & QUOIT_SYNC_RECURSIVE && !o->recursive) ||
	    (m->sync.flags & QUOIT_SYNC_UNDO && !o->undoes)) {
		snprintf(text, size, "%s '%s' was made without flag %s", object_kind(o->kind),
			 service->name, o->kind == QUOIT_SYNC_LOCK ? "RECURSIVE" : "UNDO");
		return -EINVAL;
	}
	if (m->sync.flags & QUOIT_SYNC_OTHERS_READ && !o->keyspace->read_only) {
		snprintf(text, size, "keyspace '%s' was made without flag OTHERS_READ",
			 service->name);
		return -EINVAL;
	}
	if (has_sizes(o->kind)) /* one that is there keeps them */
		return 0;
	if (o->tensor)
		return services_check_tensor(c, service, m, text, size);
	if (m->sync.most && m->sync.most != o->most) {
		snprintf(text, size, "semaphore '%s' may have %llu", service->name,
			 (unsigned long long)o->most);
		return -EINVAL;
	}
	if (o->kind == QUOIT_SYNC_BARRIER && o->parties != m->sync.value) {
		snprintf(text, size, "barrier '%s' has %u parties", service->name, o->parties);
		return -EINVAL;
	}
	return 0;
}

static bool take_memory(struct object *o, const struct quoit_ctl *m)
{
	const uint32_t count = (uint32_t)m->sync.value;

	if (o->kind == QUOIT_SYNC_QUEUE)
		o->queue = message_queue_new(count, m->sync.most);
	else
		o->keyspace =
			keyspace_new(count, m->sync.most, m->sync.flags & QUOIT_SYNC_OTHERS_READ);
	return o->queue || o->keyspace;
}

static struct object *object_new(const struct quoit_ctl *m)
{
	struct object *o = calloc(1, sizeof *o);

	if (!o)
		return NULL;
	o->kind = (uint8_t)m->sync.kind;
	o->recursive = m->sync.flags & QUOIT_SYNC_RECURSIVE;
	o->undoes = m->sync.flags & QUOIT_SYNC_UNDO;
	if (has_sizes(o->kind)) {
		if (!take_memory(o, m)) {
			free(o);
			return NULL;
		}
	} else if (o->kind == QUOIT_SYNC_BARRIER) {
		o->parties = (uint32_t)m->sync.value;
	} else {
		o->count = m->sync.value;
		o->most = m->sync.most ? m->sync.most : UINT64_MAX;
	}
	return o;
}

static uint64_t cost_of(const struct quoit_ctl *m)
{
	uint64_t cost = sizeof(struct service) + sizeof(struct object);

	if (m->sync.kind == QUOIT_SYNC_QUEUE)
		cost += message_queue_cost((uint32_t)m->sync.value, m->sync.most);
	if (m->sync.kind == QUOIT_SYNC_KEYSPACE)
		cost += keyspace_cost((uint32_t)m->sync.value, m->sync.most);
	return cost;
}

static int make(struct connection *c, const struct quoit_ctl *m, struct service **ret, char *text,
		size_t size)
{
	const uint64_t cost = cost_of(m);
	struct control *control = c->control;
	uint64_t left;
	int err = services_check_count(control, c->uid, text, size);

	if (err)
		return err;
	if (services_charge(control, c->uid, cost, &left) < 0) {
		snprintf(text, size, "it needs %llu KiB of %llu left; close sessions",
			 (unsigned long long)cost >> 10, (unsigned long long)left >> 10);
		return -EDQUOT;
	}
	*ret = service_new(control, c->uid, m->sync.name, &control->reactors[c->reactor]);
	if (*ret)
		(*ret)->object = object_new(m);
	if (!*ret || !(*ret)->object) {
		services_return(control, c->uid, cost);
		if (*ret)
			service_look(*ret);
		snprintf(text, size, "quoitd has no memory for it");
		return -ENOMEM;
	}
	(*ret)->charged = cost;
	(*ret)->mode = m->sync.mode;
	(*ret)->gid = m->sync.gid;
	object_fill_functions(&(*ret)->functions);
	return 0;
}

static int find_or_make(struct connection *c, const struct quoit_ctl *m, struct service **ret,
			char *text, size_t size)
{
	uid_t uid = services_user(c, m->sync.uid);

	*ret = services_find(c->control, uid, m->sync.name);
	if (*ret)
		return check_existing(c, *ret, m, text, size);
	if (uid == c->uid && !(m->sync.flags & QUOIT_SYNC_MUST_EXIST) &&
	    m->sync.kind != QUOIT_SYNC_TENSOR)
		return make(c, m, ret, text, size);
	snprintf(text, size, "uid %u has no '%s' that uid %u may open", uid, m->sync.name, c->uid);
	return -ENOENT;
}

/* What a queue or a keyspace has room for, unless its maker says. */
#define MESSAGES UINT64_C(64)
#define KEYS     UINT64_C(1024)
#define BYTES    (UINT64_C(1) << 20)

static struct quoit_ctl with_defaults(const struct quoit_ctl *m)
{
	struct quoit_ctl full = *m;

	if (m->sync.kind < QUOIT_SYNC_NR && has_sizes((uint8_t)m->sync.kind)) {
		if (!m->sync.value)
			full.sync.value = m->sync.kind == QUOIT_SYNC_QUEUE ? MESSAGES : KEYS;
		full.sync.most = m->sync.most ? m->sync.most : BYTES;
	}
	return full;
}

void services_open_sync(struct connection *c, const struct quoit_ctl *asked)
{
	const struct quoit_ctl full = with_defaults(asked), *m = &full;
	char text[QUOIT_TEXT_BYTES];
	struct service *service = NULL;
	int err = check(c, m, text, sizeof text);

	if (!err)
		err = find_or_make(c, m, &service, text, sizeof text);
	if (err < 0) {
		connection_reply_result(c, m->type, m->seq, err, "%s", text);
		return;
	}
	services_attach(c, service, 0, m);
	service_look(service); /* if the session could not have it, nobody has */
}
