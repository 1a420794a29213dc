/* SPDX-License-Identifier: MIT */
/* recorder.c - follow quoitd's trace files, and copy their records into a recording */
#include "recorder_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/daemon_state.h"
#include "read/format.h"
#include "read/runtime.h"

#define TOTALS_NS       100000000u
#define BUFFER_RECORDS  (TRACE_MOST_CHUNK / sizeof(struct quoit_trace_record))
/* part of the size that is kept for chunks that must not be left out */
#define CLOSING_BYTES   (1u << 20)
#define PAUSE_UNRIPE_MS 1u
#define PAUSE_BUSY_MS   5u
#define PAUSE_IDLE_MS   20u
#define RECORDS_A_MS    1024u

/* ---- begin ---- */

/* The owner of an existing file may read all that we write, so it must be us. */
static int make_private(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_uid != geteuid()) {
		errno = EPERM;
		return -1;
	}
	return fchmod(fd, 0600) < 0 ? -1 : ftruncate(fd, 0);
}

/* Create it only when there is something to record, since an older recording may be there. */
static int open_file(struct recorder *r, const struct trace_header *header)
{
	int fd = open(r->what.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || make_private(fd) < 0) {
		fprintf(stderr, "quoit trace: %s: %s\n", r->what.path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (trace_writer_open(&r->writer, fd, r->what.size - CLOSING_BYTES, header) < 0) {
		close(fd);
		return -1;
	}
	return 0;
}

static int open_directory(struct recorder *r)
{
	static struct counters_totals totals;
	int err = session_files_open(&r->files, r->what.socket);

	if (err >= 0)
		err = counters_read_totals(r->files.directory, &totals);
	r->origin = totals.origin;
	r->opened = totals.value[QUOIT_DAEMON_SESSIONS_OPENED].value;
	if (err >= 0 && !r->origin.tsc_hz)
		err = -ENODATA;
	if (err < 0)
		(void)daemon_state_refuse("trace", r->what.socket, err);
	else
		daemon_state_compare_versions("trace", &totals);
	return err < 0 ? -1 : 0;
}

static void free_all(struct recorder *r)
{
	recorder_hang_up(r);
	for (unsigned i = 0; i < r->tails; i++)
		tail_close(&r->tail[i].tail);
	watch_close(r->watch);
	session_files_close(&r->files);
	free(r->tail);
	free(r->buffer);
}

int recorder_begin(struct recorder *r, const struct recorder_what *what)
{
	struct trace_header header;
	int err;

	*r = (struct recorder){.what = *what,
			       .files = {.directory = -1, .folder = -1, .connection = -1},
			       .watch = -1};
	r->begun_ns = recorder_clock(CLOCK_MONOTONIC);
	r->begun_cpu_ns = recorder_clock(CLOCK_PROCESS_CPUTIME_ID);
	r->tail = calloc(RECORDER_MOST_TAILS, sizeof *r->tail);
	r->buffer = malloc(TRACE_MOST_CHUNK);
	err = r->tail && r->buffer ? open_directory(r) : -1;
	if (!err) {
		if (r->files.folder >= 0)
			r->watch = watch_open(r->files.folder);
		/* trace files that quoitd makes for us begin later than this */
		recorder_fill_header(r, &header);
		r->since = header.tsc;
		err = r->what.pid ? recorder_ask_for_pid(r) : recorder_ask_for_all(r);
	}
	if (!err)
		err = open_file(r, &header);
	if (err)
		free_all(r);
	return err;
}

/* ---- sessions ---- */

void recorder_put_session(struct recorder *r, struct tail *t)
{
	t->s.ended = t->ended;
	trace_writer_put(&r->writer, TRACE_SESSION, t->number, &t->s, sizeof t->s);
}

void recorder_sum(struct recorder *r, const struct tail *t, int sign)
{
	const uint64_t times = (uint64_t)sign;

	r->end.dropped += times * t->s.dropped;
	r->end.events_dropped += times * t->s.events_dropped;
	r->end.lost += times * t->s.lost;
	r->end.unwritten += times * t->s.unwritten;
}

/* ---- records ---- */

static void count_records(struct recorder *r, struct recorder_tail *t, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct quoit_trace_record *record = &r->buffer[i];

		if (record->kind == QUOIT_TRACE_CLIENT) {
			r->end.events += record->opcode < QUOIT_TRACE_EVENTS ? record->opcode
									     : QUOIT_TRACE_EVENTS;
			recorder_want_sites(t, record);
		} else if (record->kind == QUOIT_TRACE_JOB || record->kind == QUOIT_TRACE_QUIET) {
			r->end.jobs++;
		} else if (record->kind == QUOIT_TRACE_HOLD) {
			recorder_want_sites(t, record);
		} else if (record->kind == QUOIT_TRACE_NAMED) {
			recorder_want_name(t, record);
		}
	}
	r->end.records += count;
}

static void put_records(struct recorder *r, struct recorder_tail *t, size_t count)
{
	const size_t bytes = count * sizeof *r->buffer;

	if (!trace_writer_has_room(&r->writer, bytes)) {
		r->end.how |= r->writer.error ? 0 : TRACE_FULL;
		t->tail.s.unwritten += count;
		return;
	}
	count_records(r, t, count);
	trace_writer_put(&r->writer, TRACE_RECORDS, t->tail.number, r->buffer, bytes);
}

/* Take a session's final figures. */
static void add_up(struct recorder *r, struct tail *t)
{
	recorder_put_session(r, t);
	recorder_sum(r, t, 1);
	tail_close(t);
}

static uint64_t look_at_tail(struct recorder *r, struct recorder_tail *t, uint64_t now)
{
	uint64_t all = 0;
	size_t n;

	if (t->tail.fd < 0)
		return 0;
	do {
		n = tail_read(&t->tail, r->buffer, BUFFER_RECORDS);
		if (n)
			put_records(r, t, n);
		all += n;
	} while (n == BUFFER_RECORDS && all < 2 * QUOIT_TRACE_MOST);
	recorder_look_at_sites(r, t, now);
	recorder_look_at_names(r, t, now);
	if (t->tail.over) {
		add_up(r, &t->tail);
		if (!t->tail.ended) /* there may be a new file of this session (follow_again) */
			r->next_scan_ns = now;
	}
	return all;
}

/* ---- the look ---- */

uint64_t recorder_look(struct recorder *r)
{
	uint64_t now = recorder_clock(CLOCK_MONOTONIC), all = 0;

	recorder_look_at_connections(r);
	recorder_look_for_sessions(r, now);
	if (now >= r->next_totals_ns) {
		r->next_totals_ns = now + TOTALS_NS;
		recorder_put_totals(r);
		trace_writer_flush(&r->writer); /* so that little is lost if we are killed */
	}
	for (unsigned i = 0; i < r->tails; i++)
		all += look_at_tail(r, &r->tail[i], now);
	return all;
}

/*
 * After a pause quoitd fills half of a ring at once, and then adds at most 256 jobs and 333 records
 * of clients' notes in a millisecond.  So the other half must last until the next look.
 */
unsigned recorder_pause_ms(const struct recorder *r, uint64_t records)
{
	unsigned most = r->unripe ? PAUSE_UNRIPE_MS : records ? PAUSE_BUSY_MS : PAUSE_IDLE_MS;
	unsigned room = r->what.records / 2 / RECORDS_A_MS;

	return room < most ? room : most;
}

bool recorder_has_failed(const struct recorder *r)
{
	return r->writer.error != 0;
}

bool recorder_is_over(const struct recorder *r)
{
	for (unsigned i = 0; i < r->tails; i++)
		if (!r->tail[i].tail.over)
			return false;
	return true;
}

/* ---- the end ---- */

/*
 * How many opened sessions have no file, since quoitd had no memory for it, or there were too many.
 */
static uint64_t count_missed(const struct recorder *r)
{
	static struct counters_totals totals;
	uint64_t opened;

	if (!r->what.alone || counters_read_totals(r->files.directory, &totals) < 0)
		return r->missed;
	opened = totals.value[QUOIT_DAEMON_SESSIONS_OPENED].value - r->opened;
	return opened > r->end.sessions ? opened - r->end.sessions : 0;
}

static void summarize(const struct recorder *r)
{
	const struct trace_end *e = &r->end;
	const uint64_t missed = count_missed(r);
	char bytes[16], each[16] = "-";

	format_bytes(e->bytes, bytes, sizeof bytes);
	if (e->jobs)
		format_span((double)e->cpu_ns / 1e9 / (double)e->jobs, each, sizeof each);
	fprintf(stderr,
		"quoit trace: %s (%s): %" PRIu64 " jobs, %" PRIu64 " events of %" PRIu32
		" sessions; dropped by quoitd %" PRIu64 ", lost %" PRIu64 ", beyond --size %" PRIu64
		"\n",
		r->what.path, bytes, e->jobs, e->events, e->sessions, e->dropped, e->lost,
		e->unwritten);
	fprintf(stderr, "quoit trace: recording took %.1f%% of a core here, %s a job\n",
		e->wall_ns ? 100 * (double)e->cpu_ns / (double)e->wall_ns : 0, each);
	if (e->lost && r->what.records < QUOIT_TRACE_MOST)
		fprintf(stderr, "quoit trace: fewer records are lost with --records=%u\n",
			QUOIT_TRACE_MOST);
	if (missed)
		fprintf(stderr,
			"quoit trace: %" PRIu64
			" more sessions were not recorded: there were too many at a time; quoitd "
			"has room for more with fewer --records\n",
			missed);
	if (r->daemon_died)
		fprintf(stderr,
			"quoit trace: quoitd (PID %" PRIu32
			") has ended; this is what there was until then\n",
			r->origin.daemon_pid);
}

int recorder_finish(struct recorder *r)
{
	struct trace_end *e = &r->end;
	int err;

	for (unsigned i = 0; i < r->tails; i++)
		if (r->tail[i].tail.fd >= 0)
			add_up(r, &r->tail[i].tail);
	recorder_put_totals(r);
	recorder_hang_up(r);
	e->how |= r->daemon_died ? TRACE_DAEMON_DIED : 0;
	e->tsc = recorder_ticks();
	e->wall_ns = recorder_clock(CLOCK_MONOTONIC) - r->begun_ns;
	e->cpu_ns = recorder_clock(CLOCK_PROCESS_CPUTIME_ID) - r->begun_cpu_ns;
	e->bytes = r->writer.bytes + sizeof(struct trace_chunk) + sizeof *e;
	trace_writer_put(&r->writer, TRACE_END, 0, e, sizeof *e);
	err = trace_writer_close(&r->writer);
	if (err)
		fprintf(stderr, "quoit trace: %s: %s\n", r->what.path, strerror(-err));
	else
		summarize(r);
	free_all(r);
	return err ? -1 : 0;
}
