/* SPDX-License-Identifier: MIT */
/* collect.c - read the metrics of a quoitd from its present counter files */
#include "collect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect_services.h"
#include "collect_sessions.h"
#include "collect_timings.h"
#include "collect_users.h"
#include "exposition.h"
#include "metrics.h"
#include "read/daemon_state.h"
#include "read/runtime.h"
#include "read/sessions.h"

#define CLOCK_STEP_NS 500000000 /* two readings of two clocks are never so far apart */

/* ---- one reading ---- */

struct reading {
	struct sessions sessions; /* without --sessions and --users, only the totals */
	bool found;               /* false: there is no quoitd, and no figure is filled in */
	enum daemon_state state;
	struct session_files files;
};

static int read_files(const struct collect *c, struct reading *r)
{
	if (c->sessions || c->users)
		return sessions_read(&r->files, &r->sessions);
	return counters_read_totals(r->files.directory, &r->sessions.totals);
}

/* A quoitd that ends removes its files; a service's directory goes with it. */
static int open_reading(const struct collect *c, struct reading *r)
{
	int err = session_files_open(&r->files, c->socket);

	if (!err)
		err = read_files(c, r);
	r->found = !err;
	if (!err || err == -ENOENT)
		r->state = daemon_state_look(r->files.directory, c->socket,
					     err ? NULL : &r->sessions.totals);
	return err == -ENOENT ? 0 : err;
}

static void close_reading(struct reading *r)
{
	sessions_free(&r->sessions);
	session_files_close(&r->files);
}

/* ---- messages ---- */

/* Say each state once: a scrape every second would otherwise fill the log with one line. */
static void say(struct collect *c, const struct reading *r, int err)
{
	const struct counters_totals *t = &r->sessions.totals;
	int state = err ? err : (int)r->state;
	bool same = state == c->said;

	if (same && r->found && c->compared != t->origin.daemon_pid)
		daemon_state_compare_versions("exporter", t);
	c->compared = r->found ? t->origin.daemon_pid : 0;
	c->said = state;
	if (same)
		return;
	if (!r->found)
		(void)daemon_state_refuse("exporter", c->socket, err ? err : -ENOENT);
	else if (!daemon_state_warn("exporter", r->state, t))
		fprintf(stderr, "quoit exporter: quoitd (PID %u) is up\n", t->origin.daemon_pid);
}

/* ---- the totals ---- */

static const struct exposition_label no_labels[] = {{0}};

static void write_up(struct exposition *e, const struct reading *r)
{
	exposition_family(
		e,
		&(struct exposition_family){
			.name = "quoit_up",
			.type = EXPOSITION_GAUGE,
			.help = "1 if quoitd runs and its reactors move, else 0; then quoit_state "
				"tells the state, and all other figures are the last ones."});
	exposition_count(e, no_labels, r->state == DAEMON_UP);
	exposition_family(
		e,
		&(struct exposition_family){
			.name = "quoit_state",
			.type = EXPOSITION_GAUGE,
			.help = "1 for the state that holds, else 0.  up: quoitd runs.  silent: "
				"quoitd runs, but a reactor has reported nothing for 5 s.  dead: "
				"quoitd has ended without removing its files.  waiting: quoitd has "
				"not started, and its socket waits for the first client.  absent: "
				"there is no quoitd and no socket that waits."});
	for (unsigned i = 0; i < DAEMON_STATES; i++)
		exposition_count(e,
				 (struct exposition_label[]){
					 {"state", daemon_state_word((enum daemon_state)i)}, {0}},
				 r->state == (enum daemon_state)i);
}

static void write_silence(struct exposition *e, const struct counters_totals *t)
{
	unsigned reactor;

	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_silent_seconds",
			   .type = EXPOSITION_GAUGE,
			   .unit = "seconds",
			   .help = "Time since the last report of the reactor that has been silent "
				   "for longest: about 1 s where quoitd is well, more where it is "
				   "stopped or stuck."});
	exposition_real(e, no_labels, runtime_silence_s(t, &reactor));
}

static void write_daemon_build(struct exposition *e, const struct counters_totals *t)
{
	struct counter abi = t->value[QUOIT_DAEMON_ABI];
	char version[64], number[24];

	(void)daemon_state_version(t, version, sizeof version);
	snprintf(number, sizeof number, "%" PRIu64, abi.value);
	exposition_family(e, &(struct exposition_family){
				     .name = "quoit_build",
				     .type = EXPOSITION_INFO,
				     .help = "Version of quoitd, as labels; the value is 1."});
	if (abi.known)
		exposition_count(
			e, (struct exposition_label[]){{"version", version}, {"abi", number}, {0}},
			1);
}

static void write_build(struct exposition *e)
{
	static const struct exposition_label version[] = {{"version", QUOIT_VERSION}, {0}};

	exposition_family(
		e, &(struct exposition_family){
			   .name = "quoit_exporter_build",
			   .type = EXPOSITION_INFO,
			   .help = "Version of quoit exporter, as a label; the value is 1."});
	exposition_count(e, version, 1);
}

/*
 * Follow steps of the wall clock, but not its jitter: a start time that varies would look like many
 * starts.
 */
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
	exposition_family(e, &(struct exposition_family){
				     .name = "quoit_start_time_seconds",
				     .type = EXPOSITION_GAUGE,
				     .unit = "seconds",
				     .help = "When quoitd started, in seconds since 1970."});
	exposition_real(e, no_labels, ((double)clock_offset(c) + (double)started_ns) / 1e9);
}

/* A place as labels. */
struct place {
	char reactor[12], cpu[12], node[12];
	struct exposition_label labels[5];
};

/* reactor -1: a core.  A node that is not known has no label. */
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

/* Write users and single sessions, if the options ask for them; 0 or -ENOMEM. */
static int write_sessions(struct exposition *e, struct collect *c, struct reading *r)
{
	int err = 0;

	if (c->users || c->sessions)
		err = user_sums_take(&c->known, &r->sessions, c->whole);
	if (!err && c->users)
		collect_users(e, c->known);
	if (!err && c->sessions)
		err = collect_sessions(e, &r->sessions, &r->files, c->known,
				       c->most ? c->most : COLLECT_SESSIONS);
	return err;
}

/* Write a reading; 0 or -ENOMEM. */
static int write_reading(struct exposition *e, struct collect *c, struct reading *r)
{
	int err = 0;

	write_up(e, r);
	write_build(e);
	if (r->found) {
		write_start(e, c, r->sessions.totals.origin.started_ns);
		write_silence(e, &r->sessions.totals);
		write_daemon_build(e, &r->sessions.totals);
		write_totals(e, &r->sessions.totals);
		collect_timings(e, &r->sessions.totals, r->files.directory);
		err = write_sessions(e, c, r);
	}
	if (!err && c->services && r->state == DAEMON_UP)
		err = collect_services(e, c->socket, r->sessions.totals.origin.tsc_hz);
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

void collect_free(struct collect *c)
{
	user_sums_free(c->known);
	c->known = NULL;
}
