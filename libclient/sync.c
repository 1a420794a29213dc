/* SPDX-License-Identifier: MIT */
/* sync.c - opens and closes locks, flags, semaphores, barriers, queues and keyspaces */
#include <errno.h>
#include <string.h>

#include "control.h"
#include "library.h"
#include "mine.h"
#include "refusal.h"
#include "service.h"
#include "sync.h"

static int open_sync(struct quoit_session *s, enum quoit_sync_kind kind, const char *name,
		     const struct quoit_sync_params *params)
{
	static const struct quoit_sync_params defaults;
	const struct quoit_sync_params *p = params ? params : &defaults;
	struct quoit_ctl m = {.type = QUOIT_CTL_SYNC,
			      .sync = {.kind = (uint16_t)kind,
				       .flags = (uint16_t)p->flags,
				       .mode = p->mode,
				       .gid = p->gid,
				       .value = p->value,
				       .most = p->most}};
	struct service_name parts;
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	err = libquoit_service_parse(name, &parts);
	if (!err && (p->flags >> 16 || p->reserved))
		err = libquoit_text_refuse(-EINVAL, "flags %#x, reserved %u: see quoit_sync_params",
					   p->flags, p->reserved);
	if (err)
		return err;
	memcpy(m.sync.name, parts.name, sizeof m.sync.name);
	m.sync.uid = parts.uid;
	err = libquoit_control_ask(s, &m, -1);
	if (err)
		return err;
	if (m.sync.number >= QUOIT_MAX_SERVICES)
		return libquoit_text_refuse_reply();
	libquoit_sync_note(s, m.sync.number, kind, parts.name);
	return (int)((QUOIT_TEAM_SERVICE + m.sync.number) << 8);
}

int quoit_open_lock(struct quoit_session *s, const char *name,
		    const struct quoit_sync_params *params)
{
	return open_sync(s, QUOIT_SYNC_LOCK, name, params);
}

int quoit_open_flag(struct quoit_session *s, const char *name,
		    const struct quoit_sync_params *params)
{
	return open_sync(s, QUOIT_SYNC_FLAG, name, params);
}

int quoit_open_semaphore(struct quoit_session *s, const char *name,
			 const struct quoit_sync_params *params)
{
	return open_sync(s, QUOIT_SYNC_SEMAPHORE, name, params);
}

int quoit_open_barrier(struct quoit_session *s, const char *name,
		       const struct quoit_sync_params *params)
{
	return open_sync(s, QUOIT_SYNC_BARRIER, name, params);
}

int quoit_open_queue(struct quoit_session *s, const char *name,
		     const struct quoit_sync_params *params)
{
	return open_sync(s, QUOIT_SYNC_QUEUE, name, params);
}

int quoit_open_keyspace(struct quoit_session *s, const char *name,
			const struct quoit_sync_params *params)
{
	return open_sync(s, QUOIT_SYNC_KEYSPACE, name, params);
}

int quoit_close_sync(struct quoit_session *s, int number)
{
	struct quoit_ctl m = {.type = QUOIT_CTL_SERVICE_CLOSE};
	const uint32_t index = ((uint32_t)number >> 8) - QUOIT_TEAM_SERVICE;
	int err;

	if (!libquoit_is_mine(s->mine))
		return libquoit_text_refuse_child();
	if (number < 0 || number & 0xff || index >= QUOIT_MAX_SERVICES)
		return libquoit_text_refuse(-EINVAL,
					    "%d is not a number of quoit_open_lock and its "
					    "kin",
					    number);
	m.service_function.service = index;
	pthread_mutex_lock(&s->opening); /* named_open.c */
	err = libquoit_control_ask(s, &m, -1);
	if (!err)
		libquoit_named_closed(s, index);
	pthread_mutex_unlock(&s->opening);
	return err;
}
