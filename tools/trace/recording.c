/* SPDX-License-Identifier: MIT */
/* recording.c - read the contents of a recording in order: jobs, events, counts, totals */
#include "recording_private.h"

#include <string.h>

/*
 * 46 days: times of a longer recording are not credible, and up to here microseconds have three
 * exact decimals.
 */
#define MOST_NS INT64_C(4000000000000000)
/* the TSCs of cores differ, and a session's file begins a little later */
#define SLACK   INT64_C(1000000)

/* ---- times ---- */

/* Negative: before the recording; -MOST_NS: not known. */
static int64_t time_of(const struct recording *rec, uint64_t tsc)
{
	double ns = (double)(int64_t)(tsc - rec->header.tsc) * rec->tick_ns;

	return ns > -(double)MOST_NS && ns < (double)MOST_NS ? (int64_t)ns : -MOST_NS;
}

/*
 * The time of one step of a job.  If it is missing or before the last step, the last step's time.
 */
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
				      .ran = from->place != QUOIT_TRACE_NOWHERE &&
					     from->place != QUOIT_TRACE_SYNC,
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
	return is_within(rec, ret->post); /* it may be from before the recording */
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

static bool take_hold(const struct recording *rec, const struct quoit_trace_record *from,
		      struct recording_session *s, struct recording_hold *ret)
{
	const struct quoit_trace_hold *h = &from->hold;

	*ret = (struct recording_hold){.session = s,
				       .ring = from->ring,
				       .site = h->site,
				       .write = from->opcode == QUOIT_OP_ACQUIRE_WRITE,
				       .sq_index = h->sq_index,
				       .granted = time_of(rec, h->granted)};
	if (!h->granted || ret->granted == -MOST_NS || from->ring >= QUOIT_MAX_RINGS)
		return false;
	ret->released = step(rec, h->released, ret->granted);
	ret->awaited = h->awaited ? step(rec, h->awaited, ret->granted) : ret->released;
	ret->awaited = ret->awaited < ret->released ? ret->awaited : ret->released;
	return is_within(rec, ret->released);
}

static bool take_named(const struct recording *rec, const struct quoit_trace_record *from,
		       struct recording_session *s, struct recording_named *ret)
{
	const struct quoit_trace_named *n = &from->named;
	double stalled_ns = (double)n->stalled * rec->tick_ns;

	*ret = (struct recording_named){.session = s,
					.ring = from->ring,
					.kind = n->kind,
					.function = n->function,
					.sq_index = n->sq_index,
					.number = n->number,
					.pid = n->pid,
					.res = from->res,
					.asked = time_of(rec, n->asked)};
	if (!n->asked || ret->asked == -MOST_NS || from->ring >= QUOIT_MAX_RINGS ||
	    n->kind >= QUOIT_SYNC_NR)
		return false;
	ret->began = step(rec, n->began, ret->asked);
	ret->ended = step(rec, n->ended, ret->began);
	ret->stalled_ns = ret->began - ret->asked;
	if (stalled_ns < (double)ret->stalled_ns)
		ret->stalled_ns = (int64_t)stalled_ns;
	return is_within(rec, ret->ended);
}

static void visit_named(struct recording *rec, const struct quoit_trace_record *record,
			struct recording_session *s, const struct recording_visitor *v)
{
	struct recording_named named;

	if (!take_named(rec, record, s, &named))
		rec->damaged++;
	else if (v->named)
		v->named(&named, v->arg);
}

static void visit_record(struct recording *rec, const struct quoit_trace_record *record,
			 struct recording_session *s, const struct recording_visitor *v)
{
	struct recording_job job;
	struct recording_event event;
	struct recording_hold hold;
	struct recording_counts counts = {.session = s, .c = record->counts};
	unsigned events = record->kind == QUOIT_TRACE_CLIENT ? record->opcode : 0;

	if (record->kind == QUOIT_TRACE_JOB || record->kind == QUOIT_TRACE_QUIET) {
		if (!take_job(rec, record, s, &job))
			rec->damaged++;
		else if (v->job)
			v->job(&job, v->arg);
	} else if (record->kind == QUOIT_TRACE_HOLD) {
		if (!take_hold(rec, record, s, &hold))
			rec->damaged++;
		else if (v->hold)
			v->hold(&hold, v->arg);
	} else if (record->kind == QUOIT_TRACE_NAMED) {
		visit_named(rec, record, s, v);
	} else if (record->kind == QUOIT_TRACE_COUNTS) {
		counts.at = time_of(rec, record->counts.tsc);
		recording_limit(&counts.c.host_used);
		recording_limit(&counts.c.device_used);
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

static void limit_end(struct trace_end *e)
{
	recording_limit(&e->dropped);
	recording_limit(&e->events_dropped);
	recording_limit(&e->lost);
	recording_limit(&e->unwritten);
	recording_limit(&e->bytes);
	recording_limit(&e->cpu_ns);
	recording_limit(&e->wall_ns);
}

static int take_rest(struct trace_reader *r, struct recording *rec)
{
	struct trace_chunk chunk;
	int more, err = 0;

	while (!err && (more = trace_reader_next(r, &chunk)) == 1) {
		if (chunk.type == TRACE_SESSION) {
			recording_take_session(rec, &chunk, r->payload);
		} else if (chunk.type == TRACE_SITES) {
			err = recording_take_sites(rec, &chunk, r->payload);
		} else if (chunk.type == TRACE_NAMES) {
			err = recording_take_names(rec, &chunk, r->payload);
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
