/* SPDX-License-Identifier: MIT */
/* collect_sessions.c - write the metrics of single sessions */
#include "collect_sessions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect_buckets.h"
#include "metrics.h"
#include "read/format.h"
#include "read/latency.h"

/* ---- choice ---- */

struct candidate {
	const struct session_row *row;
	double busy;
};

struct choice {
	struct candidate *list; /* the busiest first */
	size_t count;           /* how many of these are exported */
	uint64_t left_out;      /* how many are not */
	struct latency latency; /* of one session at a time */
};

static int by_busy(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int order = (x->busy < y->busy) - (x->busy > y->busy);

	return order ? order
		     : (x->row->s.session > y->row->s.session) -
			       (x->row->s.session < y->row->s.session);
}

/* Choose open sessions of this quoitd; files of a former quoitd may still be there. */
static void choose(struct choice *c, const struct sessions *s, const struct user_sums *known,
		   unsigned most)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct counters_session *one = &s->list[i].s;

		if (!one->ended && counters_is_of(one, &s->totals))
			c->list[c->count++] = (struct candidate){
				&s->list[i], user_sums_busy(known, one->session)};
	}
	qsort(c->list, c->count, sizeof *c->list, by_busy);
	if (c->count > most) {
		c->left_out = c->count - most;
		c->count = most;
	}
}

static void write_left_out(struct exposition *e, const struct sessions *s, uint64_t left_out)
{
	const struct {
		const char *reason;
		uint64_t count;
	} rows[] = {{"unreadable", s->unreadable}, {"damaged", s->damaged}, {"too_many", left_out}};

	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_sessions_not_exported",
			   .type = EXPOSITION_GAUGE,
			   .help = "Open sessions without series of their own, beyond the limit of "
				   "--sessions."});
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		exposition_count(e, (struct exposition_label[]){{"reason", rows[i].reason}, {0}},
				 rows[i].count);
}

/* ---- one session ---- */

struct identity {
	char session[24], uid[12], pid[12], name[FORMAT_CELL_BYTES];
	struct exposition_label labels[6];
};

/* A name may have any bytes, but readers reject a whole text that is not UTF-8. */
static void identify(struct identity *id, const struct counters_session *s,
		     struct exposition_label own)
{
	snprintf(id->session, sizeof id->session, "%" PRIu64, s->session);
	snprintf(id->uid, sizeof id->uid, "%" PRIu32, s->uid);
	snprintf(id->pid, sizeof id->pid, "%" PRIu32, s->pid);
	format_escape(s->name, id->name, sizeof id->name);
	id->labels[0] = (struct exposition_label){"session", id->session};
	id->labels[1] = (struct exposition_label){"uid", id->uid};
	id->labels[2] = (struct exposition_label){"pid", id->pid};
	id->labels[3] = (struct exposition_label){"name", id->name};
	id->labels[4] = own;
	id->labels[5] = (struct exposition_label){0};
}

static void write_counters(struct exposition *e, const struct choice *c)
{
	struct identity id;

	for (const struct metric *m = metrics; m->help; m++)
		for (size_t i = 0; m->of == METRIC_OF_SESSION && i < c->count; i++) {
			const struct counters_session *s = &c->list[i].row->s;

			identify(&id, s, m->label);
			metrics_write(e, m, id.labels, s->value[m->counter], s->origin.tsc_hz);
		}
}

/* ---- its latency ---- */

/* A former quoitd may have left a file with the same number. */
static bool are_of(const struct latency *l, const struct counters_totals *t)
{
	return l->daemon_pid == t->origin.daemon_pid && l->started_ns >= t->origin.started_ns;
}

static void write_latency(struct exposition *e, struct choice *c, const struct counters_totals *t,
			  struct session_files *files)
{
	struct identity id;

	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_session_latency_seconds",
			   .type = EXPOSITION_HISTOGRAM,
			   .unit = "seconds",
			   .help = "Time that a session's jobs spend in each phase.  Measured on "
				   "one job in 64, which stands for all, and on long ones."});
	for (size_t i = 0; i < c->count; i++) {
		const struct counters_session *s = &c->list[i].row->s;

		if (latency_read(files, s->session, &c->latency) < 0 || c->latency.tick_ns <= 0 ||
		    !are_of(&c->latency, t))
			continue;
		for (unsigned phase = 0; phase < QUOIT_PHASE_NR; phase++) {
			identify(&id, s, (struct exposition_label){"phase", latency_label(phase)});
			if (c->latency.known[phase])
				collect_buckets(e, id.labels, c->latency.count[phase],
						c->latency.tick_ns, COLLECT_COARSE);
		}
	}
}

int collect_sessions(struct exposition *e, const struct sessions *s, struct session_files *files,
		     const struct user_sums *known, unsigned most)
{
	struct choice *c = calloc(1, sizeof *c);

	if (c)
		c->list = calloc(s->count ? s->count : 1, sizeof *c->list);
	if (!c || !c->list) {
		free(c);
		return -ENOMEM;
	}
	choose(c, s, known, most);
	write_left_out(e, s, c->left_out);
	write_counters(e, c);
	write_latency(e, c, &s->totals, files);
	free(c->list);
	free(c);
	return 0;
}
