/* SPDX-License-Identifier: MIT */
/* recording.c - what a recording holds: its sessions, and its jobs one after the other */
#include "trace/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

/* A recording that is longer has no times that could be believed. */
#define MOST_NS                                                                                    \
	INT64_C(4000000000000000) /* 46 days; its microseconds have three exact decimals           \
				   */
#define SLACK INT64_C(1000000)    /* cores' TSC differ, and a file begins a little later */

/* ---- names ---- */

const char *recording_operation(unsigned opcode, char *ret, size_t size)
{
	static const char *const names[QUOIT_OP_NR] = {
#define QUOIT_OP(nr, NAME, name, access, shape, types, cost, flags, help) [nr] = #name,
#include <quoit/ops.def>
#undef QUOIT_OP
	};

	if (opcode < QUOIT_OP_NR && names[opcode])
		return names[opcode];
	snprintf(ret, size, "%s %u",
		 opcode >= QUOIT_OP_MODULE_FIRST ? "module operation" : "operation", opcode);
	return ret;
}

static void place_of_stream(unsigned index, char ret[RECORDING_PLACE_BYTES])
{
	const unsigned device = index / QUOIT_TRACE_STREAMS + 1;
	const unsigned stream = index % QUOIT_TRACE_STREAMS;

	if (stream == QUOIT_TRACE_DIRECT)
		snprintf(ret, RECORDING_PLACE_BYTES, "device %u, direct ring", device);
	else
		snprintf(ret, RECORDING_PLACE_BYTES, "device %u, stream %u", device, stream);
}

void recording_place(const struct recording_job *job, char ret[RECORDING_PLACE_BYTES])
{
	const unsigned reactor = job->session->s.reactor;

	if (job->place >= QUOIT_TRACE_STREAM)
		place_of_stream(job->place - QUOIT_TRACE_STREAM, ret);
	else if (job->place >= QUOIT_TRACE_DEVICE)
		snprintf(ret, RECORDING_PLACE_BYTES, "device %u", job->place - QUOIT_TRACE_DEVICE);
	else if (job->place >= QUOIT_TRACE_MODULE)
		snprintf(ret, RECORDING_PLACE_BYTES, "module %u", job->place - QUOIT_TRACE_MODULE);
	else if (job->place == QUOIT_TRACE_BRIDGE)
		snprintf(ret, RECORDING_PLACE_BYTES, "bridge between devices");
	else if (job->place == QUOIT_TRACE_KERNEL)
		snprintf(ret, RECORDING_PLACE_BYTES, "files of reactor %u", reactor);
	else if (job->place == QUOIT_TRACE_WORKERS)
		snprintf(ret, RECORDING_PLACE_BYTES, "workers of reactor %u", reactor);
	else if (job->place == QUOIT_TRACE_REACTOR)
		snprintf(ret, RECORDING_PLACE_BYTES, "reactor %u", reactor);
	else
		snprintf(ret, RECORDING_PLACE_BYTES, "nowhere");
}

const char *recording_site(const struct recording_session *s, unsigned ring, unsigned site)
{
	if (!s->names || ring >= QUOIT_SITE_RINGS || site >= QUOIT_MAX_SITES ||
	    !*s->names->name[ring][site])
		return RECORDING_UNKNOWN;
	return s->names->name[ring][site];
}

/* ---- numbers ---- */

/* No count of anything: JSON's readers have 63 bits. */
static void limit(uint64_t *n)
{
	if (*n > INT64_MAX)
		*n = INT64_MAX;
}

static void limit_session(struct trace_session *s)
{
	limit(&s->dropped);
	limit(&s->events_dropped);
	limit(&s->lost);
	limit(&s->unwritten);
}

static void limit_end(struct trace_end *e)
{
	limit(&e->dropped);
	limit(&e->events_dropped);
	limit(&e->lost);
	limit(&e->unwritten);
	limit(&e->bytes);
	limit(&e->cpu_ns);
	limit(&e->wall_ns);
}

/* ---- sessions ---- */

/* Where it is, or would be. */
static unsigned place_of(const struct recording *rec, uint64_t number)
{
	unsigned low = 0, high = rec->sessions;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (rec->session[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct recording_session *recording_find(const struct recording *rec, uint64_t number)
{
	unsigned i = place_of(rec, number);

	return i < rec->sessions && rec->session[i].number == number ? &rec->session[i] : NULL;
}

static bool grow(struct recording *rec)
{
	unsigned room = rec->room ? 2 * rec->room : 16;
	void *more = room <= RECORDING_MOST_SESSIONS
			     ? realloc(rec->session, room * sizeof *rec->session)
			     : NULL;

	if (!more)
		return false;
	rec->session = more;
	rec->room = room;
	return true;
}

/* NULL: there are too many. */
static struct recording_session *insert(struct recording *rec, uint64_t number)
{
	unsigned i = place_of(rec, number);

	if (i < rec->sessions && rec->session[i].number == number)
		return &rec->session[i];
	if (rec->sessions == rec->room && !grow(rec))
		return NULL;
	memmove(&rec->session[i + 1], &rec->session[i],
		(rec->sessions - i) * sizeof rec->session[0]);
	rec->sessions++;
	rec->session[i] = (struct recording_session){.number = number};
	return &rec->session[i];
}

static void take_session(struct recording *rec, const struct trace_chunk *chunk,
			 const void *payload)
{
	struct recording_session *s = NULL;
	char name[sizeof s->s.name + 1] = "";

	if (chunk->bytes >= sizeof s->s)
		s = insert(rec, chunk->session);
	if (!s) {
		rec->foreign++;
		return;
	}
	memcpy(&s->s, payload, sizeof s->s);
	limit_session(&s->s);
	memcpy(name, s->s.name, sizeof s->s.name);
	format_escape(name, s->name, sizeof s->name);
}

static int take_sites(struct recording *rec, const struct trace_chunk *chunk, const void *payload)
{
	struct recording_session *s = recording_find(rec, chunk->session);
	const struct trace_site *site = payload;

	if (!s) {
		rec->foreign++;
		return 0;
	}
	if (!s->names)
		s->names = calloc(1, sizeof *s->names);
	if (!s->names)
		return -ENOMEM;
	for (size_t i = 0; i < chunk->bytes / sizeof *site; i++)
		if (site[i].ring < QUOIT_SITE_RINGS && site[i].site < QUOIT_MAX_SITES)
			memcpy(s->names->name[site[i].ring][site[i].site], site[i].name,
			       sizeof site[i].name);
	return 0;
}

/* ---- times ---- */

/* Negative: before the recording; -MOST_NS: nobody knows when. */
static int64_t time_of(const struct recording *rec, uint64_t tsc)
{
	double ns = (double)(int64_t)(tsc - rec->header.tsc) * rec->tick_ns;

	return ns > -(double)MOST_NS && ns < (double)MOST_NS ? (int64_t)ns : -MOST_NS;
}

/* The moment of a step of a job's: that of the one before where it has none, or a wrong one. */
static int64_t step(const struct recording *rec, uint64_t tsc, int64_t before)
{
	int64_t at = tsc ? time_of(rec, tsc) : before;

	return at > before ? at : before;
}

static bool is_within(const struct recording *rec, int64_t at)
{
	return at >= -SLACK && at <= (rec->span_ns ? rec->span_ns + SLACK : MOST_NS);
}

/* ---- records ---- */

static bool take_job(const struct recording *rec, const struct quoit_trace_record *from,
		     struct recording_session *s, struct recording_job *ret)
{
	const struct quoit_trace_job *j = &from->job;
	int64_t fetch = time_of(rec, j->fetch);

	*ret = (struct recording_job){.session = s,
				      .ring = from->ring,
				      .opcode = from->opcode,
				      .place = from->place,
				      .quiet = from->kind == QUOIT_TRACE_QUIET,
				      .failed = from->res < 0,
				      .ran = from->place != QUOIT_TRACE_NOWHERE,
				      .res = from->res,
				      .sq_index = j->sq_index,
				      .cq_index = j->cq_index};
	if (!j->fetch || fetch == -MOST_NS || from->ring >= QUOIT_MAX_RINGS)
		return false;
	ret->fetch = fetch;
	ret->data = step(rec, j->data, fetch);
	ret->memory = step(rec, j->memory, ret->data);
	ret->start = step(rec, j->start, ret->memory);
	ret->end = step(rec, j->end, ret->start);
	ret->post = step(rec, j->post, ret->end);
	return is_within(rec, ret->post); /* it may be older than the recording */
}

static bool take_event(const struct recording *rec, const struct quoit_trace_record *from,
		       unsigned i, struct recording_session *s, struct recording_event *ret)
{
	const struct quoit_trace_event *e = &from->event[i];

	*ret = (struct recording_event){.session = s,
					.ring = from->ring,
					.kind = e->kind,
					.site = e->site,
					.index = e->index,
					.at = time_of(rec, e->tsc)};
	return e->kind != QUOIT_EVENT_NONE && e->kind <= QUOIT_EVENT_GO &&
	       from->ring < QUOIT_MAX_RINGS && is_within(rec, ret->at);
}

static void visit_record(struct recording *rec, const struct quoit_trace_record *record,
			 struct recording_session *s, const struct recording_visitor *v)
{
	struct recording_job job;
	struct recording_event event;
	struct recording_counts counts = {.session = s, .c = record->counts};
	unsigned events = record->kind == QUOIT_TRACE_CLIENT ? record->opcode : 0;

	if (record->kind == QUOIT_TRACE_JOB || record->kind == QUOIT_TRACE_QUIET) {
		if (!take_job(rec, record, s, &job))
			rec->damaged++;
		else if (v->job)
			v->job(&job, v->arg);
	} else if (record->kind == QUOIT_TRACE_COUNTS) {
		counts.at = time_of(rec, record->counts.tsc);
		limit(&counts.c.host_used);
		limit(&counts.c.device_used);
		if (!is_within(rec, counts.at))
			rec->damaged++;
		else if (v->counts)
			v->counts(&counts, v->arg);
	}
	for (unsigned i = 0; i < events && i < QUOIT_TRACE_EVENTS; i++)
		if (!take_event(rec, record, i, s, &event))
			rec->damaged++;
		else if (v->event)
			v->event(&event, v->arg);
}

static void visit_records(struct recording *rec, const struct trace_chunk *chunk,
			  const void *payload, const struct recording_visitor *v)
{
	struct recording_session *s = recording_find(rec, chunk->session);
	const struct quoit_trace_record *record = payload;

	if (!s) {
		rec->foreign++;
		return;
	}
	for (size_t i = 0; i < chunk->bytes / sizeof *record; i++)
		visit_record(rec, &record[i], s, v);
}

static void visit_totals(struct recording *rec, const struct trace_chunk *chunk,
			 const void *payload, const struct recording_visitor *v)
{
	const struct trace_totals *from = payload;
	const uint8_t *at = (const uint8_t *)payload + sizeof *from;
	struct recording_totals t;

	if (chunk->bytes < sizeof *from || from->reactors > QUOIT_MAX_REACTORS ||
	    from->cores > QUOIT_MAX_CORES ||
	    chunk->bytes - sizeof *from < from->reactors * sizeof(struct trace_reactor) +
						  from->cores * sizeof(struct trace_core)) {
		rec->damaged++;
		return;
	}
	t = (struct recording_totals){
		.at = time_of(rec, from->tsc),
		.reactors = from->reactors,
		.cores = from->cores,
		.reactor = (const struct trace_reactor *)at,
		.core = (const struct trace_core *)(at +
						    from->reactors * sizeof(struct trace_reactor))};
	if (!is_within(rec, t.at))
		rec->damaged++;
	else if (v->totals)
		v->totals(&t, v->arg);
}

int recording_visit(struct trace_reader *r, struct recording *rec,
		    const struct recording_visitor *v)
{
	struct trace_chunk chunk;
	int more;

	rec->damaged = rec->foreign = 0;
	trace_reader_rewind(r);
	while ((more = trace_reader_next(r, &chunk)) == 1) {
		if (chunk.type == TRACE_RECORDS)
			visit_records(rec, &chunk, r->payload, v);
		else if (chunk.type == TRACE_TOTALS)
			visit_totals(rec, &chunk, r->payload, v);
	}
	return more;
}

/* ---- the first look ---- */

static int take_rest(struct trace_reader *r, struct recording *rec)
{
	struct trace_chunk chunk;
	int more, err = 0;

	while (!err && (more = trace_reader_next(r, &chunk)) == 1) {
		if (chunk.type == TRACE_SESSION) {
			take_session(rec, &chunk, r->payload);
		} else if (chunk.type == TRACE_SITES) {
			err = take_sites(rec, &chunk, r->payload);
		} else if (chunk.type == TRACE_END && chunk.bytes >= sizeof rec->end) {
			memcpy(&rec->end, r->payload, sizeof rec->end);
			limit_end(&rec->end);
			rec->ended = true;
		}
	}
	return err ? err : more;
}

struct look {
	struct recording *rec;
	int64_t last;
};

static void look_until(struct look *l, int64_t at)
{
	l->last = at > l->last ? at : l->last;
}

static void look_at_job(const struct recording_job *job, void *arg)
{
	struct look *l = arg;

	l->rec->jobs++;
	job->session->jobs++;
	job->session->failed += job->failed;
	job->session->rings |= UINT64_C(1) << job->ring;
	look_until(l, job->post);
}

static void look_at_event(const struct recording_event *event, void *arg)
{
	struct look *l = arg;

	l->rec->events++;
	event->session->events++;
	event->session->rings |= UINT64_C(1) << event->ring;
}

static void look_at_counts(const struct recording_counts *counts, void *arg)
{
	look_until(arg, counts->at);
}

static void look_at_totals(const struct recording_totals *totals, void *arg)
{
	struct look *l = arg;

	l->rec->samples++;
	look_until(l, totals->at);
}

int recording_load(struct trace_reader *r, struct recording *ret)
{
	struct look look = {.rec = ret};
	const struct recording_visitor v = {look_at_job, look_at_event, look_at_counts,
					    look_at_totals, &look};
	int64_t end;
	int err;

	*ret = (struct recording){.header = r->header, .tick_ns = 1e9 / (double)r->header.tsc_hz};
	trace_reader_rewind(r);
	err = take_rest(r, ret);
	if (err)
		return err;
	end = ret->ended ? time_of(ret, ret->end.tsc) : 0;
	ret->span_ns = end > 0 ? end : 0;
	err = recording_visit(r, ret, &v);
	if (!ret->span_ns)
		ret->span_ns = look.last > 0 ? look.last : 1;
	return err;
}

void recording_free(struct recording *rec)
{
	for (unsigned i = 0; i < rec->sessions; i++)
		free(rec->session[i].names);
	free(rec->session);
	*rec = (struct recording){0};
}
