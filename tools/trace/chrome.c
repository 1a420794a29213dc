/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - write a recording as JSON in Chrome's trace event format, which Perfetto reads.
 *
 * Each session is a process there, and so is quoitd; a track is a thread there.  Slices of a track
 * must not overlap.  So a ring's jobs are in several lanes, which are tracks of the same name; jobs
 * without a free lane become asynchronous events.  Arrows end at slices, so a submit is a slice,
 * too.
 */
#include "chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chrome_private.h"
#include "text.h"

unsigned chrome_process(const struct chrome *c, const struct recording_session *s)
{
	return FIRST + (unsigned)(s - c->rec->session);
}

struct ring_tracks *chrome_ring(struct chrome *c, const struct recording_session *s, unsigned ring)
{
	struct ring_tracks **at = &c->ring[s - c->rec->session][ring];

	if (!*at)
		*at = calloc(1, sizeof **at);
	c->failed |= !*at;
	return *at;
}

static void name_processes(struct chrome *c)
{
	char name[320];

	chrome_name_one(c, "process_name", QUOITD, 0, "quoitd");
	chrome_order_one(c, "process_sort_index", QUOITD, 0, QUOITD);
	for (unsigned i = 0; i < c->rec->sessions; i++) {
		const struct recording_session *s = &c->rec->session[i];

		snprintf(name, sizeof name, "session %" PRIu64 " %s (PID %" PRIu32 ")", s->number,
			 s->name, s->s.pid);
		chrome_name_one(c, "process_name", FIRST + i, 0, name);
		chrome_order_one(c, "process_sort_index", FIRST + i, 0, FIRST + i);
	}
}

/* Tracks of one reactor are together; the executors' tracks follow behind all of these. */
static unsigned index_of(const struct place_track *place)
{
	return place->place < QUOIT_TRACE_BRIDGE
		       ? place->reactor * QUOIT_TRACE_BRIDGE + place->place
		       : UINT16_MAX + place->place;
}

/* NULL: there are too many tracks. */
static struct place_track *place_of(struct chrome *c, const struct recording_job *job)
{
	unsigned reactor = job->place < QUOIT_TRACE_BRIDGE ? job->session->s.reactor : 0;

	for (unsigned i = 0; i < c->places; i++)
		if (c->place[i].place == job->place && c->place[i].reactor == reactor)
			return &c->place[i];
	if (c->places == TRACKS)
		return NULL;
	c->place[c->places] = (struct place_track){.place = job->place, .reactor = reactor};
	return &c->place[c->places++];
}

/* ---- jobs ---- */

/* A point on the way of an arrow. */
struct point {
	unsigned process, track;
	int64_t at;
};

static void put_arrow(struct chrome *c, const struct point *point, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		bool last = i + 1 == count;

		chrome_begin(c, i == 0 ? 's' : last ? 'f' : 't', point[i].process, point[i].track);
		chrome_put_time(c->out, "ts", point[i].at);
		fprintf(c->out,
			"%s,\"id\":%" PRIu64 ",\"cat\":\"arrow\",\"name\":\"submit to reap\"",
			last ? ",\"bp\":\"e\"" : "", c->flows);
		chrome_end(c);
	}
	c->flows += count > 0;
}

static void put_phase(FILE *out, const char *name, int64_t ns)
{
	if (ns > 0)
		fprintf(out, ",\"%s_us\":%" PRId64 ".%03d", name, ns / 1000, (int)(ns % 1000));
}

static void put_job_args(struct chrome *c, const struct recording_job *job)
{
	fprintf(c->out, ",\"args\":{\"sq_index\":%" PRIu32, job->sq_index);
	if (job->failed)
		fprintf(c->out, ",\"error\":%" PRId64, -(int64_t)job->res);
	put_phase(c->out, "waited_data", job->data - job->fetch);
	put_phase(c->out, "waited_memory", job->memory - job->data);
	put_phase(c->out, "waited_turn", job->start - job->memory);
	put_phase(c->out, "ran", job->end - job->start);
	fputc('}', c->out);
}

/* Draw a job on its ring, from its fetch until its post. */
static bool put_on_ring(struct chrome *c, const struct recording_job *job, const char *operation,
			struct point *ret)
{
	struct ring_tracks *ring = chrome_ring(c, job->session, job->ring);
	unsigned process = chrome_process(c, job->session), track = TRACK_STEP * (job->ring + 1),
		 lane;
	int64_t to = job->post > job->fetch ? job->post : job->fetch + 1;
	char name[32];

	if (!ring)
		return false;
	lane = lanes_find(&ring->lanes, job->fetch, to);
	if (lane == LANES) {
		for (unsigned i = 0; i < 2; i++) {
			chrome_begin(c, i ? 'e' : 'b', process, track);
			chrome_put_time(c->out, "ts", i ? to : job->fetch);
			fprintf(c->out, ",\"cat\":\"ring %u, more\",\"id\":%" PRIu64, job->ring,
				c->flows + 1);
			chrome_put_name(c, operation);
			if (!i)
				put_job_args(c, job);
			chrome_end(c);
		}
		c->flows++;
		return false;
	}
	snprintf(name, sizeof name, "ring %u", job->ring);
	chrome_name_track(c, &ring->named[lane], process, track + lane, track + lane, name);
	chrome_begin_slice(c, process, track + lane, job->fetch, to, operation);
	put_job_args(c, job);
	chrome_end(c);
	*ret = (struct point){process, track + lane, job->fetch};
	return true;
}

/* Draw a job on the place where it ran, while it ran. */
static bool put_on_place(struct chrome *c, const struct recording_job *job, const char *operation,
			 struct point *ret)
{
	/* A service has a track for each process. */
	const bool elsewhere = job->place == QUOIT_TRACE_SERVICE && chrome_asked(c, job);
	struct place_track *place = job->ran && !elsewhere ? place_of(c, job) : NULL;
	int64_t to = job->end > job->start ? job->end : job->start + 1;
	char name[RECORDING_PLACE_BYTES];
	unsigned lane, track;

	if (!place)
		return false;
	lane = lanes_find(&place->lanes, job->start, to);
	if (lane == LANES)
		return false;
	track = TRACK_STEP * (unsigned)(place - c->place + 1) + lane;
	recording_place(job, name);
	chrome_name_track(c, &place->named[lane], QUOITD, track, index_of(place), name);
	chrome_begin_slice(c, QUOITD, track, job->start, to, operation);
	fprintf(c->out, ",\"args\":{\"session\":%" PRIu64 ",\"ring\":%u}", job->session->number,
		job->ring);
	chrome_end(c);
	*ret = (struct point){QUOITD, track, job->start};
	return true;
}

static void put_job(const struct recording_job *job, void *arg)
{
	struct chrome *c = arg;
	struct point point[4];
	unsigned n = 0, client = TRACK_STEP * (job->ring + 1) + CLIENT_TRACK;
	unsigned process = chrome_process(c, job->session);
	char text[40];
	const char *asked = chrome_asked(c, job);
	const char *operation = asked ? asked : recording_operation(job->opcode, text, sizeof text);
	bool submitted = notes_submit(&c->notes, c->rec, job, &point[0].at);

	point[0].process = process;
	point[0].track = client;
	n = submitted;
	n += put_on_ring(c, job, operation, &point[n]);
	n += put_on_place(c, job, operation, &point[n]);
	if (n > submitted && notes_reap(&c->notes, c->rec, job, &point[n].at)) {
		point[n].process = process;
		point[n++].track = client;
	}
	if (submitted && n > 1)
		put_arrow(c, point, n);
}

/* ---- counters ---- */

static void begin_counter(struct chrome *c, unsigned process, int64_t at, const char *name)
{
	chrome_begin(c, 'C', process, 0);
	chrome_put_time(c->out, "ts", at);
	chrome_put_name(c, name);
}

static void put_counts(const struct recording_counts *counts, void *arg)
{
	struct chrome *c = arg;
	unsigned process = chrome_process(c, counts->session);
	const struct quoit_trace_counts *n = &counts->c;

	begin_counter(c, process, counts->at, "jobs");
	fprintf(c->out, ",\"args\":{\"open\":%" PRIu32 ",\"running\":%" PRIu32 "}", n->open,
		n->running);
	chrome_end(c);
	begin_counter(c, process, counts->at, "queue depth");
	fprintf(c->out, ",\"args\":{\"SQ\":%" PRIu32 ",\"CQ\":%" PRIu32 "}", n->sq_depth,
		n->cq_depth);
	chrome_end(c);
	begin_counter(c, process, counts->at, "memory");
	fprintf(c->out, ",\"args\":{\"host\":%" PRIu64 ",\"devices\":%" PRIu64 "}", n->host_used,
		n->device_used);
	chrome_end(c);
}

static void put_totals(const struct recording_totals *totals, void *arg)
{
	struct chrome *c = arg;

	if (!work_next(&c->work, totals))
		return;
	begin_counter(c, QUOITD, c->work.from, "cores at work");
	fprintf(c->out, ",\"args\":{\"tiles\":%.3f,\"reactors\":%.3f}", c->work.tiles,
		c->work.reacting);
	chrome_end(c);
	begin_counter(c, QUOITD, c->work.from, "cores polling");
	fprintf(c->out, ",\"args\":{\"reactors\":%.3f}", c->work.polling);
	chrome_end(c);
}

/* ---- all of it ---- */

static void put_all(struct chrome *c, struct trace_reader *r, int *ret_err)
{
	const struct recording_visitor v = {put_job, chrome_put_event, put_counts,      put_totals,
					    c,       chrome_put_hold,  chrome_put_named};
	const struct trace_header *h = &c->rec->header;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"machine\":", c->out);
	text_put_json(c->out, h->machine);
	fputs(",\"cpu\":", c->out);
	text_put_json(c->out, h->cpu);
	fputs(",\"command\":", c->out);
	text_put_json(c->out, h->command);
	fprintf(c->out, ",\"begun_ns\":\"%" PRIu64 "\",\"dropped\":%" PRIu64 ",\"lost\":%" PRIu64,
		h->real_ns, c->rec->end.dropped, c->rec->end.lost);
	fputs("},\"traceEvents\":[", c->out);
	name_processes(c);
	*ret_err = recording_visit(r, c->rec, &v);
	chrome_put_last_events(c);
	fputs("\n]}\n", c->out);
}

int chrome_write(struct trace_reader *r, struct recording *rec, FILE *out)
{
	struct chrome *c = calloc(1, sizeof *c);
	int err;

	if (!c)
		return -ENOMEM;
	c->out = out;
	c->rec = rec;
	c->first = true;
	c->work.tick_ns = rec->tick_ns;
	c->ring = calloc(rec->sessions ? rec->sessions : 1, sizeof *c->ring);
	err = notes_load(&c->notes, r, rec);
	if (!c->ring)
		err = -ENOMEM;
	if (!err)
		put_all(c, r, &err);
	if (!err && c->failed)
		err = -ENOMEM;
	for (unsigned i = 0; c->ring && i < rec->sessions; i++)
		for (unsigned k = 0; k < QUOIT_MAX_RINGS; k++)
			free(c->ring[i][k]);
	free(c->ring);
	notes_free(&c->notes);
	free(c);
	return err;
}
