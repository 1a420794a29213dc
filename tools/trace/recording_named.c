/* SPDX-License-Identifier: MIT */
/* recording_named.c - the names of services, locks and their kin in a recording */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "read/format.h"
#include "read/list.h"
#include "recording_private.h"

/* More than quoitd has at a time. */
#define MOST_NAMES 65536u

/* ---- the list ---- */

/* The index at which the number is, or would be inserted. */
static size_t place_of(const struct recording *rec, uint64_t number)
{
	size_t low = 0, high = rec->names;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rec->name[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct recording_name *find(const struct recording *rec, uint64_t number)
{
	size_t i = place_of(rec, number);

	return i < rec->names && rec->name[i].number == number ? &rec->name[i] : NULL;
}

/* NULL: there are too many. */
static struct recording_name *insert(struct recording *rec, uint64_t number)
{
	size_t i = place_of(rec, number);

	if (i < rec->names && rec->name[i].number == number)
		return &rec->name[i];
	if (rec->names == rec->names_room) {
		void *more = rec->names < MOST_NAMES
				     ? list_grow(rec->name, &rec->names_room, sizeof *rec->name)
				     : NULL;

		if (!more)
			return NULL;
		rec->name = more;
	}
	memmove(&rec->name[i + 1], &rec->name[i], (rec->names - i) * sizeof *rec->name);
	rec->names++;
	return &rec->name[i];
}

int recording_take_names(struct recording *rec, const struct trace_chunk *chunk,
			 const void *payload)
{
	const struct trace_name *from = payload;

	for (size_t i = 0; i < chunk->bytes / sizeof *from; i++) {
		char text[sizeof from->name + 1] = "";
		struct recording_name *n = NULL;

		if (from[i].number && from[i].kind < QUOIT_SYNC_NR)
			n = insert(rec, from[i].number);
		if (!n) {
			rec->foreign++;
			continue;
		}
		memcpy(text, from[i].name, sizeof from->name);
		*n = (struct recording_name){
			.number = from[i].number, .uid = from[i].uid, .kind = from[i].kind};
		format_escape(text, n->name, sizeof n->name);
	}
	return 0;
}

/* ---- words ---- */

static void put_name(const struct recording *rec, const struct recording_named *named, char *ret,
		     size_t size)
{
	const struct recording_name *n = find(rec, named->number);

	if (!n || !*n->name)
		snprintf(ret, size, "%" PRIu64, named->number);
	else if (n->uid != named->session->s.uid)
		snprintf(ret, size, "%" PRIu32 "/%s", n->uid, n->name);
	else
		snprintf(ret, size, "%s", n->name);
}

void recording_thing(const struct recording *rec, const struct recording_named *named,
		     char ret[RECORDING_NAMED_BYTES])
{
	static const char *const kinds[QUOIT_SYNC_NR] = QUOIT_SYNC_NAMES;
	char name[RECORDING_NAMED_BYTES - 16];

	put_name(rec, named, name, sizeof name);
	snprintf(ret, RECORDING_NAMED_BYTES, "%s %s", kinds[named->kind], name);
}

void recording_asks(const struct recording *rec, const struct recording_named *named,
		    char ret[RECORDING_NAMED_BYTES])
{
	static const char *const asks[QUOIT_SYNC_OP_NR] = {
		[QUOIT_SYNC_LOCK_IT] = "", /* "lock ledger" */
		[QUOIT_SYNC_UNLOCK] = "unlock of ",
		[QUOIT_SYNC_WAIT_CONDITION] = "condition of ",
		[QUOIT_SYNC_NOTIFY] = "notify at ",
		[QUOIT_SYNC_SET_FLAG] = "set ",
		[QUOIT_SYNC_CLEAR_FLAG] = "clear ",
		[QUOIT_SYNC_WAIT_FLAG] = "wait for ",
		[QUOIT_SYNC_TAKE] = "take from ",
		[QUOIT_SYNC_GIVE] = "give to ",
		[QUOIT_SYNC_ARRIVE] = "arrive at ",
		[QUOIT_SYNC_SEND] = "send to ",
		[QUOIT_SYNC_SEND_ROWS] = "send rows to ",
		[QUOIT_SYNC_RECEIVE] = "receive from ",
		[QUOIT_SYNC_RECEIVE_ROWS] = "receive rows from ",
		[QUOIT_SYNC_PEEK] = "peek into ",
	};
	char thing[RECORDING_NAMED_BYTES];
	const char *what = "call of ";

	if (named->kind)
		what = named->function < QUOIT_SYNC_OP_NR ? asks[named->function] : "";
	recording_thing(rec, named, thing);
	snprintf(ret, RECORDING_NAMED_BYTES, "%s%.170s", what, thing);
}

/* NULL: it does not wait. */
static const char *waits_for(const struct recording_named *named)
{
	static const char *const waits[QUOIT_SYNC_OP_NR] = {
		[QUOIT_SYNC_LOCK_IT] = "waits for ",
		[QUOIT_SYNC_WAIT_CONDITION] = "waits for a condition of ",
		[QUOIT_SYNC_WAIT_FLAG] = "waits for ",
		[QUOIT_SYNC_TAKE] = "waits for ",
		[QUOIT_SYNC_ARRIVE] = "waits for others at ",
		[QUOIT_SYNC_SEND] = "waits for room in ",
		[QUOIT_SYNC_SEND_ROWS] = "waits for room in ",
		[QUOIT_SYNC_RECEIVE] = "waits for messages of ",
		[QUOIT_SYNC_RECEIVE_ROWS] = "waits for messages of ",
		[QUOIT_SYNC_PEEK] = "waits for messages of ",
	};

	if (!named->kind)
		return "waits for ";
	return named->function < QUOIT_SYNC_OP_NR ? waits[named->function] : NULL;
}

bool recording_may_wait(const struct recording_named *named)
{
	return waits_for(named) != NULL;
}

void recording_waits(const struct recording *rec, const struct recording_named *named,
		     char ret[RECORDING_NAMED_BYTES])
{
	char thing[RECORDING_NAMED_BYTES];

	recording_thing(rec, named, thing);
	snprintf(ret, RECORDING_NAMED_BYTES, "%s%.160s",
		 waits_for(named) ? waits_for(named) : "waits for ", thing);
}
