/* SPDX-License-Identifier: MIT */
/* sync.h - the names of locks and their kin that a session has open */
#ifndef LIBQUOIT_SYNC_H
#define LIBQUOIT_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include <quoit/ctl.h>

struct quoit_session;

struct sync_name {
	char name[QUOIT_NAME_BYTES];
	enum quoit_sync_kind kind;
};

/* What the session has under this number now; kind 0: nothing. */
void libquoit_sync_note(struct quoit_session *s, uint32_t number, enum quoit_sync_kind kind,
			const char *name);

/* What a failed call was, as "unlock of lock 'ledger'".  False: a call of something else. */
bool libquoit_sync_what(struct quoit_session *s, const struct quoit_error *e, char *to,
			size_t size);

#endif
