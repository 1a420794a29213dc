/* SPDX-License-Identifier: MIT */
/* page_data.c - write a recording's data as JSON: figures, and the longest jobs and waits */
#include "page_data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"

struct page_data {
	FILE *out;
	struct trace_reader *reader;
	struct recording *rec;
	const struct summary *summary;
	bool first; /* in a list */
	uint64_t slices, waits;
	struct summary_choice choice;
	struct summary_waits waiting;
	int err;
};

/* ---- small parts ---- */

static void key(struct page_data *p, const char *name)
{
	fprintf(p->out, "%s\n\"%s\":", p->first ? "" : ",", name);
	p->first = false;
}

static void put_count(struct page_data *p, const char *name, uint64_t value)
{
	key(p, name);
	fprintf(p->out, "%" PRIu64, value);
}

static void put_text(struct page_data *p, const char *name, const char *text)
{
	key(p, name);
	text_put_json(p->out, text);
}

static void next(struct page_data *p)
{
	fputs(p->first ? "" : ",", p->out);
	p->first = false;
}

static void open_list(struct page_data *p, const char *name, char bracket)
{
	key(p, name);
	fputc(bracket, p->out);
	p->first = true;
}

static void close_list(struct page_data *p, char bracket)
{
	fputc(bracket, p->out);
	p->first = false;
}

/* Numbers that integers of some readers cannot hold get an exponent. */
static void put_number(struct page_data *p, double value)
{
	fprintf(p->out, value < 1e15 ? "%.0f" : "%.4g", value);
}

/* Few digits: more would not be visible. */
static void put_bins(struct page_data *p, const char *name, const double value[SUMMARY_BINS])
{
	open_list(p, name, '[');
	for (unsigned i = 0; i < SUMMARY_BINS; i++) {
		next(p);
		if (value[i] > 1e5)
			put_number(p, value[i]);
		else
			fprintf(p->out, "%.4g", value[i]);
	}
	close_list(p, ']');
}

/* ---- the recording itself ---- */

static void put_begin(struct page_data *p)
{
	time_t begun = (time_t)(p->rec->header.real_ns / 1000000000u);
	struct tm tm;
	char text[64] = "?";

	if (gmtime_r(&begun, &tm))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &tm);
	put_text(p, "begun", text);
}

static void put_head(struct page_data *p)
{
	const struct trace_header *h = &p->rec->header;
	const struct trace_end *e = &p->rec->end;

	put_text(p, "command", h->command);
	put_text(p, "machine", h->machine);
	put_text(p, "system", h->system);
	put_text(p, "cpu", h->cpu);
	put_text(p, "version", QUOIT_VERSION);
	put_begin(p);
	put_count(p, "cpus", h->cpus);
	put_count(p, "span", (uint64_t)p->rec->span_ns);
	put_count(p, "bins", SUMMARY_BINS);
	put_count(p, "sessions", p->rec->sessions);
	put_count(p, "jobs", p->rec->jobs);
	put_count(p, "events", p->rec->events);
	put_count(p, "ended", p->rec->ended && !p->reader->cut);
	put_count(p, "dropped", e->dropped);
	put_count(p, "eventsDropped", e->events_dropped);
	put_count(p, "lost", e->lost);
	put_count(p, "unwritten", e->unwritten);
	put_count(p, "damaged", p->rec->damaged + p->rec->foreign);
	put_count(p, "daemonDied", (e->how & TRACE_DAEMON_DIED) != 0);
	put_count(p, "bytes", e->bytes);
	put_count(p, "recorderCpu", e->cpu_ns);
	put_count(p, "recorderWall", e->wall_ns);
}

/* ---- sessions, operations ---- */

/* Write nanoseconds, with a comma before. */
static void put_time(struct page_data *p, double ns)
{
	fputc(',', p->out);
	put_number(p, ns);
}

static void put_operation(struct page_data *p, unsigned group, unsigned opcode,
			  const struct summary_operation *o)
{
	char text[40];

	next(p);
	fprintf(p->out, "\n[%u,", group);
	text_put_json(p->out, recording_operation(opcode, text, sizeof text));
	fprintf(p->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, o->jobs, o->failed, o->ran);
	put_time(p, o->run_ns);
	put_time(p, summary_percentile(o, 50));
	put_time(p, summary_percentile(o, 99));
	fprintf(p->out, ",%" PRId64, o->most_ns);
	put_time(p, o->data_ns);
	put_time(p, o->memory_ns);
	put_time(p, o->turn_ns);
	fputc(']', p->out);
}

static void put_operations(struct page_data *p)
{
	open_list(p, "operations", '[');
	for (unsigned g = 0; g < p->summary->groups; g++)
		for (unsigned i = 0; i < QUOIT_OP_NR; i++)
			if (p->summary->group[g].operation[i])
				put_operation(p, g, i, p->summary->group[g].operation[i]);
	close_list(p, ']');
}

static void put_group(struct page_data *p, const struct summary_group *g, bool all)
{
	static const char *const names[SUMMARY_SERIES] = {"open", "running", "sq",
							  "cq",   "host",    "device"};
	char text[64];

	next(p);
	fputs("\n{", p->out);
	p->first = true;
	if (g->session) {
		put_text(p, "name", g->session->name);
		snprintf(text, sizeof text, "%" PRIu64, g->session->number);
		put_text(p, "number", text);
		put_count(p, "pid", g->session->s.pid);
		put_count(p, "uid", g->session->s.uid);
		put_count(p, "dropped", g->session->s.dropped);
	} else {
		snprintf(text, sizeof text, all ? "all sessions" : "%u others", g->sessions);
		put_text(p, "name", text);
	}
	put_count(p, "jobs", g->jobs);
	put_count(p, "failed", g->failed);
	for (unsigned i = 0; i < SUMMARY_SERIES; i++)
		put_bins(p, names[i], g->series[i]);
	close_list(p, '}');
}

static void put_groups(struct page_data *p)
{
	open_list(p, "groups", '[');
	for (unsigned i = 0; i < p->summary->groups; i++)
		put_group(p, &p->summary->group[i], i == SUMMARY_ALL);
	close_list(p, ']');
}

/* ---- tracks, cores ---- */

static void put_track(struct page_data *p, const struct summary_track *t)
{
	static const char *const kinds[] = {"ring", "client", "place"};
	double bins[SUMMARY_BINS];

	next(p);
	fputs("\n{", p->out);
	p->first = true;
	put_text(p, "name", t->name);
	put_text(p, "kind", kinds[t->kind]);
	put_count(p, "group",
		  t->session ? p->summary->group_of[t->session - p->rec->session] : SUMMARY_ALL);
	if (t->session) {
		char number[24];

		snprintf(number, sizeof number, "%" PRIu64, t->session->number);
		put_text(p, "session", number);
		put_text(p, "sessionName", t->session->name);
	}
	summary_density(&t->density, bins);
	put_bins(p, "density", bins);
	close_list(p, '}');
}

static void put_tracks(struct page_data *p)
{
	open_list(p, "tracks", '[');
	for (unsigned i = 0; i < p->summary->tracks; i++)
		put_track(p, &p->summary->track[i]);
	close_list(p, ']');
	put_count(p, "trackless", p->summary->trackless);
}

/* Write percent, for a strip of colour. */
static void put_shares(struct page_data *p, const struct summary_cores *c)
{
	open_list(p, "shares", '[');
	for (unsigned i = 0; i < c->cores; i++) {
		next(p);
		fprintf(p->out, "\n{\"cpu\":%" PRId32 ",\"of\":[", c->cpu[i]);
		for (unsigned bin = 0; bin < SUMMARY_BINS; bin++)
			fprintf(p->out, "%s%.0f", bin ? "," : "", 100 * (double)c->share[i][bin]);
		fputs("]}", p->out);
	}
	close_list(p, ']');
}

static void put_cores(struct page_data *p)
{
	const struct summary_cores *c = &p->summary->cores;

	open_list(p, "cores", '{');
	put_count(p, "samples", p->rec->samples);
	put_count(p, "reactors", c->reactors);
	put_count(p, "cores", c->cores);
	put_bins(p, "tiles", c->tiles);
	put_bins(p, "reacting", c->reacting);
	put_bins(p, "polling", c->polling);
	put_bins(p, "known", c->time);
	put_shares(p, c);
	close_list(p, '}');
}

/* ---- what programs held ---- */

static void put_held(struct page_data *p)
{
	open_list(p, "held", '[');
	for (unsigned i = 0; i < p->summary->helds; i++) {
		const struct summary_held *h = &p->summary->held[i];

		next(p);
		fputs("\n[", p->out);
		text_put_json(p->out, recording_site(h->session, h->ring, h->site));
		fprintf(p->out, ",%" PRIu64 ",%" PRId64 ",%" PRId64 "]", h->holds, h->held_ns,
			h->awaited_ns);
	}
	close_list(p, ']');
}

/* ---- waits for others ---- */

static void put_named(struct page_data *p)
{
	char text[RECORDING_NAMED_BYTES];

	open_list(p, "named", '[');
	for (unsigned i = 0; i < p->summary->named; i++) {
		const struct summary_named *n = &p->summary->named_wait[i];

		next(p);
		recording_waits(p->summary->rec, &n->first, text);
		fputs("\n[", p->out);
		text_put_json(p->out, text);
		fprintf(p->out, ",%" PRIu64 ",%" PRId64 ",%" PRId64 "]", n->times, n->waited_ns,
			n->stalled_ns);
	}
	close_list(p, ']');
}

/* ---- jobs and waits, one by one ---- */

static int64_t from_begin(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

/* Write eight numbers: track of its ring, place, operation, times, result. */
static void put_slice(const struct recording_job *job, void *arg)
{
	struct page_data *p = arg;
	const struct summary *s = p->summary;
	int64_t fetch = from_begin(job->fetch), start = from_begin(job->start),
		end = from_begin(job->end), post = from_begin(job->post);

	if (!summary_is_chosen(&p->choice, job->post - job->fetch))
		return;
	next(p);
	fprintf(p->out, "%d,%d,%u,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId32,
		summary_ring_track(s, job->session, job->ring, SUMMARY_RING),
		summary_place_track(s, job), job->opcode, fetch, start - fetch, end - start,
		post - end, job->res);
	p->slices++;
}

/* Write four numbers: track, begin, duration, and ring and site combined. */
static void put_wait(const struct recording_event *event, void *arg)
{
	struct page_data *p = arg;
	struct summary_wait wait;

	if (!summary_wait(&p->waiting, p->rec, event, &wait) ||
	    !summary_is_chosen(&p->choice, event->at - wait.at))
		return;
	next(p);
	fprintf(p->out, "%d,%" PRId64 ",%" PRId64 ",%u",
		summary_ring_track(p->summary, event->session, event->ring, SUMMARY_CLIENT),
		from_begin(wait.at),
		event->at - from_begin(wait.at) > 0 ? event->at - from_begin(wait.at) : 0,
		wait.site);
	p->waits++;
}

static void put_slices(struct page_data *p)
{
	const struct recording_visitor jobs = {.job = put_slice, .arg = p};
	const struct recording_visitor events = {.event = put_wait, .arg = p};
	const unsigned sessions = p->rec->sessions ? p->rec->sessions : 1;

	summary_choose(&p->choice, p->summary->job_bucket, SUMMARY_SLICES);
	open_list(p, "slices", '[');
	p->err = recording_visit(p->reader, p->rec, &jobs);
	close_list(p, ']');
	p->waiting.wait = calloc(sessions, sizeof *p->waiting.wait);
	summary_choose(&p->choice, p->summary->wait_bucket, SUMMARY_WAITS);
	open_list(p, "waits", '[');
	if (p->waiting.wait && !p->err)
		p->err = recording_visit(p->reader, p->rec, &events);
	close_list(p, ']');
	p->err = p->waiting.wait ? p->err : -ENOMEM;
	free(p->waiting.wait);
	put_count(p, "slicesShown", p->slices);
	put_count(p, "waitsShown", p->waits);
	put_count(p, "waitsAll", p->summary->waits);
}

/* Write the names that waits use, by track and site, and of operations, by number. */
static void put_names(struct page_data *p)
{
	char text[40];

	open_list(p, "sites", '{');
	for (unsigned i = 0; i < p->summary->tracks; i++) {
		const struct summary_track *t = &p->summary->track[i];

		for (unsigned site = 1; t->kind == SUMMARY_CLIENT && site < QUOIT_MAX_SITES;
		     site++) {
			const char *name = recording_site(t->session, t->ring, site);

			snprintf(text, sizeof text, "%u/%u", i, site);
			if (strcmp(name, RECORDING_UNKNOWN) != 0)
				put_text(p, text, name);
		}
	}
	close_list(p, '}');
	open_list(p, "names", '{');
	for (unsigned i = 0; i < QUOIT_OP_NR; i++) {
		char number[8];

		snprintf(number, sizeof number, "%u", i);
		if (p->summary->group[SUMMARY_ALL].operation[i])
			put_text(p, number, recording_operation(i, text, sizeof text));
	}
	close_list(p, '}');
}

/* ---- all ---- */

int page_data_write(struct trace_reader *r, struct recording *rec, const struct summary *s,
		    FILE *out)
{
	struct page_data p = {.out = out, .reader = r, .rec = rec, .summary = s};

	fputc('{', out);
	p.first = true;
	put_head(&p);
	put_groups(&p);
	put_operations(&p);
	put_tracks(&p);
	put_cores(&p);
	put_held(&p);
	put_named(&p);
	put_names(&p);
	put_slices(&p);
	fputs("}\n", out);
	return p.err;
}
