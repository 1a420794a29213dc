/* SPDX-License-Identifier: MIT */
/* collect.c - the metrics of a quoitd, read from its counter files at this moment */
#include "exporter/collect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exporter/collect_sessions.h"
#include "exporter/collect_timings.h"
#include "exporter/exposition.h"
#include "exporter/metrics.h"
#include "runtime.h"
#include "sessions.h"

#define CLOCK_STEP_NS 500000000 /* further apart than two readings of two clocks ever are */

/* What may be said of a quoitd; it is alive before anybody has looked. */
enum { ALIVE = 0, DEAD = 1, NONE = 2 };

/* ---- one reading ---- */

struct reading {
	struct sessions sessions; /* without --sessions, the totals alone */
	bool found;               /* false: there is no quoitd, and nothing else is filled in */
	int directory;
};

static int read_files(const struct collect *c, struct reading *r)
{
	int err;

	if (c->sessions)
		return sessions_read(r->directory, &r->sessions);
	err = counters_read_totals(r->directory, &r->sessions.totals);
	if (!err)
		r->sessions.daemon_lives =
			runtime_daemon_lives(r->directory, &r->sessions.totals.origin);
	return err;
}

/* A quoitd that ends takes its files along; a service's directory goes with it. */
static int open_reading(const struct collect *c, struct reading *r)
{
	int err = r->directory = runtime_open_directory(c->socket);

	if (err >= 0)
		err = read_files(c, r);
	r->found = !err;
	return err == -ENOENT ? 0 : err;
}

static void close_reading(struct reading *r)
{
	sessions_free(&r->sessions);
	if (r->directory >= 0)
		close(r->directory);
}

/* ---- what is said ---- */

const char *collect_reason(int err)
{
	switch (err) {
	case -EBADMSG:
		return "the totals file is damaged, or none of quoitd's";
	case -EPROTONOSUPPORT:
		return "the totals file is of another version of quoitd";
	default:
		return strerror(-err);
	}
}

/* A scrape every second would otherwise fill the log with one line. */
static void say(struct collect *c, const struct reading *r, int err)
{
	int state = err ? err : !r->found ? NONE : r->sessions.daemon_lives ? ALIVE : DEAD;

	if (state == c->said)
		return;
	c->said = state;
	if (err)
		fprintf(stderr, "quoit exporter: no counters of quoitd beside %s: %s\n", c->socket,
			collect_reason(err));
	else if (state == NONE)
		fprintf(stderr, "quoit exporter: there is no quoitd at %s\n", c->socket);
	else
		fprintf(stderr, "quoit exporter: quoitd (PID %u) is %s\n",
			r->sessions.totals.origin.daemon_pid,
			state == ALIVE ? "there" : "dead; these are its last figures");
}

/* ---- the totals ---- */

static const struct exposition_label no_labels[] = {{0}};

static void write_up(struct exposition *e, const struct reading *r)
{
	exposition_family(e, &(struct exposition_family){
				     .name = "quoit_up",
				     .type = EXPOSITION_GAUGE,
				     .help = "1: quoitd runs.  0: it does not, and all else is how "
					     "it was left."});
	exposition_count(e, no_labels, r->found && r->sessions.daemon_lives);
}

static void write_silence(struct exposition *e, const struct counters_totals *t)
{
	unsigned reactor;

	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_silent_seconds",
			   .type = EXPOSITION_GAUGE,
			   .unit = "seconds",
			   .help = "For how long the reactor that is silent for longest has "
				   "told nothing; about one where quoitd is well, more where "
				   "it is stopped or stuck."});
	exposition_real(e, no_labels, runtime_silence_s(t, &reactor));
}

static void write_build(struct exposition *e)
{
	static const struct exposition_label version[] = {{"version", QUOIT_VERSION}, {0}};

	exposition_family(e, &(struct exposition_family){.name = "quoit_exporter_build",
							 .type = EXPOSITION_INFO,
							 .help = "Of which version this tool is."});
	exposition_count(e, version, 1);
}

/* The wall clock's steps are followed, but a start that trembles would look like many starts. */
static int64_t clock_offset(struct collect *c)
{
	struct timespec wall;
	int64_t offset;

	clock_gettime(CLOCK_REALTIME, &wall);
	offset = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec - (int64_t)runtime_now_ns();
	if (llabs(offset - c->clock_ns) > CLOCK_STEP_NS)
		c->clock_ns = offset;
	return c->clock_ns;
}

static void write_start(struct exposition *e, struct collect *c, uint64_t started_ns)
{
	exposition_family(
		e, &(struct exposition_family){.name = "quoit_start_time_seconds",
					       .type = EXPOSITION_GAUGE,
					       .unit = "seconds",
					       .help = "When quoitd has started, since 1970."});
	exposition_real(e, no_labels, ((double)clock_offset(c) + (double)started_ns) / 1e9);
}

/* Where something runs, as labels. */
struct place {
	char reactor[12], cpu[12], node[12];
	struct exposition_label labels[5];
};

/* reactor -1: a core.  A node that is not known is no label. */
static void find_place(struct place *p, int reactor, int32_t cpu, int32_t node,
		       const struct exposition_label *own)
{
	snprintf(p->reactor, sizeof p->reactor, "%d", reactor);
	snprintf(p->cpu, sizeof p->cpu, "%" PRId32, cpu);
	snprintf(p->node, sizeof p->node, "%" PRId32, node);
	p->labels[0] = (struct exposition_label){"reactor", reactor < 0 ? NULL : p->reactor};
	p->labels[1] = (struct exposition_label){"cpu", p->cpu};
	p->labels[2] = (struct exposition_label){"node", node < 0 ? NULL : p->node};
	p->labels[3] = *own;
	p->labels[4] = (struct exposition_label){0};
}

static void write_totals(struct exposition *e, const struct counters_totals *t)
{
	uint64_t hz = t->origin.tsc_hz;
	struct place p;

	for (const struct metric *m = metrics; m->help; m++) {
		if (m->of == METRIC_OF_DAEMON)
			metrics_write(e, m, (struct exposition_label[]){m->label, {0}},
				      t->value[m->counter], hz);
		for (unsigned i = 0; m->of == METRIC_OF_REACTOR && i < t->reactors; i++) {
			find_place(&p, (int)i, t->reactor[i].cpu, t->reactor[i].node, &m->label);
			metrics_write(e, m, p.labels, t->reactor[i].value[m->counter], hz);
		}
		for (unsigned i = 0; m->of == METRIC_OF_CORE && i < t->cores; i++) {
			find_place(&p, -1, t->core[i].cpu, t->core[i].node, &m->label);
			metrics_write(e, m, p.labels, t->core[i].value[m->counter], hz);
		}
	}
}

/* ---- all ---- */

/* What is in a reading; 0 or -ENOMEM. */
static int write_reading(struct exposition *e, struct collect *c, const struct reading *r)
{
	int err = 0;

	write_up(e, r);
	write_build(e);
	if (r->found) {
		write_start(e, c, r->sessions.totals.origin.started_ns);
		write_silence(e, &r->sessions.totals);
		write_totals(e, &r->sessions.totals);
		collect_timings(e, &r->sessions.totals, r->directory);
		if (c->sessions)
			err = collect_sessions(e, &r->sessions, r->directory);
	}
	exposition_end(e);
	return err;
}

int collect_write(struct collect *c, FILE *out, bool openmetrics)
{
	struct exposition e = {.out = out, .openmetrics = openmetrics};
	struct reading *r = calloc(1, sizeof *r);
	int err;

	if (!r)
		return -ENOMEM;
	err = open_reading(c, r);
	say(c, r, err);
	if (!err)
		err = write_reading(&e, c, r);
	close_reading(r);
	free(r);
	return err;
}
