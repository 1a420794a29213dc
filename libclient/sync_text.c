/* SPDX-License-Identifier: MIT */
/* sync_text.c - what a failed call of a lock or its kin was */
#include <stdio.h>
#include <string.h>

#include "library.h"
#include "sync.h"

void libquoit_sync_note(struct quoit_session *s, uint32_t number, enum quoit_sync_kind kind,
			const char *name)
{
	struct sync_name *to = &s->sync[number];

	pthread_mutex_lock(&s->list);
	__atomic_store_n(&to->kind, kind, __ATOMIC_RELAXED); /* libquoit_team_check_call reads it */
	snprintf(to->name, sizeof to->name, "%s", name);
	pthread_mutex_unlock(&s->list);
}

bool libquoit_sync_what(struct quoit_session *s, const struct quoit_error *e, char *to, size_t size)
{
	static const char *const kinds[QUOIT_SYNC_NR] = QUOIT_SYNC_NAMES;
	static const char *const ops[QUOIT_SYNC_OP_NR] = {
		[QUOIT_SYNC_LOCK_IT] = "lock",
		[QUOIT_SYNC_UNLOCK] = "unlock",
		[QUOIT_SYNC_WAIT_CONDITION] = "wait for a condition",
		[QUOIT_SYNC_NOTIFY] = "notify",
		[QUOIT_SYNC_SET_FLAG] = "set",
		[QUOIT_SYNC_CLEAR_FLAG] = "clear",
		[QUOIT_SYNC_WAIT_FLAG] = "wait",
		[QUOIT_SYNC_TAKE] = "take",
		[QUOIT_SYNC_GIVE] = "give",
		[QUOIT_SYNC_ARRIVE] = "arrive",
		[QUOIT_SYNC_SEND] = "send",
		[QUOIT_SYNC_SEND_ROWS] = "send rows",
		[QUOIT_SYNC_RECEIVE] = "receive",
		[QUOIT_SYNC_RECEIVE_ROWS] = "receive rows",
		[QUOIT_SYNC_PEEK] = "peek",
		[QUOIT_SYNC_PUT] = "put",
		[QUOIT_SYNC_GET] = "get",
		[QUOIT_SYNC_DELETE] = "delete",
		[QUOIT_SYNC_LIST] = "list",
		[QUOIT_SYNC_WATCH] = "watch",
	};
	const struct sync_name *n;

	if (e->opcode != QUOIT_OP_CALL || e->team < QUOIT_TEAM_SERVICE ||
	    e->function >= QUOIT_SYNC_OP_NR)
		return false;
	n = &s->sync[(e->team - QUOIT_TEAM_SERVICE) % QUOIT_MAX_SERVICES];
	pthread_mutex_lock(&s->list);
	if (n->kind)
		snprintf(to, size, "%s of %s '%s'", ops[e->function], kinds[n->kind], n->name);
	pthread_mutex_unlock(&s->list);
	return n->kind;
}
