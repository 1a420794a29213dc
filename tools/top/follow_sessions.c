/* SPDX-License-Identifier: MIT */
/* follow_sessions.c - find sessions, and read their counters and processes again and again */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "follow_private.h"
#include "read/list.h"
#include "read/runtime.h"
#include "read/sessions.h"
#include "statm.h"

/* ---- one session ---- */

/*
 * Look processes up less often than sessions: a lookup takes the kernel longer than reading a
 * session's counters.
 */
#define PROCESS_LEAST_NS UINT64_C(400000000)

/* Also the least time between two readings of a session that rests. */
#define QUIET_LEAST_NS UINT64_C(250000000)

static void close_counters(struct followed *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void let_go(struct followed *s)
{
	close_counters(s);
	statm_close(&s->statm);
	free(s->latency);
	s->latency = NULL;
}

static void find_process(const struct follow *f, struct followed *s)
{
	const struct counters_session *c = &s->reading[s->readings % 2];

	statm_close(&s->statm);
	s->process = (struct process){.pid = c->pid, .uid = c->uid, .by_ns = c->opened_ns};
	if (f->here && c->pid)
		s->statm = statm_open(c->pid, c->opened_ns);
}

static void read_process(const struct follow *f, struct followed *s)
{
	s->process_ns = f->read_ns;
	s->process.known = statm_read(s->statm, &s->process.resident_bytes);
}

/*
 * A file may exist a moment before its user may read it; so a file that could not be opened is
 * tried again.
 */
static int read_counters(struct follow *f, struct followed *s, struct counters_session *ret)
{
	if (s->fd < 0)
		s->fd = session_files_get(&f->files, QUOIT_COUNTERS_SESSION, s->session);
	return s->fd < 0 ? s->fd : counters_read_session(s->fd, s->session, ret);
}

/* Did nothing change between the last two readings, apart from their time? */
static bool has_rested(const struct followed *s)
{
	const struct counters_session *a = &s->reading[0], *b = &s->reading[1];

	if (s->readings < 2 || a->ended != b->ended)
		return false;
	for (unsigned i = 0; i < QUOIT_SESSION_NR; i++)
		if (i != QUOIT_SESSION_AS_OF && a->value[i].value != b->value[i].value)
			return false;
	return true;
}

static void read_session(struct follow *f, struct followed *s)
{
	struct counters_session one;
	int err;

	if (f->read_ns - s->read_ns < QUIET_LEAST_NS && has_rested(s))
		return;
	s->read_ns = f->read_ns;
	err = read_counters(f, s, &one);
	if (err) {
		f->unreadable += err == -EACCES;
		f->damaged += err != -EACCES && err != -ENOENT;
		s->readings = 0;
		close_counters(s);
		statm_close(&s->statm);
		return;
	}
	s->reading[++s->readings % 2] = one;
	if (s->readings == 1)
		find_process(f, s);
	if (s->readings == 1 || f->read_ns - s->process_ns >= PROCESS_LEAST_NS)
		read_process(f, s);
}

/* ---- all of them ---- */

static int by_number(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;

	return (x->session > y->session) - (x->session < y->session);
}

/* Find a session among those of the last reading, which are in order. */
static struct followed *find(struct follow *f, size_t known, uint64_t session)
{
	const struct followed key = {.session = session};

	return known ? bsearch(&key, f->list, known, sizeof *f->list, by_number) : NULL;
}

static struct followed *begin(struct follow *f, uint64_t session)
{
	struct followed *s;

	if (f->count == f->room) {
		void *list = list_grow(f->list, &f->room, sizeof *f->list);

		if (!list)
			return NULL;
		f->list = list;
	}
	s = &f->list[f->count++];
	*s = (struct followed){.session = session, .fd = -1, .statm = -1};
	return s;
}

static void drop_unseen(struct follow *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].seen)
			f->list[kept++] = f->list[i];
		else
			let_go(&f->list[i]);
	f->count = kept;
}

static void take_list(struct follow *f, const struct session_list *list)
{
	const size_t known = f->count;

	for (size_t i = 0; i < known; i++)
		f->list[i].seen = false;
	for (size_t i = 0; i < list->count; i++) {
		struct followed *s = find(f, known, list->number[i]);

		if (!s)
			s = begin(f, list->number[i]);
		if (s)
			s->seen = true;
		else
			f->files.settled = false; /* no memory: it is not shown */
	}
	drop_unseen(f);
	if (f->count)
		qsort(f->list, f->count, sizeof *f->list, by_number);
}

/* Sessions whose files are open can still be read while quoitd does not answer. */
static void find_sessions(struct follow *f)
{
	struct session_list list = {0};
	int err = session_files_list(&f->files, QUOIT_COUNTERS_SESSION, &list);

	f->asked = f->files.asks ? err : 0;
	if (!err)
		take_list(f, &list);
	else
		f->files.settled = false;
	free(list.number);
}

/* Without a word, a quoitd that hangs would hold us up. */
static bool may_ask(struct follow *f)
{
	unsigned reactor;

	if (!f->files.asks ||
	    (f->daemon_lives && runtime_silence_s(follow_now(f), &reactor) <= RUNTIME_SILENT_S))
		return true;
	f->asked = -EAGAIN;
	f->files.settled = false;
	return false;
}

void follow_read_sessions(struct follow *f)
{
	if (session_files_have_changed(&f->files, follow_now(f)) && may_ask(f))
		find_sessions(f);
	f->unreadable = f->damaged = 0;
	for (size_t i = 0; i < f->count; i++)
		read_session(f, &f->list[i]);
	if (f->files.asks && !f->asked)
		f->unreadable = sessions_of_others(follow_now(f), f->count);
}

void follow_forget_sessions(struct follow *f)
{
	for (size_t i = 0; i < f->count; i++)
		let_go(&f->list[i]);
	f->count = 0;
	f->files.settled = false;
}
