/* SPDX-License-Identifier: MIT */
/* follow.c - read a quoitd's counters again and again */
#include "follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/daemon_state.h"
#include "read/list.h"
#include "read/rates.h"
#include "read/runtime.h"
#include "read/sessions.h"

/* ---- totals ---- */

const struct counters_totals *follow_now(const struct follow *f)
{
	return f->readings ? &f->totals[f->readings % 2] : NULL;
}

const struct counters_totals *follow_before(const struct follow *f)
{
	const struct counters_totals *before = &f->totals[(f->readings + 1) % 2];

	return f->readings > 1 && rates_are_of_one(before, follow_now(f)) ? before : NULL;
}

/* ---- one session ---- */

/*
 * Look processes up less often than sessions: a lookup takes the kernel longer than reading a
 * session's counters.
 */
#define PROCESS_LEAST_NS UINT64_C(400000000)

/* Also the least time between two readings of a session that rests. */
#define QUIET_LEAST_NS UINT64_C(250000000)

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void let_go(struct followed *s)
{
	close_fd(&s->fd);
	close_fd(&s->statm);
	free(s->latency);
	s->latency = NULL;
}

/*
 * Open /proc/PID/statm, then check that the process is the right one: an open file later gives that
 * process's figures, or none.
 */
static int open_process(uint32_t pid, uint64_t by_ns)
{
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/statm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !process_lives(pid, by_ns))
		close_fd(&fd);
	return fd;
}

/* False: the process is gone. */
static bool read_resident(int statm, uint64_t *ret_bytes)
{
	char text[64], *resident;
	ssize_t n = statm < 0 ? -1 : pread(statm, text, sizeof text - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	resident = strchr(text, ' ');
	*ret_bytes = resident ? strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
	return *ret_bytes; /* a zombie has no memory */
}

static void find_process(const struct follow *f, struct followed *s)
{
	const struct counters_session *c = &s->reading[s->readings % 2];

	close_fd(&s->statm);
	s->process = (struct process){.pid = c->pid, .uid = c->uid, .by_ns = c->opened_ns};
	if (f->here && c->pid)
		s->statm = open_process(c->pid, c->opened_ns);
}

static void read_process(const struct follow *f, struct followed *s)
{
	s->process_ns = f->read_ns;
	s->process.known = read_resident(s->statm, &s->process.resident_bytes);
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
		close_fd(&s->fd);
		close_fd(&s->statm);
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

static void read_sessions(struct follow *f)
{
	if (session_files_have_changed(&f->files, follow_now(f)) && may_ask(f))
		find_sessions(f);
	f->unreadable = f->damaged = 0;
	for (size_t i = 0; i < f->count; i++)
		read_session(f, &f->list[i]);
	if (f->files.asks && !f->asked)
		f->unreadable = sessions_of_others(follow_now(f), f->count);
}

/* ---- rows ---- */

static void make_rows(struct follow *f)
{
	f->row_count = 0;
	if (f->count > f->row_room) {
		void *rows = realloc(f->rows, f->room * sizeof *f->rows);

		if (!rows)
			return;
		f->rows = rows;
		f->row_room = f->room;
	}
	for (size_t i = 0; i < f->count; i++) {
		struct followed *s = &f->list[i];

		if (!s->readings)
			continue;
		f->rows[f->row_count++] = (struct session_row){
			.s = s->reading[s->readings % 2],
			.before = s->readings > 1 ? &s->reading[(s->readings + 1) % 2] : NULL,
			.process = s->process,
			.daemon_lives = f->daemon_lives &&
					counters_is_of(&s->reading[s->readings % 2], follow_now(f)),
			.now_ns = f->read_ns};
	}
}

/* Look up what the open file does not say; few users want that. */
static void look(struct follow *f, unsigned needs)
{
	struct process **list = calloc(f->row_count ? f->row_count : 1, sizeof *list);

	for (size_t i = 0; list && i < f->row_count; i++)
		list[i] = &f->rows[i].process;
	if (list && f->here)
		process_look(list, f->row_count, needs);
	free(list);
}

/* ---- cores ---- */

/* A core reports now and then; its last report stays until the next one. */
static void read_cores(struct follow *f)
{
	const struct counters_totals *to = follow_now(f), *from = follow_before(f);

	for (unsigned i = 0; i < QUOIT_MAX_CORES; i++) {
		const struct counter *a, *b;

		if (!from || i >= from->cores || i >= to->cores) {
			f->tiles[i] = -1;
			continue;
		}
		a = from->core[i].value;
		b = to->core[i].value;
		if (b[QUOIT_CORE_AS_OF].known && b[QUOIT_CORE_TILE_TICKS].known &&
		    b[QUOIT_CORE_AS_OF].value > a[QUOIT_CORE_AS_OF].value &&
		    b[QUOIT_CORE_TILE_TICKS].value >= a[QUOIT_CORE_TILE_TICKS].value)
			f->tiles[i] =
				100.0 *
				(double)(b[QUOIT_CORE_TILE_TICKS].value -
					 a[QUOIT_CORE_TILE_TICKS].value) /
				(double)(b[QUOIT_CORE_AS_OF].value - a[QUOIT_CORE_AS_OF].value);
	}
}

/* ---- quoitd ---- */

/* A zombie has no memory. */
static bool daemon_lives(struct follow *f)
{
	const struct counters_origin *o = &follow_now(f)->origin;
	uint64_t bytes = 0;

	if (!follow_before(f))
		close_fd(&f->statm);
	if (f->here && !follow_before(f))
		f->statm = open_process(o->daemon_pid, o->started_ns);
	return (read_resident(f->statm, &bytes) && bytes) ||
	       runtime_daemon_lives(f->files.directory, o);
}

/* ---- all ---- */

/* After a restart of quoitd, session 1 is another session. */
static void forget_sessions(struct follow *f)
{
	for (size_t i = 0; i < f->count; i++)
		let_go(&f->list[i]);
	f->count = 0;
	f->files.settled = false;
}

int follow_open(struct follow *f, const char *socket)
{
	*f = (struct follow){.statm = -1};
	return session_files_open(&f->files, socket);
}

void follow_close(struct follow *f)
{
	forget_sessions(f);
	close_fd(&f->statm);
	chosen_free(&f->chosen);
	timings_free(&f->timings);
	session_files_close(&f->files);
	free(f->list);
	free(f->rows);
	free(f->lines);
}

void follow_choose(struct follow *f, uint64_t session)
{
	for (size_t i = 0; i < f->row_count; i++) {
		struct process *one = &f->rows[i].process;

		if (f->rows[i].s.session != session)
			continue;
		if (f->here)
			process_look(&one, 1,
				     PROCESS_NEED_RESIDENT | PROCESS_NEED_FAULTS |
					     PROCESS_NEED_SMAPS | PROCESS_NEED_NUMA);
		chosen_read(&f->chosen, &f->files, &f->rows[i]);
		if (f->chosen.known)
			f->rows[i].limits = f->chosen.limits;
	}
}

/* An error for want of our own resources says nothing about quoitd: the last reading stays. */
static bool is_our_want(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

static int read_once(struct follow *f, unsigned needs)
{
	struct counters_totals *to = &f->totals[(f->readings + 1) % 2];
	int err = counters_read_totals(f->files.directory, to);
	uint64_t bytes;

	f->want = f->readings && is_our_want(err) ? err : 0;
	if (f->want) {
		f->daemon_lives = f->statm < 0 || read_resident(f->statm, &bytes);
		return err;
	}
	if (err) {
		f->daemon_lives = false;
		for (size_t i = 0; i < f->row_count; i++)
			f->rows[i].daemon_lives = false;
		return err;
	}
	f->readings++;
	if (f->readings > 1 && !follow_before(f))
		forget_sessions(f);
	f->read_ns = runtime_now_ns();
	f->here = process_is_here(to->origin.pid_namespace);
	f->daemon_lives = daemon_lives(f);
	read_cores(f);
	read_sessions(f);
	make_rows(f);
	f->shown = f->row_count;
	if (needs & ~(unsigned)PROCESS_NEED_RESIDENT)
		look(f, needs);
	return 0;
}

int follow_read(struct follow *f, unsigned needs)
{
	int err = read_once(f, needs);

	session_files_rest(&f->files);
	f->waiting = !f->daemon_lives && daemon_state_is_listened_to(f->files.socket);
	return err;
}
