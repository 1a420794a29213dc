/* SPDX-License-Identifier: MIT */
/* recorder_sessions.c - follow sessions as they come and go */
#include <dirent.h>
#include <unistd.h>

#include "recorder_private.h"

/*
 * How often the folder is read: seldom if the kernel reports new files, and no file in it is
 * strange.
 */
#define SCAN_NS         10000000u
#define SCAN_WATCHED_NS 1000000000u

#define UNRIPE_LOOKS 20u

static struct recorder_tail *find_tail(struct recorder *r, uint64_t number)
{
	for (unsigned i = 0; i < r->tails; i++)
		if (r->tail[i].tail.number == number)
			return &r->tail[i];
	return NULL;
}

/*
 * A session's old file belonged to another recording that has ended; now quoitd has made a new file
 * for us.
 */
static void follow_again(struct recorder *r, struct recorder_tail *known)
{
	struct tail again;

	if (!known->tail.over || known->tail.ended)
		return;
	if (tail_open(&again, r->directory, known->tail.number, &r->origin, r->since) < 0) {
		r->strange++;
		return;
	}
	if (again.s.begun == known->tail.s.begun) {
		tail_close(&again);
		return;
	}
	tail_go_on(&again, &known->tail);
	recorder_sum(r, &known->tail, -1); /* the new file's end will add them again */
	known->tail = again;
}

/* False: there are too many sessions. */
static bool follow(struct recorder *r, uint64_t number)
{
	struct recorder_tail *known = find_tail(r, number), *t = &r->tail[r->tails];

	if (known) {
		known->present = true;
		follow_again(r, known);
		return true;
	}
	if (r->tails == RECORDER_MOST_TAILS)
		return false;
	*t = (struct recorder_tail){.present = true};
	if (tail_open(&t->tail, r->directory, number, &r->origin, r->since) < 0 ||
	    (r->what.pid && t->tail.s.pid != r->what.pid)) {
		/* another recording's file, or one that is not whole yet: look again */
		tail_close(&t->tail);
		r->strange++;
		return true;
	}
	r->tails++;
	r->end.sessions++;
	recorder_put_session(r, &t->tail);
	return true;
}

/* Sessions that are over are kept while their files exist, or they would be taken for new ones. */
static void forget_gone(struct recorder *r)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->tails; i++)
		if (r->tail[i].present || !r->tail[i].tail.over)
			r->tail[kept++] = r->tail[i];
	r->tails = kept;
}

static void scan(struct recorder *r)
{
	DIR *dir = fdopendir(dup(r->directory));
	struct dirent *entry;
	uint64_t number, missed = 0;

	if (!dir)
		return;
	r->strange = 0;
	for (unsigned i = 0; i < r->tails; i++)
		r->tail[i].present = false;
	rewinddir(dir);
	while ((entry = readdir(dir)))
		if (tail_number(entry->d_name, &number))
			missed += !follow(r, number);
	closedir(dir);
	r->missed = missed > r->missed ? missed : r->missed;
	forget_gone(r);
}

/*
 * The kernel reports a new file when it is created, a moment before it is whole; so look again for
 * a while.
 */
void recorder_look_for_sessions(struct recorder *r, uint64_t now)
{
	if (watch_news(r->watch))
		r->unripe = UNRIPE_LOOKS;
	else if (!r->unripe && now < r->next_scan_ns)
		return;
	scan(r);
	r->unripe = r->unripe && r->strange ? r->unripe - 1 : 0;
	r->next_scan_ns = now + (r->watch >= 0 && !r->strange ? SCAN_WATCHED_NS : SCAN_NS);
}
