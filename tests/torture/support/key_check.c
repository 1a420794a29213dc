/* SPDX-License-Identifier: MIT */
/*
 * key_check.c - is there one order of all calls, in which each says what is true?
 *
 * Revisions are the order of changes.  A call that has changed nothing lies somewhere between two of
 * them.  From the times of all calls follows the first and the last revision that each can have seen:
 * calls that had ended before it began come before it, those that began after its end come behind it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "key_load.h"

struct change {
	const struct key_event *event; /* NULL: it is not known */
};

struct history {
	const struct key_event **by_end, **by_begin; /* those that have ended */
	uint64_t *first,
		*last; /* of the former: the newest revision up to there; of the latter: the
				 * oldest one from there */
	uint32_t count;
	struct change *change; /* by revision, from 1 */
	uint64_t newest;
	unsigned unknown;
	char *wrong;
	size_t room;
};

static bool is_change(const struct key_event *e)
{
	return !e->result && (e->op == KEY_PUT || e->op == KEY_DELETE);
}

/* The keyspace's revision when it was done; 0: not known. */
static uint64_t moment(const struct key_event *e)
{
	return e->result ? 0 : is_change(e) ? e->revision : e->now;
}

static int by_end(const void *a, const void *b)
{
	const struct key_event *const *x = a, *const *y = b;

	return ((*x)->ended > (*y)->ended) - ((*x)->ended < (*y)->ended);
}

static int by_begin(const void *a, const void *b)
{
	const struct key_event *const *x = a, *const *y = b;

	return ((*x)->began > (*y)->began) - ((*x)->began < (*y)->began);
}

static bool take_memory(struct history *h, uint32_t events)
{
	h->by_end = calloc(events + 1, sizeof *h->by_end);
	h->by_begin = calloc(events + 1, sizeof *h->by_begin);
	h->first = calloc(events + 1, sizeof *h->first);
	h->last = calloc(events + 1, sizeof *h->last);
	return h->by_end && h->by_begin && h->first && h->last;
}

static void sort(struct history *h, const struct key_load *l)
{
	for (unsigned i = 0; i < KEY_WORKERS; i++)
		for (uint32_t k = 0; k < KEY_EVENTS && l->event[i][k].began; k++)
			if (l->event[i][k].ended)
				h->by_end[h->count++] = &l->event[i][k];
	for (uint32_t i = 0; i < h->count; i++) {
		h->by_begin[i] = h->by_end[i];
		if (moment(h->by_end[i]) > h->newest)
			h->newest = moment(h->by_end[i]);
	}
	qsort(h->by_end, h->count, sizeof *h->by_end, by_end);
	qsort(h->by_begin, h->count, sizeof *h->by_begin, by_begin);
	for (uint32_t i = 0; i < h->count; i++) {
		uint64_t m = moment(h->by_end[i]);

		h->first[i + 1] = m > h->first[i] ? m : h->first[i];
	}
	h->last[h->count] = h->newest;
	for (uint32_t i = h->count; i--;) {
		const struct key_event *e = h->by_begin[i];
		uint64_t m = moment(e) ? moment(e) - is_change(e) : h->newest;

		h->last[i] = m < h->last[i + 1] ? m : h->last[i + 1];
	}
}

/* The revisions of the keyspace between which a call was done. */
static uint64_t first_of(const struct history *h, const struct key_event *e)
{
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (h->by_end[mid]->ended < e->began)
			low = mid + 1;
		else
			high = mid;
	}
	return h->first[low];
}

static uint64_t last_of(const struct history *h, const struct key_event *e)
{
	uint32_t low = 0, high = h->count;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (h->by_begin[mid]->began > e->ended)
			high = mid;
		else
			low = mid + 1;
	}
	return h->last[low];
}

static bool fail(struct history *h, const struct key_event *e, const char *what)
{
	snprintf(h->wrong, h->room,
		 "%s: op %u of key %u, expected %llu: %d, revision %llu, now %llu, value %llx",
		 what, e->op, e->key, (unsigned long long)e->expected, e->result,
		 (unsigned long long)e->revision, (unsigned long long)e->now,
		 (unsigned long long)e->value);
	return false;
}

static bool place_changes(struct history *h)
{
	h->change = calloc(h->newest + 2, sizeof *h->change);
	if (!h->change)
		return false;
	for (uint32_t i = 0; i < h->count; i++) {
		const struct key_event *e = h->by_end[i];

		if (!is_change(e))
			continue;
		if (!e->revision || h->change[e->revision].event)
			return fail(h, e, "two changes of one revision");
		h->change[e->revision].event = e;
	}
	for (uint64_t i = 1; i <= h->newest; i++)
		h->unknown += !h->change[i].event;
	return true;
}

/*
 * Can the key have had this revision (0: it was not there) when the keyspace had `now`?  A change that is
 * not known may have been any.
 */
static bool could_be(const struct history *h, unsigned key, uint64_t revision, uint64_t now)
{
	bool any_unknown = false;

	for (uint64_t i = now; i; i--) {
		const struct key_event *e = h->change[i].event;

		if (!e && revision == i)
			return true;
		any_unknown |= !e;
		if (e && e->key == key)
			return (e->op == KEY_PUT ? e->revision : 0) == revision ||
			       (any_unknown && !revision);
	}
	return !revision;
}

/* Somewhere where the call can have been. */
static bool could_be_between(const struct history *h, const struct key_event *e, uint64_t revision)
{
	const uint64_t last = last_of(h, e);

	for (uint64_t now = first_of(h, e); now <= last; now++)
		if (could_be(h, e->key, revision, now))
			return true;
	return false;
}

/* A watch that has been told nothing for long: there was nothing to tell until shortly before its end. */
static bool had_nothing_to_tell(const struct history *h, const struct key_event *e)
{
	const struct key_event late = {.began = e->ended - KEY_LONG_MS / 2 * UINT64_C(1000000)};

	if (e->timeout_ms != KEY_LONG_MS) /* it may have been cancelled before it was looked at */
		return e->timeout_ms != QUOIT_FOREVER;
	for (uint64_t i = first_of(h, &late); i > e->expected; i--)
		if (h->change[i].event && h->change[i].event->key == e->key)
			return false;
	return true;
}

static bool is_in_time(const struct history *h, const struct key_event *e)
{
	const uint64_t m = moment(e);

	return m >= first_of(h, e) + is_change(e) && m <= last_of(h, e) + is_change(e);
}

static bool check_change(struct history *h, const struct key_event *e)
{
	if (e->expected != QUOIT_ANY_REVISION && !could_be(h, e->key, e->expected, e->revision - 1))
		return fail(h, e, "a change of a key that had another revision");
	if (e->op == KEY_DELETE && e->expected == QUOIT_ANY_REVISION &&
	    could_be(h, e->key, 0, e->revision - 1) && !h->unknown)
		return fail(h, e, "a deletion of what was not there");
	return true;
}

static bool check_read(struct history *h, const struct key_event *e)
{
	const struct key_event *of = e->revision <= h->newest ? h->change[e->revision].event : NULL;

	if (!could_be(h, e->key, e->revision, e->now))
		return fail(h, e, "what a key never was");
	if (e->op == KEY_GET && of && of->value != e->value)
		return fail(h, e, "a value of another revision");
	if (e->op == KEY_WATCH && e->now <= e->expected)
		return fail(h, e, "a change that was known");
	return true;
}

static bool check_event(struct history *h, const struct key_event *e)
{
	if (!e->result && !is_in_time(h, e))
		return fail(h, e, "too early or too late");
	if (!e->result)
		return is_change(e) ? check_change(h, e) : check_read(h, e);
	if (e->result == -ETIME)
		return had_nothing_to_tell(h, e) ? true : fail(h, e, "a missed change");
	if (e->op != KEY_GET && e->revision == e->expected && (e->op == KEY_PUT || e->revision))
		return fail(h, e, "refused for what was expected");
	if (e->result == -ENOENT && e->revision)
		return fail(h, e, "no key, with a revision");
	return could_be_between(h, e, e->revision) ? true
						   : fail(h, e, "refused for what never was");
}

const char *key_load_check(const struct key_load *l, unsigned deaths)
{
	static char wrong[300];
	struct history h = {.wrong = wrong, .room = sizeof wrong};
	bool good = take_memory(&h, KEY_WORKERS * KEY_EVENTS);

	snprintf(wrong, sizeof wrong, "no memory");
	if (good) {
		sort(&h, l);
		good = place_changes(&h);
	}
	if (good && h.unknown > deaths) {
		good = false;
		snprintf(wrong, sizeof wrong,
			 "%u changes are not known, and %u processes were killed", h.unknown,
			 deaths);
	}
	for (uint32_t i = 0; good && i < h.count; i++)
		good = check_event(&h, h.by_end[i]);
	free(h.by_end);
	free(h.by_begin);
	free(h.first);
	free(h.last);
	free(h.change);
	return good ? NULL : wrong;
}
